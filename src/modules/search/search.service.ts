import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import { containsAll } from '../../core/database/like-patterns.ts'
import type { Db } from '../../core/database/tables.ts'
import type { Caller } from '../../core/http/endpoint.ts'
import { idIn, wordsOf } from '../../core/http/search-words.ts'
import { can, type Scope, scopeOf } from '../../core/permissions/authorization.ts'
import { isOf } from '../../core/permissions/session-part.ts'
import { RESULTS_PER_KIND, type SearchResult } from './search.schema.ts'

/** The sessions of a user that a search reads, newest first. */
const SESSIONS_SEARCHED = 1_000

interface FoundRobot {
  readonly id: string
  readonly name: string
  readonly robot_type: string
}
interface FoundUser {
  readonly id: string
  readonly display_name: string
  readonly email: string | null
}

/** Finds the newest matches, in robots of an owner, robots that are available to an operator, or users. */
interface SearchSources {
  readonly robotLists: { find(scope: Scope, search: string, limit: number): Promise<FoundRobot[]> }
  readonly availableRobots: {
    find(caller: Caller, search: string, limit: number): Promise<FoundRobot[]>
  }
  readonly users: { find(search: string, limit: number): Promise<FoundUser[]> }
}

/** Creates the search over everything that a user may open. */
export function createSearch({ db, robotLists, availableRobots, users }: SearchSources & { db: Db }) {
  const robotResults = async (
    kind: 'own_robot' | 'available_robot',
    found: Promise<FoundRobot[]>,
  ): Promise<SearchResult[]> =>
    (await found).map(({ id, name, robot_type }) => ({ kind, id, title: name, detail: robot_type, at: null }))

  const userResults = async (search: string): Promise<SearchResult[]> =>
    (await users.find(search, RESULTS_PER_KIND)).map(({ id, display_name, email }) => ({
      kind: 'user',
      id,
      title: display_name,
      detail: email ?? '',
      at: null,
    }))

  const sessionResults = async (caller: Caller, search: string): Promise<SearchResult[]> =>
    (await sessionQuery(caller, search).execute(db)).rows.map(({ at, ...row }) => ({
      kind: 'session',
      ...row,
      at: iso(at),
    }))

  return {
    /** Returns robots, sessions and users that the caller may open and that contain all words. */
    async find(caller: Caller, search: string): Promise<SearchResult[]> {
      const { roles } = caller
      const found = await Promise.all([
        roles.includes('client') &&
          can(caller, 'robots.read') &&
          robotResults('own_robot', robotLists.find(scopeOf(caller), search, RESULTS_PER_KIND)),
        roles.includes('operator') &&
          robotResults('available_robot', availableRobots.find(caller, search, RESULTS_PER_KIND)),
        sessionResults(caller, search),
        roles.includes('admin') && userResults(search),
      ])
      return found.flatMap((results) => results || [])
    },
  }
}
export type Search = ReturnType<typeof createSearch>

interface FoundSession {
  readonly id: string
  readonly title: string
  readonly detail: string
  readonly at: Date
}

const columns = sql`id, robot_id, operator_id, started_at, scheduled_for, created_at`

/**
 * Returns the query over the newest sessions of the user; for admins also over the open ones, and over all by their ids. `offset 0` keeps
 * the planner from joins that read all robots and all users.
 */
function sessionQuery(caller: Caller, search: string): RawBuilder<FoundSession> {
  const { userId, roles, organization } = caller
  const driven = (['operator_id', 'guest'] as const).map((column) => ({ column, id: userId, groupIds: null }))
  const owned = { column: 'client_id', id: organization.id, groupIds: organization.groupIds } as const
  // Also those from before the caller lost a role. A team has no sessions that a person operates for others.
  const parties = [
    ...(organization.id === userId ? driven : []),
    ...(can(caller, 'sessions.read') ? [owned] : []),
  ]
  const newest = parties.map(
    (party) => sql`
    (select ${columns} from sessions where ${isOf(party)}
     order by created_at desc, id desc limit ${SESSIONS_SEARCHED})`,
  )
  const nothing = sql`(select ${columns} from sessions where false)`
  const openOrNamed = sql`
    union (select ${columns} from sessions where status in ('ACTIVE', 'PAUSED') limit ${SESSIONS_SEARCHED})
    union (select ${columns} from sessions where id = ${idIn(search) ?? null}::uuid)`
  return sql<FoundSession>`
    select s.id, r.name as title, u.display_name as detail, coalesce(s.started_at, s.scheduled_for, s.created_at) as at
    from (${newest.length > 0 ? sql.join(newest, sql` union `) : nothing} ${roles.includes('admin') ? openOrNamed : sql``}) s
      join lateral (select name from robots where id = s.robot_id offset 0) r on true
      join lateral (select display_name from users where id = s.operator_id offset 0) u on true
    where ${containsAll(sql<string>`concat_ws(' ', r.name, u.display_name, s.id)`, wordsOf(search))}
    order by s.created_at desc, s.id desc limit ${RESULTS_PER_KIND}`
}
