import { sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { type KeysetPage, keyset, platformTime, toPage } from './keyset.ts'
import type { ListAllRobots, RobotEntry } from './robot-list.schema.ts'
import { matchingUserIds, robotMatches } from './search.ts'

type Row = Omit<RobotEntry, 'created_at' | 'last_heartbeat'> & {
  created_at: Date
  last_heartbeat: Date | null
}

/** Lists the robots of all owners, newest first, with their owners and open sessions. */
export async function listRobots(db: Db, query: ListAllRobots): Promise<KeysetPage<RobotEntry>> {
  const { rows } = await sql<Row>`
    select robots.id, robots.name, robots.robot_type, robots.hardware_id, robots.status, robots.on_hold,
      robots.owner_id, owners.name as owner_name, robots.created_at,
      robots.tags, robot_presence.battery, robot_presence.last_heartbeat, open.id as session_id
    from (${await pageOfIds(db, query)}) as page
    join robots on robots.id = page.id
    join organizations as owners on owners.id = robots.owner_id
    left join robot_presence on robot_presence.robot_id = robots.id
    left join sessions as open on open.robot_id = robots.id and open.status in ('ACTIVE', 'PAUSED')
    order by robots.created_at desc, robots.id desc`.execute(db)
  const { rows: page, next } = toPage(rows, query.limit)
  return { rows: page.map(viewOf), next }
}

const viewOf = (row: Row): RobotEntry => ({
  ...row,
  created_at: iso(row.created_at),
  last_heartbeat: iso(row.last_heartbeat),
})

function* conditionsOf({ status, tag, battery_low }: Pick<ListAllRobots, 'status' | 'tag' | 'battery_low'>) {
  if (status !== undefined) yield sql<boolean>`robots.status = ${status}`
  // In the form that the index of tags covers.
  if (tag !== undefined) yield sql<boolean>`(robots.tags @> array[${tag}]::text[] and robots.tags <> '{}')`
  const withLowBattery = sql`select robot_id from robot_presence where battery_low`
  if (battery_low === 'true') yield sql<boolean>`robots.id in (${withLowBattery})`
  if (battery_low === 'false') yield sql<boolean>`not exists (${withLowBattery} and robot_id = robots.id)`
}

/** Returns the query of the ids of a page. A search finds robots by themselves or by their owners. */
async function pageOfIds(db: Db, { search = '', limit, cursor, ...conditions }: ListAllRobots) {
  const isSearch = search.trim() !== ''
  const { follows, end } = keyset('robots', { cursor, limit }, isSearch ? undefined : platformTime)
  const filters = [sql<boolean>`robots.deleted_at is null`, follows, ...conditionsOf(conditions)]
  const filter = sql.join(filters, sql` and `)
  if (!isSearch) return sql`select robots.id from robots where ${filter} ${end}`
  const ownerIds = await matchingUserIds(db, search)
  return sql`
    select distinct found.created_at, found.id from (
      (select robots.id, robots.created_at from robots where ${filter} and ${robotMatches(search)} ${end})
      union all
      select own.id, own.created_at from unnest(${ownerIds}::uuid[]) as matched (id)
      cross join lateral (
        select robots.id, robots.created_at from robots where robots.owner_id = matched.id and ${filter} ${end}
      ) as own
    ) as found ${keyset('found', { limit }).end}`
}
