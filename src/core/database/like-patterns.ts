import { type RawBuilder, sql } from 'kysely'

const literal = (text: string) => text.replaceAll(/[\\%_]/g, '\\$&')

/** Returns a LIKE pattern that matches texts with this word, literally. */
export const containsPattern = (word: string): string => `%${literal(word)}%`

/** Returns a LIKE pattern that matches texts that begin with this one, literally. */
export const prefixPattern = (text: string): string => `${literal(text)}%`

/** Returns the condition that all words occur in a text, case-insensitive. */
export const containsAll = (text: RawBuilder<unknown>, words: readonly string[]): RawBuilder<boolean> =>
  sql<boolean>`${text} ilike all (${words.map(containsPattern)}::text[])`
