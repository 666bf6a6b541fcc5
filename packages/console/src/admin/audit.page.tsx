import { Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { typeWords as words } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { AuditData, AuditFilters } from '../audit/audit-log.tsx'
import type { AuditSearch } from '../audit/search.ts'
import { RowTable } from '../base/data-table.tsx'
import { LinkAnchor } from '../base/links.tsx'
import { Time } from '../base/time.tsx'
import { keys } from '../platform/queries.ts'
import { usePages } from '../platform/rest.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { AdminPage, firstPagePolls, PagesView } from './admin-page.tsx'

export const AuditPage = () => (
  <AdminPage title={t('audit.title')} description={t('audit.description')}>
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
      <AuditFilters
        search={search}
        onSearch={applySearch}
        shown={['actor', 'subject', 'action', 'since', 'until']}
      />
      <PagesView query={query} empty={t('audit.noMatch')}>
        {(entries) => <AuditTable entries={entries} search={search} />}
      </PagesView>
    </>
  )
}

type Entry = Schemas['AuditEntry']
const AuditTable = ({ entries, search }: { entries: readonly Entry[]; search: AuditSearch }) => (
  <RowTable
    label={t('audit.title')}
    minWidth={760}
    verticalSpacing="xs"
    rows={entries}
    rowProps={({ id }) => ({ 'data-entry': String(id), style: { verticalAlign: 'top' } })}
    columns={[
      [t('audit.time'), ({ at }) => <Time at={at} exact />, { style: { whiteSpace: 'nowrap' } }],
      [
        t('audit.actor'),
        ({ actor_id, actor_name }) =>
          actor_id === null ? (
            t('audit.platform')
          ) : (
            <LinkAnchor to="/admin/audit" search={{ ...search, actor: actor_id }}>
              {actor_name ?? t('audit.unknownUser')}
            </LinkAnchor>
          ),
      ],
      [
        t('audit.action'),
        ({ action }) => (
          <LinkAnchor to="/admin/audit" search={{ ...search, action }}>
            {words(action)}
          </LinkAnchor>
        ),
      ],
      [
        t('audit.target'),
        (entry) => {
          const target = <Target entry={entry} search={search} />
          return (
            <>
              {words(entry.subject_type)}
              <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
                {entry.subject_deleted ? textParts('audit.deleted', { target }) : target}
              </Text>
            </>
          )
        },
      ],
      [t('audit.details'), ({ data }) => <AuditData data={data} />],
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
