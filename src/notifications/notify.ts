import type { Tx } from '../events/transactor.ts'

export interface NewNotification {
  readonly userId: string
  /** What happened, e.g. `session.started`. */
  readonly type: string
  readonly data: Record<string, unknown>
}

/**
 * Writes notifications in the caller's transaction. Users are locked in the order of their ids, so that two
 * transactions that notify the same two people cannot wait for each other.
 */
export async function notify(tx: Tx, at: Date, notifications: readonly NewNotification[]): Promise<void> {
  for (const { userId, type, data } of notifications.toSorted((a, b) => (a.userId < b.userId ? -1 : 1))) {
    const { notification_seq: seq } = await tx.db
      .updateTable('users')
      .set((eb) => ({ notification_seq: eb('notification_seq', '+', 1) }))
      .where('id', '=', userId)
      .returning('notification_seq')
      .executeTakeFirstOrThrow()
    await tx.db
      .insertInto('notifications')
      .values({ user_id: userId, seq, type, data, created_at: at })
      .execute()
    tx.record('notification', {
      user_id: userId,
      notification: { id: String(seq), type, data, created_at: at.toISOString() },
    })
  }
}
