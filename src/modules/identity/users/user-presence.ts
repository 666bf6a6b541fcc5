import { sql } from 'kysely'
import type { Db } from '../../../core/database/tables.ts'

/** A user counts as present for this long after the hub last marked them as seen. The hub marks users every 5 seconds. */
export const PRESENCE_TTL_SECONDS = 15
/** Maximum number of users in one statement. */
const BATCH_SIZE = 5_000

/**
 * Records which users are connected to the hub. Presence is only ever extended, by one statement for all connected users:
 * nobody has to notice a hub that is gone. The database's clock decides.
 */
export function createUserPresence({ db }: { db: Db }) {
  return {
    /** Marks users as seen now, up to 5,000 in one statement. Skips users who no longer exist. */
    async markSeen(userIds: readonly string[]): Promise<void> {
      for (let start = 0; start < userIds.length; start += BATCH_SIZE) {
        const batch = userIds.slice(start, start + BATCH_SIZE)
        await db
          .insertInto('user_presence')
          .columns(['user_id', 'seen_at'])
          .expression(
            db
              .selectFrom('users')
              .select(['id', sql<Date>`now()`.as('seen_at')])
              .where('id', '=', sql<string>`any(${batch}::uuid[])`)
              .orderBy('id'), // every hub locks rows in this order, so that hubs cannot deadlock
          )
          .onConflict((conflict) =>
            conflict.column('user_id').doUpdateSet((eb) => ({ seen_at: eb.ref('excluded.seen_at') })),
          )
          .execute()
      }
    },
  }
}
export type UserPresenceRecorder = ReturnType<typeof createUserPresence>
