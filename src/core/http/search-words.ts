import { z } from 'zod'

/** Maximum number of words in a search. */
const MAX_WORDS = 10

/** Returns the words of a search. */
export const wordsOf = (search: string | undefined): string[] =>
  (search ?? '').split(/\s+/).filter((word) => word !== '')

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
