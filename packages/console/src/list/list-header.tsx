import {
  ActionIcon,
  Box,
  Button,
  Group,
  Kbd,
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
import { Note } from '../base/states.tsx'
import { useStore } from '../base/store.ts'
import { useMe } from '../platform/platform.ts'
import { language, t } from '../texts/texts.ts'
import styles from './list.module.css'
import { focusRow, useCards } from './list-rows.tsx'
import { type ListSearch, MAX_SEARCH } from './list-search.ts'
import type { ListColumn, ListFilter } from './list-types.ts'
import { createSavedViews, MAX_VIEW_NAME, withView } from './saved-views.ts'

interface Props<Row, S extends ListSearch> {
  readonly label: string
  readonly name: string
  readonly columns: readonly ListColumn<Row>[]
  readonly search: S
  /** The placeholder of the search field; no field without it. */
  readonly searchHint: string | undefined
  readonly filters: readonly ListFilter[]
  readonly onChange: (part: Readonly<Record<string, unknown>>) => void
  readonly onApplyView: (search: Readonly<Record<string, unknown>>) => void
  /** Further fields beside the search field. */
  readonly children?: ReactNode
}

/** Renders search field, filters, views and, on a phone, the order of a list. */
export function ListHeader<Row, S extends ListSearch>(props: Props<Row, S>) {
  const { label, name, columns, search, searchHint, filters, onChange, onApplyView, children } = props
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
        {children}
        <SortSelect columns={columns} sort={search.sort} onChange={(sort) => onChange({ sort })} />
        <ViewsMenu name={name} search={search} onApply={onApplyView} />
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
  const options = columns.flatMap(({ header, sort: name }) =>
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

interface SearchFieldProps {
  /** The text in the address. */
  readonly value: string | undefined
  readonly hint: string
  readonly onChange: (text: string) => void
}

/** Renders the search field of a list. The key / focuses it, the arrow down leads from it to the first row. */
function SearchField({ value = '', hint, onChange }: SearchFieldProps) {
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

interface ViewsMenuProps {
  /** The name of the list, for the storage. */
  readonly name: string
  readonly search: object
  readonly onApply: (search: Readonly<Record<string, unknown>>) => void
}

/** Applies, saves and removes views: named searches of a list. */
function ViewsMenu({ name, search, onApply }: ViewsMenuProps) {
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
