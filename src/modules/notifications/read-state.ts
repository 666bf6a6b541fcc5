import type { NotificationReadEvent } from '@wheelhouse/protocol'
import type { Tx } from '../../core/events/transactor.ts'

interface Counts {
  readonly userId: string
  /** The number of the newest notification. */
  readonly head: number
  readonly unread: number
}

/** Locks a user's counters. Until the transaction ends, no other one adds or reads notifications of this user. */
export async function lockCounts(tx: Tx, userId: string): Promise<Counts> {
  const row = await tx.db
    .selectFrom('users')
    .select(['notification_seq', 'notification_unread'])
    .where('id', '=', userId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  return { userId, head: row.notification_seq, unread: row.notification_unread }
}

/** Subtracts `read` from the unread counter and notifies all sockets of the user. Does nothing if `read` is 0. */
export async function countRead(
  tx: Tx,
  { userId, head, unread }: Counts,
  read: number,
  change: Pick<NotificationReadEvent, 'id' | 'up_to' | 'read_at'>,
): Promise<{ unread: number }> {
  if (read === 0) return { unread }
  const remaining = unread - read
  await tx.db.updateTable('users').set({ notification_unread: remaining }).where('id', '=', userId).execute()
  tx.record('notification.read', {
    user_id: userId,
    read: { ...change, unread: remaining, head: String(head) },
  })
  return { unread: remaining }
}
