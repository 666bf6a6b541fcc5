import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { z } from 'zod'
import { containsAll } from '../../core/database/like-patterns.ts'
import type { Tables } from '../../core/database/tables.ts'
import { cursorValues, decodeCursor } from '../../core/http/cursor.ts'
import { wordsOf } from '../../core/http/search-words.ts'
import { ownedBy, type Scope } from '../../core/permissions/authorization.ts'
import type { CountRobots, RobotSort } from './robot-list.schema.ts'

/** The text that a search matches. An owner has at most some thousands of robots, so the search scans them without an index. */
const searchText = sql`concat_ws(' ', robots.name, robots.robot_type, robots.hardware_id, array_to_string(robots.tags, ' '))`
/** The same without the hardware id, which operators do not see. */
const visibleText = sql`concat_ws(' ', robots.name, robots.robot_type, array_to_string(robots.tags, ' '))`

export type RobotQuery<T extends keyof Tables, O> = SelectQueryBuilder<Tables, T | 'robots', O>

const allOf = <T extends keyof Tables, O>(
  robots: RobotQuery<T, O>,
  conditions: readonly RawBuilder<boolean>[],
): RobotQuery<T, O> => conditions.reduce((query, condition) => query.where(condition), robots)

const wordsIn = (text: RawBuilder<unknown>, search: string | undefined) => {
  const words = wordsOf(search)
  return words.length === 0 ? [] : [containsAll(text, words)]
}

/** Returns the condition that a robot has a tag, in the form that the index of tags covers. */
const hasTag = (tag: string): RawBuilder<boolean> =>
  sql<boolean>`(robots.tags @> array[${tag}]::text[] and robots.tags <> '{}')`

/** Reads the charge of each robot by its key, so that the cost depends on the robots of the owner, not on all of them. */
export const chargeOf = sql<number>`(select robot_presence.battery from robot_presence where robot_presence.robot_id = robots.id)`

/** Restricts a query to robots of a scope that pass the filters. */
export const applyFilters = <T extends keyof Tables, O>(
  robots: RobotQuery<T, O>,
  scope: Scope,
  { search, status, robot_type, tag, battery_below }: CountRobots,
): RobotQuery<T, O> =>
  allOf(robots, [
    ownedBy(scope),
    ...(status === undefined ? [] : [sql<boolean>`robots.status = ${status}`]),
    ...(robot_type === undefined ? [] : [sql<boolean>`robots.robot_type = ${robot_type}`]),
    ...(tag === undefined ? [] : [hasTag(tag)]),
    ...(battery_below === undefined ? [] : [sql<boolean>`${chargeOf} < ${battery_below}`]),
    ...wordsIn(searchText, search),
  ])

/** Restricts a query to robots that pass the filters of operators. */
export const applyOperatorFilters = <T extends keyof Tables, O>(
  robots: RobotQuery<T, O>,
  { search, robot_type }: Pick<CountRobots, 'search' | 'robot_type'>,
): RobotQuery<T, O> =>
  allOf(robots, [
    ...(robot_type === undefined ? [] : [sql<boolean>`robots.robot_type = ${robot_type}`]),
    ...wordsIn(visibleText, search),
  ])

/** Orders robots by registration, newest first. */
export const newestFirst = <T extends keyof Tables, O>(robots: RobotQuery<T, O>): RobotQuery<T, O> =>
  robots.orderBy(sql`robots.created_at`, 'desc').orderBy(sql`robots.id`, 'desc')

interface SortKey {
  readonly key: RawBuilder<Date | string | number>
  readonly type: RawBuilder<unknown>
  readonly value: z.ZodType<string | number>
}

type SortColumn = RobotSort extends infer S ? (S extends `-${infer Column}` ? Column : never) : never

/** The value of a robot for each order, its type in PostgreSQL, and its schema in a cursor. */
const sortKeys: Record<SortColumn, SortKey> = {
  created_at: { key: sql`robots.created_at`, type: sql`timestamptz`, value: cursorValues.time },
  name: { key: sql`lower(robots.name)`, type: sql`text`, value: cursorValues.text },
  total_hours: { key: sql`robots.session_seconds`, type: sql`int`, value: cursorValues.count },
  last_heartbeat: {
    key: sql`coalesce(robot_presence.last_heartbeat, 'epoch')`,
    type: sql`timestamptz`,
    value: cursorValues.time,
  },
}

/**
 * Orders robots, continues after a cursor, and adds the value of the order as `sort_key`. The query contains
 * `robot_presence`.
 * @throws 400 for a cursor of another order.
 */
export function sortedPage<T extends keyof Tables, O>(
  robots: RobotQuery<T, O>,
  { sort, cursor }: { sort: RobotSort; cursor?: string | undefined },
): RobotQuery<T, O & { sort_key: Date | string | number }> {
  const descending = sort.startsWith('-')
  const { key, type, value } = sortKeys[sort.replace('-', '') as SortColumn]
  const direction = descending ? 'desc' : 'asc'
  const sorted = robots.select(key.as('sort_key')).orderBy(key, direction).orderBy(sql`robots.id`, direction)
  if (cursor === undefined) return sorted
  const after = decodeCursor(cursor, sort, value)
  const follows = descending ? sql`<` : sql`>`
  return sorted.where(
    sql<boolean>`(${key}, robots.id) ${follows} (${after.value}::${type}, ${after.id}::uuid)`,
  )
}
