import { Button, Center, Loader, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { labelInSentence } from '../base/format.ts'
import { Empty, Loading, Note, Problem } from '../base/states.tsx'
import { t } from '../texts/texts.ts'
import { ListHeader } from './list-header.tsx'
import type { ListRows as LoadedRows, WithId } from './list-pages.ts'
import { ListRows } from './list-rows.tsx'
import type { ListSearch } from './list-search.ts'
import type { ListColumn, ListFilter } from './list-types.ts'

interface Props<Row, S extends ListSearch> {
  /** The accessible name, a plural noun such as "Robots". */
  readonly label: string
  /** The name under which the browser stores the views of this list. */
  readonly name: string
  readonly columns: readonly ListColumn<Row>[]
  /** The result of `useListPages`. */
  readonly list: LoadedRows<Row>
  /** Search text, order and filters from the address: `useSearch()`. */
  readonly search: S
  /** Reads search parameters, as `validateSearch` of the route does. */
  readonly readSearch: (raw: Record<string, unknown>) => S
  /** Writes search parameters to the address. Replace the entry of the history, and do not reset the scroll position. */
  readonly onSearch: (next: S) => void
  /** The placeholder of the search field. Without it the list has none. */
  readonly searchHint?: string
  /** Filters with few values, one row of buttons each. */
  readonly filters?: readonly ListFilter[]
  /** Further fields beside the search field, such as a `ServerSelect`. They call `onSearch` themselves. */
  readonly fields?: ReactNode
  /** Shown instead of the list when it has no rows without any filter. */
  readonly empty: ReactNode
  /** Whether rows have two lines. */
  readonly isTall?: boolean
  /** Attributes of a row, such as `data-testid`. */
  readonly rowProps?: (row: Row) => Record<`data-${string}`, string>
}

/**
 * Renders a list that may be long: search field, filters with counts, sortable columns, saved views, and virtual rows that
 * load further pages while the user scrolls. On a phone rows are cards. The address holds the state, so that links and
 * going back restore it, with the scroll position.
 *
 * 1. Declare the search parameters of the route with `parameter` and `textParameter` of `list-search.ts`; a function
 *    that parses them is both `validateSearch` and `readSearch`.
 * 2. `useListPages({ queryKey, load, refreshMs })` loads the pages. The key contains all parameters.
 * 3. Declare the columns outside the component. A column with `sort` gets a header that sorts, and the value in `search.sort`.
 *
 * Keys: / focuses the search field, arrows, Home and End move between rows, Enter opens the link of a row.
 */
export function DataList<Row extends WithId, S extends ListSearch>(props: Props<Row, S>) {
  const { label, name, columns, list, search, readSearch, onSearch, searchHint, filters = [] } = props
  const change = (part: Readonly<Record<string, unknown>>) => onSearch(readSearch({ ...search, ...part }))
  const isFiltered = Object.entries(search).some(([key, value]) => key !== 'sort' && value !== undefined)
  return (
    <Stack component="section" aria-label={label} gap="xs">
      {(isFiltered || list.rows === undefined || list.rows.length > 0) && (
        <ListHeader
          label={label}
          name={name}
          columns={columns}
          search={search}
          searchHint={searchHint}
          filters={filters}
          onChange={change}
          onApplyView={(view) => onSearch(readSearch({ ...view }))}
        >
          {props.fields}
        </ListHeader>
      )}
      {list.error !== null && <Problem error={list.error} onRetry={list.retry} />}
      {list.rows === undefined && !list.error && <Loading />}
      {list.rows?.length === 0 &&
        (isFiltered ? (
          <NoMatches label={label} onReset={() => onSearch(readSearch({ sort: search.sort }))} />
        ) : (
          props.empty
        ))}
      {list.rows !== undefined && list.rows.length > 0 && (
        <>
          <ListRows
            label={label}
            columns={columns}
            list={list}
            rows={list.rows}
            search={search}
            onSort={(sort) => change({ sort })}
            isTall={props.isTall}
            rowProps={props.rowProps}
          />
          <End list={list} count={list.rows.length} />
        </>
      )}
    </Stack>
  )
}

const NoMatches = ({ label, onReset }: { label: string; onReset: () => void }) => (
  <Empty
    title={t('ui.list.noMatching', { label: labelInSentence(label) })}
    action={
      <Button variant="default" onClick={onReset}>
        {t('ui.list.showAll')}
      </Button>
    }
  />
)

const End = ({ list, count }: { list: Pick<LoadedRows<unknown>, 'hasMore'>; count: number }) =>
  list.hasMore ? (
    <Center p="xs" role="status" aria-label={t('ui.list.loadingMore')}>
      <Loader size="sm" />
    </Center>
  ) : (
    <Note role="status">{t('ui.list.total', { rows: count })}</Note>
  )
