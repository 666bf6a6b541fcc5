import { NotificationEvent } from '@wheelhouse/protocol'
import type { Selectable } from 'kysely'
import { iso } from '../db/iso.ts'
import type { Db, Tables } from '../db/orm.ts'
import { notFound } from '../http/errors.ts'

/** Most notifications one page holds. */
export const PAGE_LIMIT = 100

const view = (row: Selectable<Tables['notifications']>) => ({
  id: String(row.seq),
  type: row.type,
  data: row.data,
  created_at: iso(row.created_at),
  read_at: iso(row.read_at),
})

/** A user's notifications: pages backwards for reading, pages forwards for catching up. */
export function createNotifications(parts: { db: Db; now: () => Date }) {
  const { db, now } = parts
  return {
    /** Newest first, older than `before` when given. */
    list: async (userId: string, before: number | undefined, limit: number) => {
      const rows = await db
        .selectFrom('notifications')
        .selectAll()
        .where('user_id', '=', userId)
        .$if(before !== undefined, (query) => query.where('seq', '<', before as number))
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute()
      return rows.map(view)
    },

    /** Oldest first, newer than `after`, one page, and the number of the newest there is. */
    since: async (userId: string, after: number) => {
      const [rows, user] = await Promise.all([
        db
          .selectFrom('notifications')
          .selectAll()
          .where('user_id', '=', userId)
          .where('seq', '>', after)
          .orderBy('seq')
          .limit(PAGE_LIMIT)
          .execute(),
        db.selectFrom('users').select('notification_seq').where('id', '=', userId).executeTakeFirstOrThrow(),
      ])
      const notifications = rows.map((row) => NotificationEvent.parse(view(row)))
      return { notifications, head: String(user.notification_seq) }
    },

    /** Marks one as read; the first time counts. */
    markRead: async (userId: string, seq: number) => {
      const row = await db
        .updateTable('notifications')
        .set((eb) => ({ read_at: eb.fn.coalesce('read_at', eb.val(now())) }))
        .where('user_id', '=', userId)
        .where('seq', '=', seq)
        .returningAll()
        .executeTakeFirst()
      if (!row) throw notFound('Notification')
      return view(row)
    },
  }
}
export type Notifications = ReturnType<typeof createNotifications>
