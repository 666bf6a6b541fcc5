import webPush from 'web-push'
import type { Db } from '../../../core/database/tables.ts'
import type { Secrets } from '../../../core/secrets.ts'

const PURPOSE = 'vapid'

export interface VapidKeys {
  readonly publicKey: string
  readonly privateKey: string
}

/**
 * Creates the reader of the VAPID keys: the configured ones, or a pair that the first process generates and stores in the
 * database. All processes then have the same pair, because a new one would end every subscription.
 */
export function createVapidKeys(deps: { db: Db; secrets: Secrets; configured: VapidKeys | undefined }) {
  const { db, secrets, configured } = deps
  let known: VapidKeys | undefined = configured

  const stored = () =>
    db.selectFrom('vapid_keys').select(['public_key', 'sealed_private_key']).executeTakeFirst()

  async function generate() {
    const { publicKey, privateKey } = webPush.generateVAPIDKeys()
    await db
      .insertInto('vapid_keys')
      .values({
        id: 1,
        public_key: publicKey,
        sealed_private_key: secrets.seal(PURPOSE, privateKey, publicKey),
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    return await stored()
  }

  return async (): Promise<VapidKeys> => {
    if (known) return known
    const row = (await stored()) ?? (await generate())
    const privateKey = row && secrets.open(PURPOSE, row.sealed_private_key, row.public_key)
    if (!row || privateKey === undefined)
      throw new Error(
        'The VAPID key in the database was encrypted with another SECRET_KEY. Restore that key, or delete the row of vapid_keys and all push_subscriptions.',
      )
    known = { publicKey: row.public_key, privateKey }
    return known
  }
}
export type ReadVapidKeys = ReturnType<typeof createVapidKeys>
