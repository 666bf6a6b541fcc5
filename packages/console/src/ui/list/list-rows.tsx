import { Box, UnstyledButton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { type CSSProperties, useMemo } from 'react'
import styles from './list.module.css'
import { directionOf, type ListSearch, nextSort } from './list-search.ts'
import type { ListColumn } from './list-types.ts'
import type { ListRows as LoadedRows } from './use-list-pages.ts'
import { useRowKeys } from './use-row-keys.ts'
import { useVirtualRows } from './use-virtual-rows.ts'

const ROW_HEIGHT = 30
/** The height of a card with one line below its title. Cards with buttons are measured. */
const CARD_HEIGHT = 64

const useIsNarrower = (em: number) =>
  useMediaQuery(`(max-width: ${em - 0.01}em)`, undefined, { getInitialValueInEffect: false })

/** Returns whether the window is too narrow for a table, so that rows are cards: a phone or a small tablet. */
export const useCards = () => useIsNarrower(62)

/** Returns the columns that the window has room for. */
function useFittingColumns<Row>(columns: readonly ListColumn<Row>[]): readonly ListColumn<Row>[] {
  const [cards, narrow, medium] = [useCards(), useIsNarrower(75), useIsNarrower(88)]
  return useMemo(
    () =>
      cards
        ? columns.filter(({ card }) => card !== 'none')
        : columns.filter(({ from }) => !(narrow && from !== undefined) && !(medium && from === 'xl')),
    [columns, cards, narrow, medium],
  )
}

interface Props<Row> {
  readonly label: string
  readonly columns: readonly ListColumn<Row>[]
  readonly list: LoadedRows<Row>
  readonly rows: readonly Row[]
  readonly search: ListSearch
  readonly onSort: (sort: string) => void
  /** Attributes of a row, such as `data-testid`. */
  readonly rowProps?: ((row: Row) => Record<`data-${string}`, string>) | undefined
}

/** Renders the visible rows of a list: a table, or cards in a narrow window. */
export function ListRows<Row extends { readonly id: string }>(props: Props<Row>) {
  const { label, list, rows, search, onSort, rowProps } = props
  const cards = useCards()
  const columns = useFittingColumns(props.columns)
  const rowHeight = cards ? CARD_HEIGHT : ROW_HEIGHT
  const { bodyRef, virtualizer, items } = useVirtualRows({ list, rows, rowHeight })
  const onKeyDown = useRowKeys(virtualizer, rows.length)
  const grid = useMemo(() => columns.map(({ width }) => width).join(' '), [columns])
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
      {!cards && <Head columns={columns} sort={search.sort} onSort={onSort} />}
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
              {columns.map((column) => (
                <Cell key={column.header} column={column} row={row} cards={cards} />
              ))}
            </Box>
          )
        })}
      </Box>
    </Box>
  )
}

function Cell<Row>({ column, row, cards }: { column: ListColumn<Row>; row: Row; cards: boolean }) {
  const { cell, align, card = 'line' } = column
  return (
    <Box role="cell" className={styles.cell} data-align={cards ? undefined : align} data-card={card}>
      {cell(row)}
    </Box>
  )
}

interface HeadProps<Row> {
  readonly columns: readonly ListColumn<Row>[]
  readonly sort: string | undefined
  readonly onSort: (sort: string) => void
}

function Head<Row>({ columns, sort, onSort }: HeadProps<Row>) {
  return (
    <Box role="rowgroup" className={styles.head}>
      <Box role="row" aria-rowindex={1} className={styles.row}>
        {columns.map((column) => (
          <Heading key={column.header} column={column} sort={sort} onSort={onSort} />
        ))}
      </Box>
    </Box>
  )
}

function Heading<Row>(props: { column: ListColumn<Row> } & Omit<HeadProps<Row>, 'columns'>) {
  const { column, sort, onSort } = props
  const { header, align, sort: sortName } = column
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
