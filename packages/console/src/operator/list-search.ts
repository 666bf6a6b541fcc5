import { z } from 'zod'
import { parameter, textParameter } from '../list/list-search.ts'

const schema = z.object({
  search: textParameter,
  sort: parameter(z.enum(['name', '-name'])),
  type: textParameter,
})

/** Search text, order and type of the available robots, as stored in the query string. */
export type AvailableSearch = z.output<typeof schema>

/** Reads the search from the query string and drops invalid values. */
export const readAvailableSearch = (search: Record<string, unknown>): AvailableSearch => schema.parse(search)
