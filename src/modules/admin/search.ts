import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import { wordsOf } from '../../core/http/search-words.ts'

/** Maximum number of users and of robots whose sessions one search reads: the newest matches. */
const MATCH_LIMIT = 50
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

const literal = (text: string) => text.replaceAll(/[\\%_]/g, '\\$&')

/** The text of a user that a search reads. The trigram index `users_search` has the same expression. */
const userText = sql`(users.display_name || ' ' || coalesce(users.email, ''))`

/** Returns the search as an id, if it is one. */
export function idIn(search: string): string | undefined {
  const text = search.trim()
  return UUID.test(text) ? text : undefined
}

/** Returns the condition that a user has this id, or that name and e-mail contain all words. One condition per word uses the index. */
export function userMatches(search: string): RawBuilder<boolean> {
  const id = idIn(search)
  if (id !== undefined) return sql<boolean>`users.id = ${id}::uuid`
  const conditions = wordsOf(search).map((word) => sql`${userText} ilike ${`%${literal(word)}%`}`)
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(conditions, sql` and `)}`
}

/** Returns the condition that the name of a robot begins with the search, or that its hardware id equals it. */
export function robotMatches(search: string): RawBuilder<boolean> {
  const id = idIn(search)
  if (id !== undefined) return sql<boolean>`robots.id = ${id}::uuid`
  const text = search.trim()
  return sql<boolean>`(lower(robots.name) like lower(${`${literal(text)}%`}) or lower(btrim(robots.hardware_id)) = lower(${text}))`
}

/** Returns the ids of the newest users that match a search. */
export async function matchingUserIds(db: Db, search: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select users.id from users where ${userMatches(search)}
    order by users.created_at desc limit ${MATCH_LIMIT}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Returns the ids of the newest robots that match a search, not those of their owners. */
export async function matchingRobotIds(db: Db, search: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select robots.id from robots where robots.deleted_at is null and ${robotMatches(search)}
    order by robots.created_at desc limit ${MATCH_LIMIT}`.execute(db)
  return rows.map(({ id }) => id)
}
