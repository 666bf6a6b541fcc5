import { NotificationEvent, type NotificationReadEvent } from '@wheelhouse/protocol'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { notFound } from '../../core/errors/errors.ts'
import type { Transact, Tx } from '../../core/events/transactor.ts'
import { createMissedNotifications, type NotificationRow } from './missed-notifications.ts'

interface Counts {
  readonly userId: string
  /** The number of the newest notification. */
  readonly head: number
  readonly unread: number
}

/** Locks a user's counters. Until the transaction ends, no other one adds or reads notifications of this user. */
async function lockCounts(tx: Tx, userId: string): Promise<Counts> {
  const row = await tx.db
    .selectFrom('users')
    .select(['notification_seq', 'notification_unread'])
    .where('id', '=', userId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  return { userId, head: row.notification_seq, unread: row.notification_unread }
}

/** Subtracts `read` from the unread counter and notifies all sockets of the user. Does nothing if `read` is 0. */
async function countRead(
  tx: Tx,
  { userId, head, unread }: Counts,
  read: number,
  change: Pick<NotificationReadEvent, 'id' | 'up_to' | 'read_at'>,
): Promise<{ unread: number }> {
  if (read === 0) return { unread }
  const remaining = unread - read
  await tx.db.updateTable('users').set({ notification_unread: remaining }).where('id', '=', userId).execute()
  tx.publish('notification.read', {
    user_id: userId,
    read: { ...change, unread: remaining, head: String(head) },
  })
  return { unread: remaining }
}

/** Maximum number of notifications on a page. */
export const PAGE_LIMIT = 100
/** Maximum number that one transaction marks as read. Transactions that notify the same user wait for it. */
const READ_BATCH = 1_000

interface Page {
  readonly before?: number | undefined
  readonly unreadOnly?: boolean
  readonly limit: number
}

const view = (row: NotificationRow) => ({
  id: String(row.seq),
  type: row.type,
  data: row.data,
  created_at: iso(row.created_at),
  read_at: iso(row.read_at),
})

/** Creates the service for a user's notifications: lists backwards for display and forwards for catching up. */
export function createNotifications(deps: { db: Db; transact: Transact; now: () => Date }) {
  const { db, transact, now } = deps

  const findMissed = createMissedNotifications({ db, pageLimit: PAGE_LIMIT })

  const counts = (userId: string) =>
    db
      .selectFrom('users')
      .select(['notification_seq', 'notification_unread'])
      .where('id', '=', userId)
      .executeTakeFirstOrThrow()

  /** Marks the oldest unread notifications as read. Returns `isLast: true` when all up to `upTo` are read. */
  const markReadBatch = (userId: string, upTo: number) =>
    transact(async (tx) => {
      const before = await lockCounts(tx, userId)
      const at = now()
      const read = await tx.db
        .updateTable('notifications')
        .set({ read_at: at })
        .where('user_id', '=', userId)
        .where('seq', 'in', (eb) =>
          eb
            .selectFrom('notifications')
            .select('seq')
            .where('user_id', '=', userId)
            .where('read_at', 'is', null)
            .where('seq', '<=', upTo)
            .orderBy('seq')
            .limit(READ_BATCH),
        )
        .returning('seq')
        .execute()
      const isLast = read.length < READ_BATCH
      const reached = isLast ? Math.min(upTo, before.head) : Math.max(...read.map(({ seq }) => seq))
      const state = await countRead(tx, before, read.length, { up_to: String(reached), read_at: iso(at) })
      return { isLast, reached, unread: state.unread }
    })

  return {
    /** Returns a page, newest first, older than `before` if given, and the number of all unread notifications. */
    async list(userId: string, { before, unreadOnly = false, limit }: Page) {
      const [rows, { notification_unread }] = await Promise.all([
        db
          .selectFrom('notifications')
          .selectAll()
          .where('user_id', '=', userId)
          .$if(before !== undefined, (query) => query.where('seq', '<', before as number))
          .$if(unreadOnly, (query) => query.where('read_at', 'is', null))
          .orderBy('seq', 'desc')
          .limit(limit)
          .execute(),
        counts(userId),
      ])
      return { notifications: rows.map(view), unread_count: notification_unread }
    },

    /** Returns a page, oldest first, newer than `after`, with the newest number and the number of unread notifications. */
    async since(userId: string, after: number) {
      const { rows, head, unread } = await findMissed({ userId, after })
      const notifications = rows.map((row) => NotificationEvent.parse(view(row)))
      return { notifications, head: String(head), unread }
    },

    /** Marks a notification as read. The first call sets the time and notifies the user's sockets. */
    markRead: (userId: string, seq: number) =>
      transact(async (tx) => {
        const before = await lockCounts(tx, userId)
        const ofUser = tx.db
          .selectFrom('notifications')
          .selectAll()
          .where('user_id', '=', userId)
          .where('seq', '=', seq)
        const row = await ofUser.executeTakeFirst()
        if (!row) throw notFound('Notification')
        if (row.read_at !== null) return view(row)
        const at = now()
        await tx.db
          .updateTable('notifications')
          .set({ read_at: at })
          .where('user_id', '=', userId)
          .where('seq', '=', seq)
          .execute()
        await countRead(tx, before, 1, { id: String(seq), read_at: iso(at) })
        return view({ ...row, read_at: at })
      }),

    /** Marks all notifications up to `upTo` as read. Each batch is a transaction. */
    async markReadUpTo(userId: string, upTo: number) {
      for (;;) {
        const { isLast, reached, unread } = await markReadBatch(userId, upTo)
        if (isLast) return { up_to: String(reached), unread_count: unread }
      }
    },
  }
}
export type Notifications = ReturnType<typeof createNotifications>
