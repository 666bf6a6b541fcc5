import { createPersisted } from '../base/persisted.ts'
import type { Store } from '../base/store.ts'

/** The most views of one list. */
export const MAX_VIEWS = 20
/** The longest name of a view, in characters. */
export const MAX_VIEW_NAME = 40

/** A search that the user has named: search text, filters and order of a list. */
interface SavedView {
  readonly name: string
  readonly search: Readonly<Record<string, unknown>>
}

// Without zod: a lazily loaded module that imports it would move it out of the first script into another file.
const isView = (value: unknown): value is SavedView => {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('search' in value)) return false
  const { name, search } = value
  const isNamed = typeof name === 'string' && name !== '' && name.length <= MAX_VIEW_NAME
  return isNamed && typeof search === 'object' && search !== null
}

/** Reads stored views and drops invalid ones. */
export function parseViews(text: string): readonly SavedView[] {
  const stored: unknown = JSON.parse(text)
  return Array.isArray(stored) ? stored.filter(isView).slice(-MAX_VIEWS) : []
}

/** Creates the views of a list of a user, stored in this browser. Invalid content counts as none. */
export const createSavedViews = (userId: string, list: string): Store<readonly SavedView[]> =>
  createPersisted<readonly SavedView[]>(`wheelhouse-views:${list}:${userId}`, [], parseViews, JSON.stringify)

/** Returns the views with one more, which replaces a view of the same name. The oldest ones give way at the limit. */
export const withView = (views: readonly SavedView[], view: SavedView): readonly SavedView[] =>
  [...views.filter(({ name }) => name !== view.name), view].slice(-MAX_VIEWS)
