import { compiled } from '../db/compiled.ts'
import type { Tx } from '../events/transactor.ts'

export interface NewNotification {
  readonly userId: string
  /** What happened, e.g. `session.started`. */
  readonly type: string
  readonly data: Record<string, unknown>
}

/** Takes the user's next number and with it their row's lock. */
const countUp = compiled<{ userId: string }>()((db, place) =>
  db
    .updateTable('users')
    .set((eb) => ({ notification_seq: eb('notification_seq', '+', 1) }))
    .where('id', '=', place('userId'))
    .returning('notification_seq'),
)

const insertNotification = compiled<NewNotification & { seq: number; at: Date }>()((db, place) =>
  db.insertInto('notifications').values({
    user_id: place('userId'),
    seq: place('seq'),
    type: place('type'),
    data: place('data'),
    created_at: place('at'),
  }),
)

/**
 * Writes notifications in the caller's transaction. Users are locked in the order of their ids, so that two
 * transactions that notify the same two people cannot wait for each other.
 */
export async function notify(tx: Tx, at: Date, notifications: readonly NewNotification[]): Promise<void> {
  for (const { userId, type, data } of notifications.toSorted((a, b) => (a.userId < b.userId ? -1 : 1))) {
    const [counted] = await countUp(tx.db, { userId })
    if (!counted) throw new Error('a user to notify does not exist')
    const seq = counted.notification_seq
    await insertNotification(tx.db, { userId, seq, type, data, at })
    tx.record('notification', {
      user_id: userId,
      notification: { id: String(seq), type, data, created_at: at.toISOString() },
    })
  }
}
