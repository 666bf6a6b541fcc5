import type { NotificationType } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { compiled } from '../db/compiled.ts'
import type { Tx } from '../events/transactor.ts'

export interface NewNotification {
  readonly userId: string
  readonly type: NotificationType
  readonly data: Record<string, unknown>
}

/** Takes the user's next number, and with it their row's lock, and writes the notification under it. */
const insertNext = compiled<NewNotification & { at: Date }>()((db, place) =>
  db
    .with('counted', (counting) =>
      counting
        .updateTable('users')
        .set((eb) => ({ notification_seq: eb('notification_seq', '+', 1) }))
        .where('id', '=', place('userId'))
        .returning(['id', 'notification_seq']),
    )
    .insertInto('notifications')
    .columns(['user_id', 'seq', 'type', 'data', 'created_at'])
    .expression((eb) =>
      eb
        .selectFrom('counted')
        .select(['id', 'notification_seq'])
        .select([
          sql<string>`${place('type')}::text`.as('type'),
          sql<Record<string, unknown>>`${place('data')}::jsonb`.as('data'),
          sql<Date>`${place('at')}::timestamptz`.as('at'),
        ]),
    )
    .returning('seq'),
)

/**
 * Writes notifications in the caller's transaction. Users are locked in the order of their ids, so that two
 * transactions that notify the same two people cannot wait for each other.
 */
export async function notify(tx: Tx, at: Date, notifications: readonly NewNotification[]): Promise<void> {
  for (const { userId, type, data } of notifications.toSorted((a, b) => (a.userId < b.userId ? -1 : 1))) {
    const [written] = await insertNext(tx.db, { userId, type, data, at })
    if (!written) throw new Error('a user to notify does not exist')
    tx.record('notification', {
      user_id: userId,
      notification: { id: String(written.seq), type, data, created_at: at.toISOString() },
    })
  }
}
