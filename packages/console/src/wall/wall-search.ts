import { z } from 'zod'
import { parameter, textParameter } from '../list/list-search.ts'
import type { SectionName } from './sections.ts'

/** The filters of the wall, by the sections that each shows. */
export const wallFilters = {
  all: ['needs', 'driving', 'ready', 'rows'],
  needs: ['needs'],
  driving: ['driving'],
  idle: ['ready', 'rows'],
} as const satisfies Record<string, readonly SectionName[]>
export type WallFilter = keyof typeof wallFilters

const schema = z.object({ show: parameter(z.enum(['needs', 'driving', 'idle'])), tag: textParameter })

/** What the wall shows, as its address holds it. */
export type WallSearch = z.output<typeof schema>

export const readWallSearch = (search: Record<string, unknown>): WallSearch => schema.parse(search)
