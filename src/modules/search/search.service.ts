import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import type { Caller } from '../../core/http/endpoint.ts'
import { RESULTS_PER_KIND, type SearchResult, wordsOf } from './search.schema.ts'

/** The sessions of a user that a search reads, newest first. */
const SESSIONS_SEARCHED = 1_000

interface Row {
  readonly kind: SearchResult['kind']
  readonly id: string
  readonly title: string
  readonly detail: string
  readonly at: Date | null
}

/** Returns a condition: the text contains all words, case-insensitive. */
const containsAll = (text: RawBuilder<string>, words: readonly string[]): RawBuilder<SqlBool> =>
  sql<SqlBool>`${sql.join(
    words.map((word) => sql`${text} ilike ${`%${word.replaceAll(/[\\%_]/g, '\\$&')}%`}`),
    sql` and `,
  )}`

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns the id that is searched for; null when the search is no id. */
const idOf = ([word = '', ...others]: readonly string[]): string | null =>
  others.length === 0 && UUID.test(word) ? word : null

/** Creates the search over everything that a user may open. */
export function createSearch({ db }: { db: Db }) {
  const ownRobots = (ownerId: string, words: readonly string[]) => sql<Row>`
    select 'own_robot' as kind, id, name as title, robot_type as detail, null::timestamptz as at
    from robots
    where owner_id = ${ownerId} and deleted_at is null
      and ${containsAll(sql<string>`concat_ws(' ', name, robot_type, hardware_id, array_to_string(tags, ' '))`, words)}
    order by created_at desc, id desc limit ${RESULTS_PER_KIND}`

  const availableRobots = (operatorId: string, words: readonly string[]) => sql<Row>`
    select 'available_robot' as kind, id, name as title, robot_type as detail, null::timestamptz as at
    from robots
    where status = 'AVAILABLE' and deleted_at is null and not on_hold
      and exists (select from users where users.id = robots.owner_id and users.is_client)
      and (not require_certification or robot_type in (
        select robot_type from certifications where operator_id = ${operatorId} and status = 'APPROVED'))
      and ${containsAll(sql<string>`concat_ws(' ', name, robot_type, array_to_string(tags, ' '))`, words)}
    order by created_at desc, id desc limit ${RESULTS_PER_KIND}`

  const columns = sql`id, robot_id, operator_id, started_at, scheduled_for, created_at`
  /** Searches the newest sessions of the user; for admins also the open ones, and all by their ids. */
  const sessions = ({ userId, roles }: Caller, words: readonly string[]) => {
    const newestOf = (column: 'operator_id' | 'client_id') => sql`
      (select ${columns} from sessions where ${sql.ref(column)} = ${userId}
       order by created_at desc, id desc limit ${SESSIONS_SEARCHED})`
    const openOrNamed = sql`
      union (select ${columns} from sessions where status in ('ACTIVE', 'PAUSED') limit ${SESSIONS_SEARCHED})
      union (select ${columns} from sessions where id = ${idOf(words)}::uuid)`
    return sql<Row>`
      select 'session' as kind, s.id, r.name as title, u.display_name as detail,
        coalesce(s.started_at, s.scheduled_for, s.created_at) as at
      from (${newestOf('operator_id')} union ${newestOf('client_id')} ${roles.includes('admin') ? openOrNamed : sql``}) s
        join robots r on r.id = s.robot_id
        join users u on u.id = s.operator_id
      where ${containsAll(sql<string>`concat_ws(' ', r.name, u.display_name, s.id)`, words)}
      order by s.created_at desc, s.id desc limit ${RESULTS_PER_KIND}`
  }

  const users = (words: readonly string[]) => sql<Row>`
    select 'user' as kind, id, display_name as title, coalesce(email, '') as detail, null::timestamptz as at
    from users
    where ${containsAll(sql<string>`concat_ws(' ', display_name, email, id)`, words)}
    order by created_at desc, id desc limit ${RESULTS_PER_KIND}`

  return {
    /** Returns robots, sessions and users that the caller may open and that contain all words. */
    async find(caller: Caller, text: string): Promise<SearchResult[]> {
      const words = wordsOf(text)
      const { userId, roles } = caller
      const parts = [
        ...(roles.includes('client') ? [ownRobots(userId, words)] : []),
        ...(roles.includes('operator') ? [availableRobots(userId, words)] : []),
        sessions(caller, words),
        ...(roles.includes('admin') ? [users(words)] : []),
      ]
      const found = await Promise.all(parts.map((part) => part.execute(db)))
      return found.flatMap(({ rows }) => rows).map((row) => ({ ...row, at: iso(row.at) }))
    },
  }
}
export type Search = ReturnType<typeof createSearch>
