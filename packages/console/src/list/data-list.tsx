import {
  ActionIcon,
  Box,
  Button,
  Center,
  Group,
  Kbd,
  Loader,
  NativeSelect,
  Popover,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useDebouncedCallback, useWindowEvent } from '@mantine/hooks'
import { useRouter } from '@tanstack/react-router'
import {
  type FormEvent,
  type KeyboardEvent as ReactKeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { labelInSentence } from '../base/format.ts'
import { createPersisted } from '../base/persisted.ts'
import { Empty, Loading, Note, Problem } from '../base/states.tsx'
import { type Store, useStore } from '../base/store.ts'
import { useMe } from '../platform/platform.ts'
import { language, t } from '../texts/texts.ts'
import styles from './list.module.css'
import type { ListRows as LoadedRows, WithId } from './list-pages.ts'
import { focusRow, ListRows, type RowsProps, useCards } from './list-rows.tsx'
import { type ListSearch, MAX_SEARCH } from './list-search.ts'
import type { ListColumn, ListFilter } from './list-types.ts'

interface Props<Row, S extends ListSearch> extends RowsProps<Row> {
  /** The name under which the browser stores the views of this list. */
  readonly name: string
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
  /** Further fields beside the search field, such as a `RobotSelect`. They call `onSearch` themselves. */
  readonly fields?: ReactNode
  /** Shown instead of the list when it has no rows without any filter. */
  readonly empty: ReactNode
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
  const { label, list, search, readSearch, onSearch } = props
  const change = (part: Readonly<Record<string, unknown>>) => onSearch(readSearch({ ...search, ...part }))
  const isFiltered = Object.entries(search).some(([key, value]) => key !== 'sort' && value !== undefined)
  return (
    <Stack component="section" aria-label={label} gap="xs">
      {(isFiltered || list.rows === undefined || list.rows.length > 0) && (
        <ListHeader {...props} onChange={change} />
      )}
      {list.error !== null && <Problem error={list.error} onRetry={list.retry} />}
      {list.rows === undefined && !list.error && <Loading />}
      {list.rows?.length === 0 &&
        (isFiltered ? (
          <Empty
            title={t('ui.list.noMatching', { label: labelInSentence(label) })}
            action={
              <Button variant="default" onClick={() => onSearch(readSearch({ sort: search.sort }))}>
                {t('ui.list.showAll')}
              </Button>
            }
          />
        ) : (
          props.empty
        ))}
      {list.rows !== undefined && list.rows.length > 0 && (
        <>
          <ListRows {...props} rows={list.rows} onSort={(sort) => change({ sort })} />
          <End list={list} count={list.rows.length} />
        </>
      )}
    </Stack>
  )
}

const End = ({ list, count }: { list: Pick<LoadedRows<unknown>, 'hasMore'>; count: number }) =>
  list.hasMore ? (
    <Center p="xs" role="status" aria-label={t('ui.list.loadingMore')}>
      <Loader size="sm" />
    </Center>
  ) : (
    <Note role="status">{t('ui.list.total', { rows: count })}</Note>
  )

function ListHeader<Row, S extends ListSearch>(
  props: Props<Row, S> & { onChange: (part: Readonly<Record<string, unknown>>) => void },
) {
  const { label, name, columns, search, searchHint, filters = [], fields, onChange } = props
  return (
    <Stack gap="xs" component="search" aria-label={t('ui.list.filter', { label: labelInSentence(label) })}>
      <Group align="flex-end" gap="xs">
        {searchHint !== undefined && (
          <SearchField
            value={search.search}
            hint={searchHint}
            onChange={(text) => onChange({ search: text })}
          />
        )}
        {fields}
        <SortSelect columns={columns} sort={search.sort} onChange={(sort) => onChange({ sort })} />
        <ViewsMenu
          name={name}
          search={search}
          onApply={(view) => props.onSearch(props.readSearch({ ...view }))}
        />
      </Group>
      {filters.length > 0 && (
        <Filters>
          {filters.map((filter) => (
            <Chips
              key={filter.name}
              filter={filter}
              value={(search as Readonly<Record<string, unknown>>)[filter.name]}
              onChange={(value) => onChange({ [filter.name]: value })}
            />
          ))}
        </Filters>
      )}
    </Stack>
  )
}

/** Renders filters in one row, and what does not fit on request. */
function Filters({ children }: { children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  const [isCut, setCut] = useState(false)
  const row = useRef<HTMLDivElement>(null)
  const measure = useCallback(() => {
    if (row.current) setCut(row.current.scrollWidth > row.current.clientWidth)
  }, [])
  // The counts of the chips arrive later, and change their widths.
  useLayoutEffect(measure)
  useWindowEvent('resize', measure)
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Box ref={row} className={styles.filters} data-open={isOpen}>
        {children}
      </Box>
      {(isCut || isOpen) && (
        <Button size="compact-sm" variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? t('ui.list.fewer') : t('ui.list.more')}
        </Button>
      )}
    </Group>
  )
}

