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
      // A subquery for each user: only with the user's own values does PostgreSQL read the index in order, up to the limit.
      const pagesOfUsers = reads.map(
        ({ userId, after }, index) => sql`(
          select ${index + 1}::int as ordinal, seq, type, data, created_at, read_at from notifications
          where user_id = ${userId} and seq > ${after} order by seq limit ${pageLimit})`,
      )
      const userIds = reads.map(({ userId }) => userId)
      const { rows } = await sql<Row>`
        select read.ordinal::int, counts.head, counts.unread, page.seq, page.type, page.data, page.created_at, page.read_at
        from unnest(${userIds}::uuid[]) with ordinality as read (user_id, ordinal)
          join lateral (
            select notification_seq as head, notification_unread as unread from users
            where users.id = read.user_id limit 1 -- looks each user up; without the limit, PostgreSQL may read the table
          ) as counts on true
          left join (${sql.join(pagesOfUsers, sql` union all `)}) as page on page.ordinal = read.ordinal
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
