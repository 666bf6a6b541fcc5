import { type SelectQueryBuilder, sql } from 'kysely'
import type { Tables } from '../../core/database/tables.ts'
import { type ListRobots, wordsOf } from './robot.schema.ts'

/** The text that a search matches. An owner has few robots, so the search scans them without an index. */
const searchText = sql<string>`concat_ws(' ', robots.name, robots.robot_type, robots.hardware_id, array_to_string(robots.tags, ' '))`

/** Returns a LIKE pattern that matches the word literally. */
const likePattern = (word: string) => `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`

type Robots<T extends keyof Tables, O> = SelectQueryBuilder<Tables, T | 'robots', O>

/** Restricts a query to robots of an owner that pass the filters. */
export function applyFilters<T extends keyof Tables, O>(
  robots: Robots<T, O>,
  ownerId: string,
  { search, status, robot_type }: Pick<ListRobots, 'search' | 'status' | 'robot_type'>,
): Robots<T, O> {
  const conditions = [
    sql<boolean>`robots.owner_id = ${ownerId}`,
    ...(status === undefined ? [] : [sql<boolean>`robots.status = ${status}`]),
    ...(robot_type === undefined ? [] : [sql<boolean>`robots.robot_type = ${robot_type}`]),
    ...wordsOf(search ?? '').map((word) => sql<boolean>`${searchText} ilike ${likePattern(word)}`),
  ]
  return conditions.reduce((query, condition) => query.where(condition), robots)
}

/** Orders robots by registration, newest first. */
export const newestFirst = <T extends keyof Tables, O>(robots: Robots<T, O>): Robots<T, O> =>
  robots.orderBy(sql`robots.created_at`, 'desc').orderBy(sql`robots.id`, 'desc')
