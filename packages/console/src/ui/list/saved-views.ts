import { z } from 'zod'
import { createPersisted } from '../persisted.ts'
import type { Store } from '../store.ts'

/** The most views of one list. */
export const MAX_VIEWS = 20
/** The longest name of a view, in characters. */
export const MAX_VIEW_NAME = 40

/** A search that the user has named: search text, filters and order of a list. */
export interface SavedView {
  readonly name: string
  readonly search: Readonly<Record<string, unknown>>
}

const stored = z
  .array(z.object({ name: z.string().min(1).max(MAX_VIEW_NAME), search: z.record(z.string(), z.unknown()) }))
  .max(MAX_VIEWS)

/** Creates the views of a list of a user, stored in this browser. Invalid content counts as none. */
export const createSavedViews = (userId: string, list: string): Store<readonly SavedView[]> =>
  createPersisted<readonly SavedView[]>(
    `wheelhouse-views:${list}:${userId}`,
    [],
    (text) => stored.parse(JSON.parse(text)),
    JSON.stringify,
  )

/** Returns the views with one more, which replaces a view of the same name. The oldest ones give way at the limit. */
export const withView = (views: readonly SavedView[], view: SavedView): readonly SavedView[] =>
  [...views.filter(({ name }) => name !== view.name), view].slice(-MAX_VIEWS)
