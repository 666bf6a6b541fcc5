import { Box, Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { language, t } from '../../texts/texts.ts'
import { labelInSentence } from '../format.ts'
import styles from './list.module.css'
import { useCards } from './list-rows.tsx'
import type { ListSearch } from './list-search.ts'
import type { ListColumn, ListFilter } from './list-types.ts'
import { SearchField } from './search-field.tsx'
import { ViewsMenu } from './views-menu.tsx'

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
        <Box className={styles.filters}>
          {filters.map((filter) => (
            <Chips
              key={filter.name}
              filter={filter}
              value={(search as Readonly<Record<string, unknown>>)[filter.name]}
              onChange={(value) => onChange({ [filter.name]: value })}
            />
          ))}
        </Box>
      )}
    </Stack>
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

/** Selects the order on a phone, where cards have no column headers. */
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
