import { exampleIds } from '@wheelhouse/protocol'
import { z } from 'zod'
import { timestamp } from '../../core/http/fields.ts'
import { wordsOf } from '../../core/http/search-words.ts'

/** Most results of each kind. */
export const RESULTS_PER_KIND = 5
/** Most words of a search. */
const MAX_WORDS = 5

/** Query of GET /api/search. */
export const SearchQuery = z.strictObject({
  q: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(100)
    .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text')
    .refine((text) => wordsOf(text).length <= MAX_WORDS, `must have at most ${MAX_WORDS} words`)
    .meta({ description: 'Words that must all occur, case-insensitive.', examples: ['warehouse'] }),
})

const SearchResult = z
  .object({
    kind: z.enum(['own_robot', 'available_robot', 'session', 'user']).meta({
      description:
        'own_robot: one of your robots. available_robot: a robot that you may drive now. session: one of your newest sessions; ' +
        'for admins also open sessions, and any session by its id. user: for admins.',
      examples: ['own_robot'],
    }),
    id: z.uuid().meta({ examples: [exampleIds.robot] }),
    title: z.string().meta({ description: 'Name of the robot or the user.', examples: ['Warehouse arm'] }),
    detail: z.string().meta({
      description: 'Type of the robot, operator of the session, or address of the user.',
      examples: ['so-101'],
    }),
    at: timestamp
      .nullable()
      .meta({ description: 'When the session started or will start; null for others.' }),
  })
  .meta({ id: 'SearchResult', description: 'A robot, a session or a user that a search has found.' })
export type SearchResult = z.infer<typeof SearchResult>

/** Response of GET /api/search. */
export const SearchResults = z
  .object({
    results: z
      .array(SearchResult)
      .meta({ description: `At most ${RESULTS_PER_KIND} of each kind, newest first.` }),
  })
  .meta({ id: 'SearchResults', description: 'Robots, sessions and users that a search has found.' })
