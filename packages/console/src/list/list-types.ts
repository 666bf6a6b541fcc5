import type { ReactNode } from 'react'

/** A column of a list. Its header is unique in the list, its width a track of CSS grid, such as `minmax(0, 2fr)` or `7rem`. */
export type ListColumn<Row> = readonly [
  header: string,
  width: string,
  cell: (row: Row) => ReactNode,
  options?: ColumnOptions,
]

interface ColumnOptions {
  readonly align?: 'right'
  /** The value of `sort` in the address for ascending order. Without it, the list cannot be sorted by the column. */
  readonly sort?: string
  /**
   * The position in a card, the form of a row in a narrow window: in the line of the title, at its end, in the second line (the
   * default), below it as buttons, or nowhere.
   */
  readonly card?: 'title' | 'end' | 'buttons' | 'none'
  /** The smallest window whose table shows the column. Cards show it in any case. */
  readonly from?: 'lg' | 'xl'
}

/** A filter with few values, shown as one button per value. */
export interface ListFilter {
  /** The name of the parameter in the address. */
  readonly name: string
  readonly label: string
  readonly options: readonly {
    readonly value: string
    readonly label: string
    /** The number of rows, which need not be known. */
    readonly count?: number | undefined
  }[]
  /** The count from which on the number is a minimum, shown as "10,000+". */
  readonly countLimit?: number | undefined
}

/** Most buttons of a filter whose values are not known in advance. */
const MAX_OPTIONS = 8

interface CountedValue {
  readonly value: string
  readonly count: number
}

/** Returns the most frequent values as options of a filter, and the selected one in any case. */
export function optionsOf(values: readonly CountedValue[] = [], selected: string | undefined) {
  const shown = values.slice(0, MAX_OPTIONS)
  const missing = selected !== undefined && !shown.some(({ value }) => value === selected)
  const count = values.find(({ value }) => value === selected)?.count
  return [
    ...shown.map((option) => ({ ...option, label: option.value })),
    ...(missing ? [{ value: selected, label: selected, count }] : []),
  ]
}