const countText = (count: number, limit: number | undefined) =>
  limit !== undefined && count >= limit
    ? `${limit.toLocaleString(language)}+`
    : count.toLocaleString(language)

/** Renders a filter as buttons with the number of rows of each value. A second press removes the filter. */
function Chips(props: { filter: ListFilter; value: unknown; onChange: (value: string | undefined) => void }) {
  const { filter, value: selected, onChange } = props
  return (
    <Box role="group" aria-label={filter.label} className={styles.chips}>
      {filter.options.map(({ value, label, count }) => (
        <Button
          key={value}
          size="compact-sm"
          radius="xl"
          variant={value === selected ? 'filled' : 'default'}
          aria-pressed={value === selected}
          onClick={() => onChange(value === selected ? undefined : value)}
          rightSection={
            count !== undefined && (
              <Text span inherit fw={400}>
                {countText(count, filter.countLimit)}
              </Text>
            )
          }
        >
          {label}
        </Button>
      ))}
    </Box>
  )
}

function SortSelect<Row>(props: {
  columns: readonly ListColumn<Row>[]
  sort: string | undefined
  onChange: (sort: string | undefined) => void
}) {
  const { columns, sort, onChange } = props
  const cards = useCards()
  const options = columns.flatMap(([header, , , { sort: name } = {}]) =>
    name === undefined
      ? []
      : [
          { value: name, label: `${header} ↑` },
          { value: `-${name}`, label: `${header} ↓` },
        ],
  )
  if (!cards || options.length === 0) return null
  return (
    <NativeSelect
      label={t('ui.list.sort')}
      value={sort ?? ''}
      data={[{ value: '', label: t('ui.list.defaultOrder') }, ...options]}
      onChange={({ currentTarget: { value } }) => onChange(value === '' ? undefined : value)}
    />
  )
}

/** Debounces requests while the user types. */
const DEBOUNCE_MS = 250

