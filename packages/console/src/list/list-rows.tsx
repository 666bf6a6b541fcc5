import { Box, UnstyledButton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { defaultRangeExtractor, useWindowVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import {
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import styles from './list.module.css'
import type { ListRows as LoadedRows } from './list-pages.ts'
import { directionOf, type ListSearch, nextSort } from './list-search.ts'
import type { ListColumn } from './list-types.ts'

const ROW_HEIGHT = 30
/** The height of a row with two lines and a picture. */
const TALL_ROW_HEIGHT = 60
/** The height of a card with one line below its title. Cards with buttons are measured. */
const CARD_HEIGHT = 64

const useIsNarrower = (em: number) =>
  useMediaQuery(`(max-width: ${em - 0.01}em)`, undefined, { getInitialValueInEffect: false })

/** Returns whether the window is too narrow for a table, so that rows are cards: a phone or a small tablet. */
export const useCards = () => useIsNarrower(62)

function useFittingColumns<Row>(columns: readonly ListColumn<Row>[]): readonly ListColumn<Row>[] {
  const [cards, narrow, medium] = [useCards(), useIsNarrower(75), useIsNarrower(88)]
  return useMemo(
    () =>
      cards
        ? columns.filter(([, , , { card } = {}]) => card !== 'none')
        : columns.filter(
            ([, , , { from } = {}]) => !(narrow && from !== undefined) && !(medium && from === 'xl'),
          ),
    [columns, cards, narrow, medium],
  )
}

/** What the rows of a list need to know of it. */
export interface RowsProps<Row> {
  /** The accessible name, a plural noun such as "Robots". */
  readonly label: string
  readonly columns: readonly ListColumn<Row>[]
  /** The result of `useListPages`. */
  readonly list: LoadedRows<Row>
  /** Whether rows have two lines. */
  readonly isTall?: boolean
  /** Attributes of a row, such as `data-testid`. */
  readonly rowProps?: (row: Row) => Record<`data-${string}`, string>
}

interface Props<Row> extends RowsProps<Row> {
  readonly rows: readonly Row[]
  readonly search: ListSearch
  readonly onSort: (sort: string) => void
}

/** Renders the visible rows of a list: a table, or cards in a narrow window. */
export function ListRows<Row extends { readonly id: string }>(props: Props<Row>) {
  const { label, list, rows, search, onSort, isTall = false, rowProps } = props
  const cards = useCards()
  const columns = useFittingColumns(props.columns)
  const rowHeight = cards ? CARD_HEIGHT : isTall ? TALL_ROW_HEIGHT : ROW_HEIGHT
  const { bodyRef, virtualizer, items } = useVirtualRows(list, rows, rowHeight)
  const onKeyDown = useRowKeys(virtualizer, rows.length)
  const grid = useMemo(() => columns.map(([, width]) => width).join(' '), [columns])
  return (
    // Arrow keys move between the links of rows. Tab reaches each of them as well.
    <Box
      role="table"
      aria-label={label}
      aria-rowcount={list.hasMore ? -1 : rows.length + 1}
      aria-busy={list.isOutdated || list.isLoadingMore}
      style={{ '--columns': grid, '--row-height': `${rowHeight}px` } as CSSProperties}
      onKeyDown={onKeyDown}
    >
      {!cards && (
        <Box role="rowgroup" className={styles.head}>
          <Box role="row" aria-rowindex={1} className={styles.row}>
            {columns.map((column) => (
              <Heading key={column[0]} column={column} sort={search.sort} onSort={onSort} />
            ))}
          </Box>
        </Box>
      )}
      <Box
        role="rowgroup"
        ref={bodyRef}
        className={styles.body}
        data-outdated={list.isOutdated}
        style={{ height: virtualizer.getTotalSize() }}
      >
        {items.map(({ index, start }) => {
          const row = rows[index]
          if (!row) return null
          return (
            <Box
              key={row.id}
              ref={cards ? virtualizer.measureElement : undefined}
              role="row"
              aria-rowindex={index + 2}
              data-index={index}
              className={cards ? `${styles.row} ${styles.card}` : styles.row}
              style={{ transform: `translateY(${start - virtualizer.options.scrollMargin}px)` }}
              {...rowProps?.(row)}
            >
              {columns.map(([header, , cell, { align, card = 'line' } = {}]) => (
                <Box
                  key={header}
                  role="cell"
                  className={styles.cell}
                  data-align={cards ? undefined : align}
                  data-card={card}
                  onMouseEnter={showWhole}
                >
                  {cell(row)}
                </Box>
              ))}
            </Box>
          )
        })}
      </Box>
    </Box>
  )
}

/** Shows the text of a cell that is cut as its title. */
function showWhole({ currentTarget: cell }: MouseEvent<HTMLElement>): void {
  const isCut = cell.scrollWidth > cell.clientWidth
  if (isCut) cell.title = cell.textContent
  else cell.removeAttribute('title')
}

function Heading<Row>(props: {
  column: ListColumn<Row>
  sort: string | undefined
  onSort: (sort: string) => void
}) {
  const { column, sort, onSort } = props
  const [header, , , { align, sort: sortName } = {}] = column
  const direction = sortName === undefined ? undefined : directionOf(sort, sortName)
  return (
    <Box
      role="columnheader"
      aria-sort={direction}
      className={`${styles.cell} ${styles.heading}`}
      data-align={align}
    >
      {sortName === undefined ? (
        header
      ) : (
        <UnstyledButton className={styles.sort} onClick={() => onSort(nextSort(sort, sortName))}>
          {header}
          <span aria-hidden="true">{direction ? (direction === 'ascending' ? ' ↑' : ' ↓') : ' ↕'}</span>
        </UnstyledButton>
      )}
    </Box>
  )
}

/** Rows beyond the window that are rendered, so that arrow keys always find the next one. */
const OVERSCAN = 10
/** The next page is requested when fewer rows than this follow the visible ones. */
const ROWS_AHEAD = 30

/**
 * Decides which rows are rendered: those in the window, and the one with the focus. Loads the next page before the end is
 * in view, and reports the visible rows to the list.
 */
function useVirtualRows<Row extends { readonly id: string }>(
  list: LoadedRows<Row>,
  rows: readonly Row[],
  rowHeight: number,
) {
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

function focusedIndex(body: HTMLElement | null): number | undefined {
  const focused = document.activeElement?.closest<HTMLElement>('[data-index]')
  return focused && body?.contains(focused) ? Number(focused.dataset.index) : undefined
}

/** Returns a handler that moves the focus between the first links of rows: up, down, Home and End. Enter opens a link. */
function useRowKeys(virtualizer: Pick<Virtualizer<Window, Element>, 'scrollToIndex'>, count: number) {
  return (event: KeyboardEvent<HTMLElement>) => {
    const table = event.currentTarget
    const row = (event.target as HTMLElement).closest<HTMLElement>('[data-index]')
    if (!row || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
    // In an open menu or a field the keys have their usual function.
    if ((event.target as HTMLElement).closest('input,select,textarea,[role=menu],[role=listbox]')) return
    const next = nextIndex(event.key, Number(row.dataset.index), count)
    if (next === undefined) return
    event.preventDefault()
    virtualizer.scrollToIndex(next, { align: 'auto' })
    focusRow(table, next)
  }
}

function nextIndex(key: string, index: number, count: number): number | undefined {
  if (key === 'ArrowDown') return Math.min(count - 1, index + 1)
  if (key === 'ArrowUp') return Math.max(0, index - 1)
  if (key === 'Home') return 0
  return key === 'End' ? count - 1 : undefined
}

/** Attempts to focus a row after a jump, in frames: rows far away are rendered after the scroll. */
const MAX_FRAMES = 20

/** Focuses the first link or button of a row, as soon as the row is rendered. */
export function focusRow(table: HTMLElement, index: number, frames = MAX_FRAMES): void {
  const target = table.querySelector<HTMLElement>(
    `[data-index="${index}"] :is(a[href], button:not(:disabled))`,
  )
  if (target) target.focus()
  else if (frames > 0) requestAnimationFrame(() => focusRow(table, index, frames - 1))
}
