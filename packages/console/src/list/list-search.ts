import { z } from 'zod'

/** The longest search text, in characters. */
export const MAX_SEARCH = 100

/** The search text and the sort order of a list, as its address holds them. Filters are further fields. */
export interface ListSearch {
  readonly search?: string | undefined
  /** The `sort` of a column, with a leading minus for descending order. */
  readonly sort?: string | undefined
}

/** Returns the schema of an optional parameter of the address. An invalid value counts as missing. */
export const parameter = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined)

/** The schema of an optional text in the address. The router reads `?search=7` as a number. */
export const textParameter = parameter(
  z
    .union([z.string(), z.number(), z.boolean()])
    .transform((value) => String(value).slice(0, MAX_SEARCH))
    .refine((text) => text.trim() !== ''),
)

/** The order of a column, or undefined if the list is not sorted by it. */
type Direction = 'ascending' | 'descending' | undefined

/** Returns the direction in which a sort order sorts by a column. */
export function directionOf(sort: string | undefined, column: string): Direction {
  if (sort === column) return 'ascending'
  return sort === `-${column}` ? 'descending' : undefined
}

/** Returns the next order when the user selects a column: ascending at first, then the opposite. */
export const nextSort = (sort: string | undefined, column: string): string =>
  directionOf(sort, column) === 'ascending' ? `-${column}` : column
