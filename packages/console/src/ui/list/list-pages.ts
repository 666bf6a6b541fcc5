/** One page of a list that continues after a cursor. */
export interface ListPage<Row> {
  readonly rows: readonly Row[]
  /** The cursor of the next page; null at the end of the list. */
  readonly next: string | null
}

/** The loaded pages, as the query cache stores them: `pageParams[i]` is the cursor of `pages[i]`. */
export interface LoadedPages<Row> {
  readonly pages: ListPage<Row>[]
  readonly pageParams: (string | undefined)[]
}

export interface WithId {
  readonly id: string
}

/** Returns the rows of all pages. A row that moved between two loads is in two pages and counts once. */
export function rowsOf<Row extends WithId>(pages: readonly ListPage<Row>[]): Row[] {
  const byId = new Map<string, Row>()
  for (const { rows } of pages) {
    for (const row of rows) if (!byId.has(row.id)) byId.set(row.id, row)
  }
  return [...byId.values()]
}

/** Returns the indexes of the pages that contain the rows from `first` to `last`. */
export function pagesWith(pages: readonly ListPage<unknown>[], first: number, last: number): number[] {
  const found: number[] = []
  let start = 0
  for (const [index, { rows }] of pages.entries()) {
    const end = start + rows.length
    if (start <= last && end > first) found.push(index)
    start = end
  }
  return found.length > 0 ? found : pages.slice(0, 1).map(() => 0)
}

/**
 * Replaces a page with its current content. Rows that new ones have pushed out of the page become the first rows of the
 * next page, whose cursor changes accordingly, so that no row is lost and none is doubled. When the old and the new
 * content have no connection, the pages after it are dropped, and scrolling loads them again.
 */
export function replacePage<Row extends WithId>(
  loaded: LoadedPages<Row>,
  index: number,
  fresh: ListPage<Row>,
): LoadedPages<Row> {
  const [old, next, last] = [loaded.pages[index], loaded.pages[index + 1], fresh.rows.at(-1)]
  if (!old) return loaded
  const upToHere = {
    pages: [...loaded.pages.slice(0, index), fresh],
    pageParams: loaded.pageParams.slice(0, index + 1),
  }
  if (!next || !last || fresh.next === null) return upToHere
  const following = [...old.rows, ...next.rows]
  const position = following.findIndex(({ id }) => id === last.id)
  const ids = new Set(fresh.rows.map(({ id }) => id))
  const rows = following.slice(position + 1).filter(({ id }) => !ids.has(id))
  if (position < 0 || rows.length === 0) return upToHere
  return {
    pages: [...upToHere.pages, { ...next, rows }, ...loaded.pages.slice(index + 2)],
    pageParams: [...upToHere.pageParams, fresh.next, ...loaded.pageParams.slice(index + 2)],
  }
}
