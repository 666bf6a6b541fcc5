import { type RawBuilder, sql } from 'kysely'
import { prefixPattern } from '../../core/database/like-patterns.ts'
import type { Db } from '../../core/database/tables.ts'
import { idIn } from '../../core/http/search-words.ts'
import { newestMatchingUsers } from '../identity/index.ts'

/** Maximum number of users and of robots whose sessions one search reads: the newest matches. */
const MATCH_LIMIT = 50

/** Returns the condition that the name of a robot begins with the search, or that its hardware id equals it. */
export function robotMatches(search: string): RawBuilder<boolean> {
  const id = idIn(search)
  if (id !== undefined) return sql<boolean>`robots.id = ${id}::uuid`
  const text = search.trim()
  return sql<boolean>`(lower(robots.name) like lower(${prefixPattern(text)}) or lower(btrim(robots.hardware_id)) = lower(${text}))`
}

/** Returns the ids of the newest users that match a search. */
export async function matchingUserIds(db: Db, search: string): Promise<string[]> {
  const users = await newestMatchingUsers(db, search, MATCH_LIMIT)
  return users.map(({ id }) => id)
}

/** Returns the ids of the newest robots that match a search, not those of their owners. */
export async function matchingRobotIds(db: Db, search: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select robots.id from robots where robots.deleted_at is null and ${robotMatches(search)}
    order by robots.created_at desc limit ${MATCH_LIMIT}`.execute(db)
  return rows.map(({ id }) => id)
}
