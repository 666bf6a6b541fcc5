import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import type { Secrets } from '../../core/secrets.ts'
import { wantsMail } from './preferences.ts'

const PURPOSE = 'unsubscribe'
const TOKEN = /^([0-9a-f-]{36})\.([\w-]{43})$/

/**
 * Creates and verifies links that turn off mails about notifications. A link has no other effect. Links do not expire:
 * the link in an old mail must still work.
 */
export function createUnsubscribing(deps: { db: Db; secrets: Secrets; baseUrl: string }) {
  const { db, secrets, baseUrl } = deps
  return {
    urlFor: (userId: string): string =>
      `${baseUrl}/unsubscribe?token=${userId}.${secrets.sign(PURPOSE, userId)}`,

    /** Returns the user of a link's token, or undefined if the signature is not valid. */
    readToken(token: string): string | undefined {
      const [, userId = '', signature = ''] = TOKEN.exec(token) ?? []
      return secrets.verify(PURPOSE, userId, signature) ? userId : undefined
    },

    /** Turns mails off. A repeated call has no effect. */
    async unsubscribe(userId: string): Promise<void> {
      await db
        .updateTable('users')
        .set({ notification_preferences: sql`notification_preferences || '{"email": false}'::jsonb` })
        .where('id', '=', userId)
        .where(wantsMail)
        .execute()
    },
  }
}
export type Unsubscribing = ReturnType<typeof createUnsubscribing>
