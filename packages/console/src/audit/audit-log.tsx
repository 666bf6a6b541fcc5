import { Button, Card, Group, SimpleGrid, Text, TextInput } from '@mantine/core'
import { plainWords, typeWords as words } from '@wheelhouse/protocol'
import { type FormEvent, type ReactNode, useState } from 'react'
import { dateTime, money, shortList } from '../base/format.ts'
import { language, t } from '../texts/texts.ts'
import { type AuditSearch, readAuditSearch } from './search.ts'

const fields = [
  { name: 'actor', label: t('audit.actorId'), type: 'text' },
  { name: 'subject', label: t('audit.targetId'), type: 'text' },
  { name: 'action', label: t('audit.action'), type: 'text' },
  { name: 'since', label: t('audit.from'), type: 'datetime-local' },
  { name: 'until', label: t('audit.until'), type: 'datetime-local' },
] as const

/** Filters an audit log. Typed values take effect when the user applies them. */
export function AuditFilters(props: {
  readonly search: AuditSearch
  readonly onSearch: (next: AuditSearch) => void
  readonly shown: readonly (typeof fields)[number]['name'][]
  /** Fields that take effect at once. */
  readonly children?: ReactNode
}) {
  const { search, onSearch, shown, children } = props
  const shownFields = fields.filter(({ name }) => shown.includes(name))
  const [typed, setTyped] = useState(() => toInputValues(search))
  const [applied, setApplied] = useState(search)
  // A link in the table changed the filters.
  if (applied !== search) {
    setApplied(search)
    setTyped(toInputValues(search))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSearch(readAuditSearch({ ...search, ...typed }))
  }
  return (
    <Card padding="sm" component="form" onSubmit={submit} role="search" aria-label={t('audit.filters')}>
      <SimpleGrid cols={{ base: 1, xs: 2, md: shownFields.length + (children ? 1 : 0) }} spacing="xs">
        {children}
        {shownFields.map(({ name, label, type }) => (
          <TextInput
            key={name}
            label={label}
            type={type}
            value={typed[name] ?? ''}
            onChange={({ currentTarget: { value } }) => setTyped((old) => ({ ...old, [name]: value }))}
          />
        ))}
      </SimpleGrid>
      <Group mt="sm" gap="xs">
        <Button type="submit">{t('audit.apply')}</Button>
        <Button variant="default" onClick={() => onSearch({})}>
          {t('audit.showAll')}
        </Button>
      </Group>
    </Card>
  )
}

const toInputValues = (search: AuditSearch): AuditSearch => ({
  ...search,
  since: search.since && inputTime(search.since),
  until: search.until && inputTime(search.until),
})

/** Returns a time as a `datetime-local` field shows it: in the viewer's zone, without an offset. */
function inputTime(iso: string): string {
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** Shows the further data of an entry. */
export const AuditData = ({ data }: { data: Readonly<Record<string, unknown>> }) => (
  <dl style={{ margin: 0, display: 'grid', gridTemplateColumns: 'auto 1fr', columnGap: '0.75rem' }}>
    {Object.entries(data).map(([name, value]) => (
      <div key={name} style={{ display: 'contents' }}>
        <Text component="dt" size="sm" c="dimmed">
          {words(name.replace(/_(cents|at)$/, ''))}
        </Text>
        <Text component="dd" size="sm" m={0} style={{ overflowWrap: 'anywhere' }}>
          {formatValue(name, value)}
        </Text>
      </div>
    ))}
  </dl>
)

const codeLabel = (value: string): string =>
  /^[A-Z]+(_[A-Z]+)*$/.test(value) ? words(value.toLowerCase()) : plainWords(value)

/** Returns a value as text. The suffix of the field name (`_cents`, `_at`) selects the format. */
function formatValue(name: string, value: unknown): string {
  if (value === null || value === undefined) return t('audit.none')
  if (typeof value === 'number' && name.endsWith('_cents')) return money(value)
  if (typeof value === 'string' && name.endsWith('_at') && !Number.isNaN(Date.parse(value)))
    return dateTime(value)
  if (typeof value === 'boolean') return t(value ? 'audit.yes' : 'audit.no')
  if (typeof value === 'string') return codeLabel(value)
  if (typeof value === 'number') return value.toLocaleString(language)
  if (Array.isArray(value))
    return shortList.format(value.map((item) => formatValue(name, item))) || t('audit.none')
  return Object.entries(value)
    .map(([key, item]) => `${words(key.replace(/_(cents|at)$/, ''))}: ${formatValue(key, item)}`)
    .join('; ')
}
