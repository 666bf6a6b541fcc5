import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import type { Secrets } from '../../core/secrets.ts'
import { wantsMail } from './preferences.ts'

const PURPOSE = 'unsubscribe'
const TOKEN = /^([0-9a-f-]{36})\.([\w-]{43})$/

/**
 * Links that turn off mails about notifications, and can do nothing else. They do not expire: a mail that was kept
 * for years must still be a way out.
 */
export function createUnsubscribing(deps: { db: Db; secrets: Secrets; baseUrl: string }) {
  const { db, secrets, baseUrl } = deps
  return {
    urlFor: (userId: string): string =>
      `${baseUrl}/unsubscribe?token=${userId}.${secrets.sign(PURPOSE, userId)}`,

    /** Whose link it is; undefined for one that was not made here. */
    readToken(token: string): string | undefined {
      const [, userId = '', signature = ''] = TOKEN.exec(token) ?? []
      return secrets.verify(PURPOSE, userId, signature) ? userId : undefined
    },

    /** Turns mails off. Again is harmless. */
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
