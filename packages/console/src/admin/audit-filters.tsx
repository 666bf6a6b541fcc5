import { Button, Card, Group, SimpleGrid, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { t } from '../texts/texts.ts'
import { type AuditSearch, readAuditSearch } from './audit-search.ts'

const fields = [
  { name: 'actor', label: t('admin.audit.actorId'), type: 'text' },
  { name: 'subject', label: t('admin.audit.targetId'), type: 'text' },
  { name: 'action', label: t('admin.audit.action'), type: 'text' },
  { name: 'since', label: t('admin.audit.from'), type: 'datetime-local' },
  { name: 'until', label: t('admin.audit.until'), type: 'datetime-local' },
] as const

/** Filters the audit log. Typed values take effect when the user applies them. */
export function AuditFilters(props: { search: AuditSearch; onSearch: (next: AuditSearch) => void }) {
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
    <Card
      withBorder
      padding="sm"
      component="form"
      onSubmit={submit}
      role="search"
      aria-label={t('admin.audit.filters')}
    >
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
