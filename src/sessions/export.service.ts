import type { SessionStatus } from '@wheelhouse/protocol'
import type { Db } from '../db/orm.ts'
import type { Caller } from '../http/endpoint.ts'
import { sidesOf } from './session.queries.ts'
import type { ExportSessions } from './session.schema.ts'
import type { SessionRow } from './session.view.ts'

/** Rows of one query, and most that an export holds. */
export const EXPORT_PAGE = 500

export type ExportFilter = Omit<ExportSessions, 'format'>
/** The last row of a page; the next page begins behind it. */
export type ExportCursor = Pick<SessionRow, 'id' | 'created_at'>

/** Reading all of a caller's sessions page by page. No page knows of another: nothing is held in between. */
export function createSessionExports({ db }: { db: Db }) {
  /** The newest sessions on one side, straight from that side's own index. */
  const newest = (
    side: 'operator_id' | 'client_id',
    userId: string,
    { status, from, to }: ExportFilter,
    after: ExportCursor | undefined,
  ) =>
    db
      .selectFrom('sessions')
      .selectAll()
      .where(side, '=', userId)
      .$if(status !== undefined, (query) => query.where('status', '=', status as SessionStatus))
      .$if(from !== undefined, (query) => query.where('created_at', '>=', new Date(from as string)))
      .$if(to !== undefined, (query) => query.where('created_at', '<', new Date(to as string)))
      .$if(after !== undefined, (query) =>
        query.where(({ eb, refTuple, tuple }) => {
          const { created_at, id } = after as ExportCursor
          return eb(refTuple('created_at', 'id'), '<', tuple(created_at, id))
        }),
      )
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(EXPORT_PAGE)

  return {
    /**
     * The caller's sessions, newest first, from behind the cursor on: the same ones as in the list. A page that
     * is not full is the last one.
     */
    async page(
      caller: Pick<Caller, 'userId' | 'roles'>,
      filter: ExportFilter,
      after?: ExportCursor,
    ): Promise<SessionRow[]> {
      const [first, second] = sidesOf(caller).map((side) => newest(side, caller.userId, filter, after))
      if (!first) return []
      // The newest of both sides are among the newest of each; `union` leaves one of what is on both.
      const page = second
        ? db
            .selectFrom(first.as('first'))
            .selectAll()
            .union(db.selectFrom(second.as('second')).selectAll())
            .orderBy('created_at', 'desc')
            .orderBy('id', 'desc')
            .limit(EXPORT_PAGE)
        : db.selectFrom(first.as('first')).selectAll()
      return await db
        .selectFrom(page.as('page'))
        .innerJoin('robots', 'robots.id', 'page.robot_id')
        .innerJoin('users as operators', 'operators.id', 'page.operator_id')
        .selectAll('page')
        .select(['robots.name as robot_name', 'robots.robot_type', 'operators.display_name as operator_name'])
        .orderBy('page.created_at', 'desc')
        .orderBy('page.id', 'desc')
        .execute()
    },
  }
}
export type SessionExports = ReturnType<typeof createSessionExports>
