import { type RawBuilder, sql } from 'kysely'

/** Returns a LIKE pattern that matches the word literally. */
const likePattern = (word: string) => `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`

/** Returns the condition that all words occur in a text, case-insensitive. */
export const containsAll = (text: RawBuilder<unknown>, words: readonly string[]): RawBuilder<boolean> =>
  sql<boolean>`${text} ilike all (${words.map(likePattern)}::text[])`
