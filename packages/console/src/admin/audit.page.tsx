import { Button, Card, Group, SimpleGrid, Text, TextInput } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { plainWords, typeWords as words } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { type FormEvent, useState } from 'react'
import { RowTable } from '../base/data-table.tsx'
import { dateTime, money, shortList } from '../base/format.ts'
import { LinkAnchor } from '../base/links.tsx'
import { Time } from '../base/time.tsx'
import { keys } from '../platform/queries.ts'
import { usePages } from '../platform/rest.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { AdminPage, firstPagePolls, PagesView } from './admin-page.tsx'
import { type AuditSearch, readAuditSearch } from './search.ts'

export const AuditPage = () => (
  <AdminPage title={t('admin.audit.title')} description={t('admin.audit.description')}>
    <Log />
  </AdminPage>
)

function Log() {
  const search = useSearch({ from: '/shell/admin/audit' })
  const navigate = useNavigate({ from: '/admin/audit' })
  const applySearch = (next: AuditSearch) => void navigate({ search: next })
  const { actor, subject, action, since, until } = search
  const query = usePages([...keys.audit, search], firstPagePolls, async (rest, { limit, before }, signal) => {
    const filter = { actor_id: actor, subject_id: subject, action, since, until }
    const params = { query: { limit, ...(before && { before: Number(before) }), ...filter } }
    return (await answerOf(rest.GET('/api/admin/audit', { params, signal }))).entries
  })
  return (
    <>
      <AuditFilters search={search} onSearch={applySearch} />
      <PagesView query={query} empty={t('admin.audit.noMatch')}>
        {(entries) => <AuditTable entries={entries} search={search} />}
      </PagesView>
    </>
  )
}

const fields = [
  { name: 'actor', label: t('admin.audit.actorId'), type: 'text' },
  { name: 'subject', label: t('admin.audit.targetId'), type: 'text' },
  { name: 'action', label: t('admin.audit.action'), type: 'text' },
  { name: 'since', label: t('admin.audit.from'), type: 'datetime-local' },
  { name: 'until', label: t('admin.audit.until'), type: 'datetime-local' },
] as const

/** Filters the audit log. Typed values take effect when the user applies them. */
function AuditFilters(props: { search: AuditSearch; onSearch: (next: AuditSearch) => void }) {
  const { search, onSearch } = props
  const [typed, setTyped] = useState(() => toInputValues(search))
  const [applied, setApplied] = useState(search)
  // A link in the table changed the filters.
  if (applied !== search) {
    setApplied(search)
    setTyped(toInputValues(search))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSearch(readAuditSearch({ ...typed }))
  }
  return (
    <Card padding="sm" component="form" onSubmit={submit} role="search" aria-label={t('admin.audit.filters')}>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 5 }} spacing="xs">
        {fields.map(({ name, label, type }) => (
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
        <Button type="submit">{t('admin.audit.apply')}</Button>
        <Button variant="default" onClick={() => onSearch({})}>
          {t('admin.audit.showAll')}
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

type Entry = Schemas['AuditEntry']
const AuditTable = ({ entries, search }: { entries: readonly Entry[]; search: AuditSearch }) => (
  <RowTable
    label={t('admin.audit.title')}
    minWidth={760}
    verticalSpacing="xs"
    rows={entries}
    rowProps={({ id }) => ({ 'data-entry': String(id), style: { verticalAlign: 'top' } })}
    columns={[
      [t('admin.audit.time'), ({ at }) => <Time at={at} exact />, { style: { whiteSpace: 'nowrap' } }],
      [
        t('admin.audit.actor'),
        ({ actor_id, actor_name }) =>
          actor_id === null ? (
            t('admin.audit.platform')
          ) : (
            <LinkAnchor to="/admin/audit" search={{ ...search, actor: actor_id }}>
              {actor_name ?? t('admin.audit.unknownUser')}
            </LinkAnchor>
          ),
      ],
      [
        t('admin.audit.action'),
        ({ action }) => (
          <LinkAnchor to="/admin/audit" search={{ ...search, action }}>
            {words(action)}
          </LinkAnchor>
        ),
      ],
      [
        t('admin.audit.target'),
        (entry) => {
          const target = <Target entry={entry} search={search} />
          return (
            <>
              {words(entry.subject_type)}
              <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
                {entry.subject_deleted ? textParts('admin.audit.deleted', { target }) : target}
              </Text>
            </>
          )
        },
      ],
      [t('admin.audit.details'), ({ data }) => <AuditData data={data} />],
    ]}
  />
)

const shortId = (id: string) => (id.length > 13 ? `${id.slice(0, 8)}…` : id)

const Target = ({ entry, search }: { entry: Entry; search: AuditSearch }) => (
  <LinkAnchor
    inherit
    to="/admin/audit"
    search={{ ...search, subject: entry.subject_id }}
    title={entry.subject_id}
    aria-label={`${words(entry.subject_type)} ${entry.subject_name ?? entry.subject_id}`}
  >
    {entry.subject_name ?? shortId(entry.subject_id)}
  </LinkAnchor>
)

const AuditData = ({ data }: { data: Readonly<Record<string, unknown>> }) => (
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
  if (value === null || value === undefined) return t('admin.audit.none')
  if (typeof value === 'number' && name.endsWith('_cents')) return money(value)
  if (typeof value === 'string' && name.endsWith('_at') && !Number.isNaN(Date.parse(value)))
    return dateTime(value)
  if (typeof value === 'boolean') return t(value ? 'admin.audit.yes' : 'admin.audit.no')
  if (typeof value === 'string') return codeLabel(value)
  if (typeof value === 'number') return value.toLocaleString(language)
  if (Array.isArray(value))
    return shortList.format(value.map((item) => formatValue(name, item))) || t('admin.audit.none')
  return Object.entries(value)
    .map(([key, item]) => `${words(key.replace(/_(cents|at)$/, ''))}: ${formatValue(key, item)}`)
    .join('; ')
}
