import { type RawBuilder, sql } from 'kysely'
import { containsPattern } from '../../../core/database/like-patterns.ts'
import type { Db } from '../../../core/database/tables.ts'
import { idIn, wordsOf } from '../../../core/http/search-words.ts'

/** The text of a user that a search reads. The trigram index `users_search` has the same expression. */
const userText = sql`(users.display_name || ' ' || coalesce(users.email, ''))`

/** Returns the condition that a user has this id, or that name and e-mail contain all words. One condition per word uses the index. */
export function userMatches(search: string): RawBuilder<boolean> {
  const id = idIn(search)
  if (id !== undefined) return sql<boolean>`users.id = ${id}::uuid`
  const conditions = wordsOf(search).map((word) => sql`${userText} ilike ${containsPattern(word)}`)
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(conditions, sql` and `)}`
}

/** Returns the newest users that match a search. */
export const newestMatchingUsers = (db: Db, search: string, limit: number) =>
  db
    .selectFrom('users')
    .select(['users.id', 'users.display_name', 'users.email'])
    .where(userMatches(search))
    .orderBy('users.created_at', 'desc')
    .orderBy('users.id', 'desc')
    .limit(limit)
    .execute()
