import { RobotStatus } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import type { Scope } from '../../core/permissions/authorization.ts'
import { applyFilters, chargeOf } from './robot-filters.ts'
import {
  BATTERY_STEPS,
  type CountRobots,
  type RobotCounts,
  TAGS_MAX,
  TYPES_MAX,
} from './robot-list.schema.ts'

/** Most groups of status and type that one count reads. */
const GROUPS_MAX = 3_000

/** Counts the robots of an owner for each value of a filter, under the other filters. */
export async function countRobots(db: Db, scope: Scope, filters: CountRobots): Promise<RobotCounts> {
  const [byStatusAndType, by_tag, by_battery] = await Promise.all([
    countStatusesAndTypes(db, scope, filters),
    countTags(db, scope, filters),
    countCharges(db, scope, filters),
  ])
  return { ...byStatusAndType, by_tag, by_battery }
}

const robotsOf = (db: Db, scope: Scope, filters: CountRobots) =>
  applyFilters(db.selectFrom('robots').where('deleted_at', 'is', null), scope, filters)

async function countStatusesAndTypes(db: Db, scope: Scope, filters: CountRobots) {
  const { status, robot_type, ...others } = filters
  const groups = await robotsOf(db, scope, others)
    .select(['robots.status', 'robots.robot_type', sql<number>`count(*)::int`.as('count')])
    .groupBy(['robots.status', 'robots.robot_type'])
    .orderBy('count', 'desc')
    .limit(GROUPS_MAX)
    .execute()
  const ofType = groups.filter((group) => robot_type === undefined || group.robot_type === robot_type)
  const ofStatus = groups.filter((group) => status === undefined || group.status === status)
  return {
    by_status: Object.fromEntries(
      RobotStatus.options.map((option) => [option, sumOf(ofType.filter((group) => group.status === option))]),
    ) as Record<RobotStatus, number>,
    by_type: countsByType(ofStatus),
  }
}

/** Counts a robot once for each of its tags, also if a tag is repeated. */
async function countTags(db: Db, scope: Scope, { tag: _, ...filters }: CountRobots) {
  const tagged = robotsOf(db, scope, filters).where(sql<boolean>`robots.tags <> '{}'`).select('robots.tags')
  const { rows } = await sql<{ tag: string; count: number }>`
    select tag, count(*)::int as count
    from (${tagged}) as tagged cross join lateral (select distinct unnest(tagged.tags) as tag) as own
    group by tag order by count(*) desc, tag limit ${TAGS_MAX}`.execute(db)
  return rows
}

async function countCharges(db: Db, scope: Scope, { battery_below: _, ...filters }: CountRobots) {
  const charges = robotsOf(db, scope, filters).select(chargeOf.as('battery'))
  // Materialized, because PostgreSQL would otherwise read each charge once per threshold.
  const { rows } = await sql<{ battery_below: number; count: number }>`
    with charges as materialized (${charges})
    select step as battery_below, count(battery)::int as count
    from unnest(${[...BATTERY_STEPS]}::float8[]) as step left join charges on battery < step
    group by step order by step`.execute(db)
  return rows
}

interface Counted {
  readonly robot_type: string
  readonly count: number
}

const sumOf = (groups: readonly Counted[]) => groups.reduce((sum, { count }) => sum + count, 0)

/** Returns the most frequent types with their counts, those of equal count by name. */
export function countsByType(groups: readonly Counted[]): Counted[] {
  const counts = new Map<string, number>()
  for (const { robot_type, count } of groups) counts.set(robot_type, (counts.get(robot_type) ?? 0) + count)
  return [...counts]
    .map(([robot_type, count]) => ({ robot_type, count }))
    .sort((a, b) => b.count - a.count || a.robot_type.localeCompare(b.robot_type))
    .slice(0, TYPES_MAX)
}
