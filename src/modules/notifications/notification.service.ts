import { NotificationEvent } from '@wheelhouse/protocol'
import type { Selectable } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db, Tables } from '../../core/database/tables.ts'
import { notFound } from '../../core/errors/errors.ts'
import type { Transact } from '../../core/events/transactor.ts'
import { countRead, lockCounts } from './read-state.ts'

/** Most notifications one page holds. */
export const PAGE_LIMIT = 100
/** Most that one transaction marks as read: whoever notifies the same user waits for it. */
const READ_BATCH = 1_000

interface Page {
  readonly before?: number | undefined
  readonly unreadOnly?: boolean
  readonly limit: number
}

const view = (row: Selectable<Tables['notifications']>) => ({
  id: String(row.seq),
  type: row.type,
  data: row.data,
  created_at: iso(row.created_at),
  read_at: iso(row.read_at),
})

/** A user's notifications: pages backwards for reading, pages forwards for catching up. */
export function createNotifications(deps: { db: Db; transact: Transact; now: () => Date }) {
  const { db, transact, now } = deps

  const counts = (userId: string) =>
    db
      .selectFrom('users')
      .select(['notification_seq', 'notification_unread'])
      .where('id', '=', userId)
      .executeTakeFirstOrThrow()

  /** Marks the oldest of the unread ones as read; `last` is true when none up to `upTo` was left out. */
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
      return { last: isLast, reached, unread: state.unread }
    })

  return {
    /** Newest first, older than `before` when given; and how many are unread in all. */
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

    /** Oldest first, newer than `after`, one page; the number of the newest there is, and how many are unread. */
    async since(userId: string, after: number) {
      const [rows, { notification_seq, notification_unread }] = await Promise.all([
        db
          .selectFrom('notifications')
          .selectAll()
          .where('user_id', '=', userId)
          .where('seq', '>', after)
          .orderBy('seq')
          .limit(PAGE_LIMIT)
          .execute(),
        counts(userId),
      ])
      const notifications = rows.map((row) => NotificationEvent.parse(view(row)))
      return { notifications, head: String(notification_seq), unread: notification_unread }
    },

    /** Marks one as read; the first time counts, and is told to the user's sockets. */
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

    /** Marks all up to this one as read, in batches, each of which stands by itself. */
    async markReadUpTo(userId: string, upTo: number) {
      for (;;) {
        const { last: isLast, reached, unread } = await markReadBatch(userId, upTo)
        if (isLast) return { up_to: String(reached), unread_count: unread }
      }
    },
  }
}
export type Notifications = ReturnType<typeof createNotifications>
