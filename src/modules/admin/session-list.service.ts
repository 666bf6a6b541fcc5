import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { idIn } from '../../core/http/search-words.ts'
import { type KeysetPage, keyset, platformTime, toPage } from './keyset.ts'
import { matchingRobotIds, matchingUserIds } from './search.ts'
import type { ListAllSessions, SessionEntry } from './session-list.schema.ts'

type Times = 'created_at' | 'scheduled_for' | 'started_at' | 'ended_at'
type Row = Omit<SessionEntry, Times> &
  Record<Exclude<Times, 'created_at'>, Date | null> & { created_at: Date }

/** Lists the sessions of all users, newest first, with names. */
export async function listSessions(db: Db, query: ListAllSessions): Promise<KeysetPage<SessionEntry>> {
  const { rows } = await sql<Row>`
    select sessions.id, sessions.status, sessions.created_at, sessions.scheduled_for, sessions.started_at,
      sessions.ended_at, sessions.pause_reason, sessions.stop_at is not null as stopped,
      sessions.robot_id, robots.name as robot_name,
      sessions.operator_id, operators.display_name as operator_name,
      sessions.client_id, clients.name as client_name
    from (${await pageOfIds(db, query)}) as page
    join sessions on sessions.id = page.id
    join robots on robots.id = sessions.robot_id
    join users as operators on operators.id = sessions.operator_id
    join organizations as clients on clients.id = sessions.client_id
    order by sessions.created_at desc, sessions.id desc`.execute(db)
  const { rows: page, next } = toPage(rows, query.limit)
  return { rows: page.map(viewOf), next }
}

const viewOf = (row: Row): SessionEntry => ({
  ...row,
  created_at: iso(row.created_at),
  scheduled_for: iso(row.scheduled_for),
  started_at: iso(row.started_at),
  ended_at: iso(row.ended_at),
})

/** Returns the query of the ids of a page, before names are joined. Each part reads at most a page from an index. */
async function pageOfIds(db: Db, { search = '', status, limit, cursor }: ListAllSessions) {
  const isSearch = search.trim() !== ''
  const { follows, end } = keyset('sessions', { cursor, limit }, isSearch ? undefined : platformTime)
  const filter = status === undefined ? follows : sql<boolean>`${follows} and sessions.status = ${status}`
  if (!isSearch) return sql`select sessions.id from sessions where ${filter} ${end}`
  const [userIds, robotIds] = await Promise.all([matchingUserIds(db, search), matchingRobotIds(db, search)])
  /** Selects a page of each user or robot, so that one with many sessions costs no more. */
  const pagesOf = (column: RawBuilder<unknown>, ids: readonly string[]) => sql`
    select own.id, own.created_at from unnest(${ids}::uuid[]) as matched (id)
    cross join lateral (
      select sessions.id, sessions.created_at from sessions where ${column} = matched.id and ${filter} ${end}
    ) as own`
  return sql`
    select distinct found.created_at, found.id from (
      ${pagesOf(sql`sessions.robot_id`, robotIds)}
      union all ${pagesOf(sql`sessions.operator_id`, userIds)}
      union all ${pagesOf(sql`sessions.client_id`, userIds)}
      union all select sessions.id, sessions.created_at from sessions
        where sessions.id = ${idIn(search) ?? null}::uuid and ${filter}
    ) as found ${keyset('found', { limit }).end}`
}
