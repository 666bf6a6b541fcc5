import { SessionStatus } from '@wheelhouse/protocol'
import { type RawBuilder, sql } from 'kysely'
import { compiled } from '../../../core/database/compiled.ts'
import { containsAll } from '../../../core/database/like-patterns.ts'
import type { Db } from '../../../core/database/tables.ts'
import { cursorValues, decodeCursor, encodeCursor, pageOf } from '../../../core/http/cursor.ts'
import { wordsOf } from '../../../core/http/search-words.ts'
import {
  isDrivenAsGuest,
  isOf,
  isOperated,
  type Lister,
  type Party,
  partiesOf,
  seesAsClient,
} from '../../../core/permissions/session-part.ts'
import {
  type CountSessions,
  type ListSessionRobots,
  type ListSessions,
  SESSION_COUNT_MAX,
} from './session.schema.ts'
import { guestTerms, type ListedSession, viewColumns } from './session.view.ts'
import { matchesFilter } from './session-filter.ts'

/** Selects sessions with the names recorded at their end, or the current names while they are not over. */
export const selectWithNames = (db: Db) =>
  db
    .selectFrom('sessions')
    .innerJoin('robots', 'robots.id', 'sessions.robot_id')
    .innerJoin('users as operators', 'operators.id', 'sessions.operator_id')
    .select(({ fn }) => [
      fn.coalesce('sessions.recorded_robot_name', 'robots.name').as('robot_name'),
      fn.coalesce('sessions.recorded_robot_type', 'robots.robot_type').as('robot_type'),
      fn.coalesce('sessions.recorded_operator_name', 'operators.display_name').as('operator_name'),
    ])

interface NewestPage {
  readonly partyId: string
  readonly status?: SessionStatus | undefined
  readonly limit: number
  readonly offset: number
}

/** Reads a page of the sessions on an organization's robots, newest first, from the index of the column. */
const listOwned = ({ byStatus }: { byStatus: boolean }) =>
  compiled<NewestPage>()((db, param) =>
    selectWithNames(db)
      .select(viewColumns)
      .where('sessions.client_id', '=', param('partyId'))
      .$if(byStatus, (query) => query.where('sessions.status', '=', sql<SessionStatus>`${param('status')}`))
      .orderBy('sessions.created_at', 'desc')
      .orderBy('sessions.id', 'desc')
      .limit(param('limit'))
      .offset(param('offset')),
  )

/** Reads a page of the sessions that a user operates or drove in as a guest, newest first: of each the first, from its index. */
const listOperated = ({ byStatus }: { byStatus: boolean }) =>
  compiled<NewestPage>()((db, param) => {
    const newest = (isOfUser: typeof isOperated, alias: string) =>
      db
        .selectFrom(
          db
            .selectFrom('sessions')
            .select(['id', 'created_at'])
            .where(isOfUser(sql`${param('partyId')}::uuid`))
            .$if(byStatus, (query) => query.where('status', '=', sql<SessionStatus>`${param('status')}`))
            .orderBy('created_at', 'desc')
            .orderBy('id', 'desc')
            .limit(sql<number>`${param('limit')}::bigint + ${param('offset')}::bigint`)
            .as(alias),
        )
        .selectAll()
    const page = newest(isOperated, 'operated')
      .unionAll(newest(isDrivenAsGuest, 'guest'))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(param('limit'))
      .offset(param('offset'))
    return selectWithNames(db)
      .select(viewColumns)
      .innerJoin(page.as('page'), 'page.id', 'sessions.id')
      .orderBy('sessions.created_at', 'desc')
      .orderBy('sessions.id', 'desc')
  })

const pageQueries = {
  operator_id: { all: listOperated({ byStatus: false }), byStatus: listOperated({ byStatus: true }) },
  client_id: { all: listOwned({ byStatus: false }), byStatus: listOwned({ byStatus: true }) },
}

const NEWEST_FIRST = '-created_at'

/** Returns the condition that a session follows the row of the cursor. */
function followsCursor({ sort, cursor }: ListSessions): RawBuilder<boolean> | undefined {
  if (cursor === undefined) return undefined
  const { value, id } = decodeCursor(cursor, sort, cursorValues.time)
  const follows = sort === NEWEST_FIRST ? sql`<` : sql`>`
  return sql<boolean>`(created_at, id) ${follows} (${value}::timestamptz, ${id}::uuid)`
}

/**
 * Reads a filtered page of the sessions of all parties, and one session more. The first of all are among the first of each, so each
 * subquery is limited. `union` removes duplicates.
 */
async function listFiltered(
  db: Db,
  parties: readonly Party[],
  query: ListSessions,
): Promise<ListedSession[]> {
  const { limit, offset, sort } = query
  const direction = sort === NEWEST_FIRST ? 'desc' : 'asc'
  const follows = followsCursor(query)
  const firstOf = (party: Party) =>
    db
      .selectFrom('sessions')
      .select(['id', 'created_at'])
      .where(isOf(party))
      .where(matchesFilter(query, party))
      .$if(follows !== undefined, (sessions) => sessions.where(follows as RawBuilder<boolean>))
      .orderBy('created_at', direction)
      .orderBy('id', direction)
      .limit(offset + limit + 1)
      .as(party.column)
  const pageIds = parties
    .map((party) => db.selectFrom(firstOf(party)).selectAll())
    .reduce((all, one) => all.union(one))
    .orderBy('created_at', direction)
    .orderBy('id', direction)
    .limit(limit + 1)
    .offset(offset)
  return await selectWithNames(db)
    .select(viewColumns)
    .innerJoin(pageIds.as('page'), 'page.id', 'sessions.id')
    .orderBy('sessions.created_at', direction)
    .orderBy('sessions.id', direction)
    .execute()
}

