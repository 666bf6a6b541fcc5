import { type Selectable, sql } from 'kysely'
import { createBatchLoader } from '../../core/database/batch-loader.ts'
import type { Db, Tables } from '../../core/database/tables.ts'
import { notFound } from '../../core/errors/errors.ts'

/** Maximum number of users whose pages one query reads. */
const MAX_USERS_PER_QUERY = 50

/** The part of a notification that its user sees. */
export type NotificationRow = Pick<
  Selectable<Tables['notifications']>,
  'seq' | 'type' | 'data' | 'created_at' | 'read_at'
>

/** Up to a page of notifications of a user, oldest first, with the newest number and the number of unread ones. */
export interface MissedPage {
  readonly rows: NotificationRow[]
  readonly head: number
  readonly unread: number
}

interface Row extends NotificationRow {
  ordinal: number
  head: number
  unread: number
}

/**
 * Creates the reader of the notifications after a number. Concurrent reads share a query.
 * The promise rejects with a 404 if the user does not exist.
 */
export function createMissedNotifications(deps: { db: Db; pageLimit: number }) {
  const { db, pageLimit } = deps
  return createBatchLoader(
    async (reads: readonly { userId: string; after: number }[]): Promise<(MissedPage | Error)[]> => {
      const userIds = reads.map(({ userId }) => userId)
      const afters = reads.map(({ after }) => after)
      const { rows } = await sql<Row>`
        select read.ordinal::int, users.notification_seq as head, users.notification_unread as unread,
          page.seq, page.type, page.data, page.created_at, page.read_at
        from unnest(${userIds}::uuid[], ${afters}::bigint[]) with ordinality as read (user_id, after, ordinal)
          join users on users.id = read.user_id
          left join lateral (
            select seq, type, data, created_at, read_at from notifications
            where notifications.user_id = read.user_id and seq > read.after
            order by seq limit ${pageLimit}
          ) as page on true
        order by read.ordinal, page.seq`.execute(db)
      const pages = new Map<number, MissedPage>()
      for (const { ordinal, head, unread, ...row } of rows) {
        const page = pages.get(ordinal) ?? { rows: [], head, unread }
        pages.set(ordinal, page)
        if (row.seq !== null) page.rows.push(row)
      }
      return reads.map((_, index) => pages.get(index + 1) ?? notFound('User'))
    },
    { maxBatchSize: MAX_USERS_PER_QUERY },
  )
}
