import { type Expression, sql } from 'kysely'
import type { z } from 'zod'
import { compiled } from '../../../core/database/compiled.ts'
import type { Db } from '../../../core/database/tables.ts'
import { memberCan } from '../../../core/permissions/authorization.ts'
import { isOf, type Lister, type Party, partiesOf } from '../../../core/permissions/session-part.ts'
import { BYTES_PER_MB } from '../../../core/units.ts'
import type { ExportSessions } from '../record/session.schema.ts'
import { matchesFilter } from '../record/session-filter.ts'
import type { ClientSession, OperatorSession } from '../record/session-view.schema.ts'

/** Rows per query. A small number: the rows are garbage before V8 promotes them to the old generation. */
export const EXPORT_PAGE = 200

export type ExportFilter = Omit<ExportSessions, 'format'>

/** The serialized fields of both views, with times as text. `owned` is true when the caller sees the client view. */
export type ExportRow = z.infer<typeof ClientSession> &
  z.infer<typeof OperatorSession> & { readonly owned: boolean }
/** The last row of a page. The next page starts after it. */
export type ExportCursor = Pick<ExportRow, 'id' | 'created_at'>
/** Reads the page after a cursor, or the first page. A page with fewer rows than `EXPORT_PAGE` is the last one. */
export type ReadPage = (after?: ExportCursor) => Promise<ExportRow[]>

/** A cursor before all sessions. */
const START: ExportCursor = { created_at: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

/** A cursor as expressions of a query. */
interface CursorExpression {
  readonly created_at: Expression<Date>
  readonly id: Expression<string>
}

/** Reads all sessions of a caller page by page, without a transaction or server-side cursor. */
export function createSessionExports({ db, now }: { db: Db; now: () => Date }) {
  /** Selects the newest sessions of a party from the index of its column. */
  const newest = (party: Party, filter: ExportFilter, after: CursorExpression) =>
    db
      .selectFrom('sessions')
      .selectAll()
      .where(isOf(party))
      .where(matchesFilter(filter, party))
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('created_at', 'id'), '<', tuple(after.created_at, after.id)),
      )
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(EXPORT_PAGE)

  /** Selects the newest sessions of all parties. `union` removes duplicates. */
  function newestOfAll(caller: Lister, filter: ExportFilter, after: CursorExpression) {
    return partiesOf(caller)
      .map((party) => db.selectFrom(newest(party, filter, after).as(party.column)).selectAll())
      .reduce((all, one) => all.union(one))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(EXPORT_PAGE)
  }

  return {
    /** Counts the sessions of an export, up to a limit. */
    async count(caller: Lister, filter: ExportFilter, limit: number): Promise<number> {
      const parties = partiesOf(caller)
      if (parties.length === 0) return 0
      const found = db
        .selectFrom('sessions')
        .select('id')
        .where((eb) => eb.or(parties.map((party) => eb.and([isOf(party), matchesFilter(filter, party)(eb)]))))
        .limit(limit)
      const { rows } = await db
        .selectFrom(found.as('found'))
        .select(({ fn }) => fn.countAll<number>().as('rows'))
        .executeTakeFirstOrThrow()
      return rows
    },

    /**
     * Returns a reader of the caller's sessions, newest first: the same sessions as in the list, with the same fields
     * (see session.view.ts). The query is built once for all pages and returns serialized values: intermediate objects
     * would produce a hundred megabytes of garbage in a large export.
     */
    reader(caller: Lister, filter: ExportFilter): ReadPage {
      if (partiesOf(caller).length === 0) return async () => []
      const page = compiled<ExportCursor>()((_db, param) => {
        const after = {
          created_at: sql<Date>`${param('created_at')}::timestamptz`,
          id: sql<string>`${param('id')}::uuid`,
        }
        return db
          .selectFrom(newestOfAll(caller, filter, after).as('page'))
          .innerJoin('robots', 'robots.id', 'page.robot_id')
          .innerJoin('users as operators', 'operators.id', 'page.operator_id')
          .select(['page.id', 'page.status', 'page.rating', 'page.robot_id'])
          .select(chargeSeenBy(caller))
          .select(['page.episodes_collected', earningsOf(caller.userId).as('operator_earnings_cents')])
          .select(({ fn }) => [
            fn.coalesce('page.recorded_robot_name', 'robots.name').as('robot_name'),
            fn.coalesce('page.recorded_robot_type', 'robots.robot_type').as('robot_type'),
            fn.coalesce('page.recorded_operator_name', 'operators.display_name').as('operator_name'),
          ])
          .select(({ eb, ref }) => [
            isoText<string>(ref('page.created_at')).as('created_at'),
            isoText<string | null>(ref('page.started_at')).as('started_at'),
            isoText<string | null>(ref('page.ended_at')).as('ended_at'),
            minutes(ref('page.started_at'), eb.fn.coalesce('page.ended_at', eb.val(now()))).as(
              'duration_minutes',
            ),
            sql<number>`data_collected_bytes::float8 / ${sql.lit(BYTES_PER_MB)}`.as('data_collected_mb'),
            sql<boolean>`client_id = ${caller.organization.id}`.as('owned'),
          ])
          .orderBy('page.created_at', 'desc')
          .orderBy('page.id', 'desc')
      })
      return (after = START) => page(db, after)
    },
  }
}
export type SessionExports = ReturnType<typeof createSessionExports>

/** Returns what a user earned in a session: as its operator, or as a guest. */
const earningsOf = (userId: string) => sql<number | null>`case when page.operator_id = ${userId}::uuid
  then page.operator_earnings_cents else (
    select sum(held.operator_earnings_cents)::int from control_intervals as held
    where held.session_id = page.id and held.user_id = ${userId}::uuid) end`
/** Returns the charge of a session, null for a member of the owner who may not see costs, as `seesCost` of session.view.ts. */
const chargeSeenBy = ({ organization }: Lister) =>
  sql<number | null>`case when client_id <> ${organization.id} or own_operator
    or ${sql.lit(memberCan(organization, 'billing.read'))} then client_charge_cents end`.as(
    'client_charge_cents',
  )

/** Formats a time as ISO 8601 in SQL, without a `Date`. */
const isoText = <T extends string | null>(time: Expression<unknown>) =>
  sql<T>`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Returns the minutes between two times, rounded up; null when one of them is null. */
const minutes = (from: Expression<unknown>, to: Expression<unknown>) =>
  sql<number | null>`ceil(extract(epoch from ${to} - ${from}) / 60)::int`