/** Renders the search field of a list. The key / focuses it, the arrow down leads from it to the first row. */
function SearchField(props: { value: string | undefined; hint: string; onChange: (text: string) => void }) {
  const { value = '', hint, onChange } = props
  const field = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(value)
  // The last text that this field wrote to the address. A different one comes from a link, a view, or the key Back.
  const written = useRef(value)
  const router = useRouter()
  const apply = useDebouncedCallback((text: string) => {
    // The user has followed a link since, and its page is loading: a change of this address would cancel that.
    if (router.latestLocation.pathname !== router.state.resolvedLocation?.pathname) return
    written.current = text.trim() === '' ? '' : text
    onChange(text)
  }, DEBOUNCE_MS)
  useEffect(() => {
    if (written.current === value) return
    written.current = value
    // A text that is typed but not yet applied would replace the one of the link.
    apply.cancel()
    setTyped(value)
  }, [value, apply])
  useWindowEvent('keydown', (event) => {
    if (event.key !== '/' || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    const target = event.target instanceof HTMLElement ? event.target : undefined
    if (target?.isContentEditable || target?.closest('input,textarea,select,[role=dialog]')) return
    event.preventDefault()
    field.current?.focus()
    field.current?.select()
  })
  const onKeyDown = (event: ReactKeyboardEvent<HTMLInputElement>) => {
    if (event.key !== 'ArrowDown') return
    const table = event.currentTarget.closest('section')?.querySelector<HTMLElement>('[role=table]')
    if (!table) return
    event.preventDefault()
    focusRow(table, 0)
  }
  return (
    <TextInput
      ref={field}
      label={t('common.search')}
      type="search"
      placeholder={hint}
      value={typed}
      maxLength={MAX_SEARCH}
      flex={1}
      miw={200}
      rightSection={<Kbd aria-hidden="true">/</Kbd>}
      rightSectionPointerEvents="none"
      data-page-search
      onKeyDown={onKeyDown}
      onChange={({ currentTarget: { value: text } }) => {
        setTyped(text)
        apply(text)
      }}
    />
  )
}

/** Applies, saves and removes views: named searches of a list. */
function ViewsMenu(props: {
  name: string
  search: object
  onApply: (search: Readonly<Record<string, unknown>>) => void
}) {
  const { name, search, onApply } = props
  const { id: userId } = useMe()
  const store = useMemo(() => createSavedViews(userId, name), [userId, name])
  const views = useStore(store)
  const [opened, setOpened] = useState(false)
  const [typed, setTyped] = useState('')
  const save = (event: FormEvent) => {
    event.preventDefault()
    const viewName = typed.trim()
    if (viewName === '') return
    store.update((old) => withView(old, { name: viewName, search: { ...search } }))
    setTyped('')
  }
  return (
    <Popover opened={opened} onChange={setOpened} trapFocus withRoles position="bottom-end" width={280}>
      <Popover.Target>
        <Button variant="default" onClick={() => setOpened(!opened)}>
          {t('ui.list.views')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('ui.list.views')}>
        <Stack gap="xs">
          {views.length === 0 && <Note>{t('ui.list.viewsNote')}</Note>}
          {views.map((view) => (
            <Group key={view.name} gap="xs" wrap="nowrap">
              <Button
                variant="subtle"
                size="xs"
                justify="flex-start"
                flex={1}
                onClick={() => {
                  setOpened(false)
                  onApply(view.search)
                }}
              >
                {view.name}
              </Button>
              <ActionIcon
                variant="subtle"
                aria-label={t('ui.list.removeView', { name: view.name })}
                onClick={() => store.update((old) => old.filter((other) => other.name !== view.name))}
              >
                ×
              </ActionIcon>
            </Group>
          ))}
          <form onSubmit={save}>
            <Group gap="xs" wrap="nowrap" align="flex-end">
              <TextInput
                label={t('ui.list.viewName')}
                size="xs"
                flex={1}
                value={typed}
                maxLength={MAX_VIEW_NAME}
                onChange={({ currentTarget: { value } }) => setTyped(value)}
              />
              <Button type="submit" size="xs">
                {t('ui.list.saveView')}
              </Button>
            </Group>
          </form>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

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

export function parseViews(text: string): readonly SavedView[] {
  const stored: unknown = JSON.parse(text)
  return Array.isArray(stored) ? stored.filter(isView).slice(-MAX_VIEWS) : []
}

/** Creates the views of a list of a user, stored in this browser. Invalid content counts as none. */
const createSavedViews = (userId: string, list: string): Store<readonly SavedView[]> =>
  createPersisted<readonly SavedView[]>(`wheelhouse-views:${list}:${userId}`, [], parseViews, JSON.stringify)

/** Returns the views with one more, which replaces a view of the same name. The oldest ones give way at the limit. */
export const withView = (views: readonly SavedView[], view: SavedView): readonly SavedView[] =>
  [...views.filter(({ name }) => name !== view.name), view].slice(-MAX_VIEWS)
