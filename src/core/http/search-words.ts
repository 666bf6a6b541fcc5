import { z } from 'zod'

/** Maximum number of words in a search. */
const MAX_WORDS = 10

/** Returns the words of a search. */
export const wordsOf = (search: string | undefined): string[] =>
  (search ?? '').split(/\s+/).filter((word) => word !== '')

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Returns the search as an id, if it is one. */
export function idIn(search: string): string | undefined {
  const text = search.trim()
  return UUID.test(text) ? text : undefined
}

/** Returns the schema of a search for words. `where` names the texts in which they must occur. */
export const searchWords = (where: string, example: string) =>
  z
    .string()
    .max(200)
    .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text')
    .refine((text) => wordsOf(text).length <= MAX_WORDS, `must have at most ${MAX_WORDS} words`)
    .meta({
      description: `Words that must all occur in ${where}, case-insensitive.`,
      examples: [example],
    })
