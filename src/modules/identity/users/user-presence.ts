import { sql } from 'kysely'
import type { Db } from '../../../core/database/tables.ts'

/** A person counts as present for this long after the hub last saw them: three of its rounds. */
export const PRESENCE_TTL_SECONDS = 15
/** Most people one statement writes. */
const BATCH_SIZE = 5_000

/** Remembers who is at the hub. */
export function createUserPresence({ db }: { db: Db }) {
  return {
    /** Marks people as seen now, in one statement for all (up to 5,000 each). Who no longer exists is left out. */
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
              .orderBy('id'), // every hub takes the rows in this order, so that none waits for another in a circle
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