/** Returns whether the compiled query of a list, newest first, serves a request. */
const isPlain = ({ robotId, from, to, search, cursor, sort }: ListSessions) =>
  sort === NEWEST_FIRST && [robotId, from, to, search, cursor].every((value) => value === undefined)

/** Reads the lists of a caller's sessions: those that the caller operates, and those on the caller's robots. */
export function createSessionLists({ db }: { db: Db }) {
  /** Reads a page and one session more. */
  async function readPage(caller: Lister, query: ListSessions): Promise<ListedSession[]> {
    const parties = partiesOf(caller)
    const [party, second] = parties.filter(({ column }) => column !== 'guest')
    if (!party || party.column === 'guest') return []
    if (second || party.groupIds !== null || !isPlain(query)) return await listFiltered(db, parties, query)
    const { status, limit, offset } = query
    return await pageQueries[party.column][status === undefined ? 'all' : 'byStatus'](db, {
      partyId: party.id,
      status,
      limit: limit + 1,
      offset,
    })
  }

  /** Adds what the caller earned in the sessions of others; queries it only if there are any. */
  async function withGuestEarnings(caller: Lister, rows: ListedSession[]): Promise<ListedSession[]> {
    const ids = rows
      .filter((row) => row.operator_id !== caller.userId && !seesAsClient(caller, row))
      .map(({ id }) => id)
    if (ids.length === 0) return rows
    const earned = await db
      .selectFrom('sessions')
      .select(['sessions.id', guestTerms.as('guest_terms')])
      .where('sessions.id', 'in', ids)
      .execute()
    return rows.map((row) => ({ ...row, ...earned.find(({ id }) => id === row.id) }))
  }

  /** Counts a party's sessions of each status. `others` excludes those that the user has as client. */
  async function countsOf(party: Party, filter: CountSessions, others: boolean) {
    const matching = db
      .selectFrom('sessions')
      .where(isOf(party))
      .where(matchesFilter(filter, party))
      .$if(others, (sessions) => sessions.where('client_id', '<>', party.id))
    if (filter.search !== undefined) {
      // A search reads the index to its end in any case, and a limit for each status would read it five times.
      return await matching
        .select(['status', sql<number>`count(*)::int`.as('count')])
        .groupBy('status')
        .execute()
    }
    const limited = SessionStatus.options.map((status) => {
      const ofStatus = matching.select('id').where('status', '=', status).limit(SESSION_COUNT_MAX)
      return sql`select ${status}::text as status, (select count(*)::int from (${ofStatus}) as counted) as count`
    })
    const counts = sql<{ status: SessionStatus; count: number }>`${sql.join(limited, sql` union all `)}`
    return (await counts.execute(db)).rows
  }

  return {
    /**
     * Returns a page of the caller's sessions, and the cursor of the next page unless it is the last one.
     * @throws 400 for a cursor of another list or order.
     */
    async page(
      caller: Lister,
      query: ListSessions,
    ): Promise<{ rows: ListedSession[]; next: string | undefined }> {
      const { page, last } = pageOf(await readPage(caller, query), query.limit)
      return {
        rows: await withGuestEarnings(caller, page),
        next: last && encodeCursor(query.sort, last.created_at, last.id),
      }
    },

    /** Counts the caller's sessions for each status, under the other filters, up to `SESSION_COUNT_MAX` of each. */
    async counts(caller: Lister, filter: CountSessions): Promise<Record<SessionStatus, number>> {
      const parties = partiesOf(caller)
      const owns = parties.some(({ column }) => column === 'client_id')
      const parts = await Promise.all(
        parties.map((party) => countsOf(party, filter, owns && party.column !== 'client_id')),
      )
      const counts = parts.flat()
      return Object.fromEntries(
        SessionStatus.options.map((status) => {
          const sum = counts.reduce((all, row) => all + (row.status === status ? row.count : 0), 0)
          return [status, Math.min(sum, SESSION_COUNT_MAX)]
        }),
      ) as Record<SessionStatus, number>
    },

    /** Lists the robots of the caller's sessions by name, also removed ones. */
    async robots(caller: Lister, { search, robotId, limit }: ListSessionRobots) {
      const queries = partiesOf(caller).map((party) =>
        db
          .selectFrom('sessions')
          .select('robot_id')
          .where(isOf(party))
          .$if(robotId !== undefined, (sessions) => sessions.where('robot_id', '=', robotId as string)),
      )
      if (queries.length === 0) return []
      const words = wordsOf(search)
      return await db
        .selectFrom('robots')
        .select(['id', 'name', 'robot_type'])
        .where(
          'id',
          'in',
          queries.reduce((all, one) => all.union(one)),
        )
        .$if(words.length > 0, (robots) =>
          robots.where(containsAll(sql`concat_ws(' ', robots.name, robots.robot_type)`, words)),
        )
        .orderBy(sql`lower(name)`)
        .orderBy('id')
        .limit(limit)
        .execute()
    },
  }
}
export type SessionLists = ReturnType<typeof createSessionLists>
