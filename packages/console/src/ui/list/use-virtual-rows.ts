import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { ListRows as LoadedRows } from './use-list-pages.ts'

/** Rows beyond the window that are rendered, so that arrow keys always find the next one. */
const OVERSCAN = 10
/** The next page is requested when fewer rows than this follow the visible ones. */
const ROWS_AHEAD = 30

interface Options<Row> {
  readonly list: LoadedRows<Row>
  readonly rows: readonly Row[]
  readonly rowHeight: number
}

/**
 * Decides which rows are rendered: those in the window, and the one with the focus. Loads the next page before the end is
 * in view, and reports the visible rows to the list.
 */
export function useVirtualRows<Row extends { readonly id: string }>({ list, rows, rowHeight }: Options<Row>) {
  const bodyRef = useRef<HTMLDivElement>(null)
  const [scrollMargin, setScrollMargin] = useState(0)
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: OVERSCAN,
    scrollMargin,
    rangeExtractor: (range) => {
      const indexes = defaultRangeExtractor(range)
      const focused = focusedIndex(bodyRef.current)
      if (focused === undefined || focused >= range.count || indexes.includes(focused)) return indexes
      return [...indexes, focused].sort((a, b) => a - b)
    },
  })

  // The height above the list may change with every render, such as the number of lines of the filters.
  useLayoutEffect(() => {
    const top = bodyRef.current?.getBoundingClientRect().top
    if (top !== undefined) setScrollMargin(Math.round(top + window.scrollY))
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height makes the stored sizes invalid
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, rowHeight])

  const { startIndex = 0, endIndex = 0 } = virtualizer.range ?? {}
  const { onVisible, loadMore, hasMore, isLoadingMore, error } = list
  useEffect(() => onVisible(startIndex, endIndex), [onVisible, startIndex, endIndex])
  const wantsMore = hasMore && !isLoadingMore && !error && endIndex + ROWS_AHEAD >= rows.length
  useEffect(() => {
    if (wantsMore) loadMore()
  }, [wantsMore, loadMore])

  return { bodyRef, virtualizer, items: virtualizer.getVirtualItems() }
}

/** Returns the index of the row that contains the focus. */
function focusedIndex(body: HTMLElement | null): number | undefined {
  const focused = document.activeElement?.closest<HTMLElement>('[data-index]')
  return focused && body?.contains(focused) ? Number(focused.dataset.index) : undefined
}
