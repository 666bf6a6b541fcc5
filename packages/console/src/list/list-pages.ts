import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { useCallback, useMemo, useRef } from 'react'
import type { Answer } from '../platform/rest.ts'

interface Options<Row> {
  /** Begins with a root of `platform/queries.ts`, whose events refresh the list, and contains all that selects rows. */
  readonly queryKey: readonly unknown[]
  /** Requests the page after a cursor, the first page without one. */
  readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<Row>>
  /** The time between two refreshes of the visible rows. */
  readonly refreshMs: number
}

/** The loaded rows of a list, and what `DataList` needs to load and refresh them. */
export interface ListRows<Row> {
  /** Undefined until the first page arrives. */
  readonly rows: readonly Row[] | undefined
  readonly error: unknown
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  /** Whether the rows are those of the previous search, until the first page of the new one arrives. */
  readonly isOutdated: boolean
  /** The time of the last load or refresh. */
  readonly updatedAtMs: number
  retry(): void
  loadMore(): void
  /** Reports which rows are visible. Only the pages of visible rows are refreshed. */
  onVisible(first: number, last: number): void
}

/**
 * Loads a list page by page. The pages stay in the query cache, so that going back shows the same rows at once. A
 * refresh, by time or by a live event, requests the visible pages only: the cost does not grow with the rows that were
 * loaded by scrolling.
 */
export function useListPages<Row extends WithId>({ queryKey, load, refreshMs }: Options<Row>): ListRows<Row> {
  const queries = useQueryClient()
  const visible = useRef({ first: 0, last: 0 })
  const pagesKey = ['list-pages', ...queryKey]
  const pages = useInfiniteQuery({
    queryKey: pagesKey,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    // Only the refresh below changes loaded pages: a refetch would request all of them.
    staleTime: 'static',
    placeholderData: keepPreviousData,
  })
  const loadedAtMs = pages.isPlaceholderData ? undefined : pages.dataUpdatedAt
  const refresh = useQuery({
    queryKey: [...queryKey, 'refresh'],
    queryFn: async ({ signal }) => {
      const loaded = queries.getQueryData<LoadedPages<Row>>(pagesKey)
      if (!loaded) return 0
      const { first, last } = visible.current
      for (const index of pagesWith(loaded.pages, first, last)) {
        const cursor = loaded.pageParams[index]
        const fresh = await load(cursor, signal)
        queries.setQueryData<LoadedPages<Row>>(
          pagesKey,
          // The page may have moved or gone while the request was on its way.
          (now) => now && (now.pageParams[index] === cursor ? replacePage(now, index, fresh) : now),
        )
      }
      return Date.now()
    },
    enabled: loadedAtMs !== undefined && pages.isSuccess,
    initialData: 0,
    // A page that was just loaded is not requested twice.
    initialDataUpdatedAt: () => queries.getQueryState(pagesKey)?.dataUpdatedAt || undefined,
    refetchInterval: refreshMs,
  })
  const { data, fetchNextPage, isFetching, refetch } = pages
  const { refetch: refetchVisible } = refresh
  const rows = useMemo(() => data && rowsOf(data.pages), [data])
  const onVisible = useCallback((first: number, last: number) => {
    visible.current = { first, last }
  }, [])
  return {
    rows,
    error: pages.error ?? refresh.error,
    hasMore: pages.hasNextPage,
    isLoadingMore: pages.isFetchingNextPage,
    isOutdated: pages.isPlaceholderData,
    updatedAtMs: Math.max(pages.dataUpdatedAt, refresh.data ?? 0),
    retry: useCallback(() => {
      if (pages.isFetchNextPageError) void fetchNextPage()
      else if (pages.error) void refetch()
      else void refetchVisible()
    }, [pages.isFetchNextPageError, pages.error, fetchNextPage, refetch, refetchVisible]),
    loadMore: useCallback(() => {
      if (!isFetching) void fetchNextPage()
    }, [isFetching, fetchNextPage]),
    onVisible,
  }
}

/** One page of a list that continues after a cursor. */
export interface ListPage<Row> {
  readonly rows: readonly Row[]
  /** The cursor of the next page; null at the end of the list. */
  readonly next: string | null
}

/** Reads a page whose answer names the cursor of the next one in a header. */
export async function pageOf<A extends Answer, Row>(
  pending: Promise<A>,
  rowsOf: (body: Awaited<ReturnType<typeof answerOf<A>>>) => readonly Row[],
): Promise<ListPage<Row>> {
  const rows = rowsOf(await answerOf(pending))
  return { rows, next: (await pending).response.headers.get('X-Next-Cursor') }
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
