import { Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import { SessionStatus } from '@wheelhouse/protocol'
import { DataList } from '../list/data-list.tsx'
import { isOnlyAdmin, useMe } from '../platform/platform.ts'
import { sessionStatusTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import { ExportButtons } from './export-button.tsx'
import { ListFields } from './list-fields.tsx'
import { readSessionSearch, type SessionSearch } from './list-search.ts'
import { sessionColumns } from './session-columns.tsx'
import { useSessionCounts, useSessionList } from './use-session-list.ts'

/** The count of a status from which on the platform counts no further. */
const COUNT_LIMIT = 10_000

/** Shows the user's sessions. Those who are only admins take part in none: they see the sessions of all users. */
export const SessionsPage = () =>
  isOnlyAdmin(useMe()) ? <Navigate to="/admin/sessions" replace /> : <OwnSessions />

/** Lists the user's sessions. The query string holds search, filters and order. */
function OwnSessions() {
  const search = useSearch({ from: '/shell/sessions' })
  const navigate = useNavigate({ from: '/sessions' })
  const list = useSessionList(search)
  const { data: counts } = useSessionCounts(search)
  const go = (next: SessionSearch) => void navigate({ search: next, resetScroll: false, replace: true })
  return (
    <Page title={t('session.list.title')} actions={<ExportButtons search={search} />}>
      <DataList
        label={t('session.list.label')}
        name="sessions"
        columns={sessionColumns}
        list={list}
        search={search}
        readSearch={readSessionSearch}
        onSearch={go}
        searchHint={t('session.list.searchHint')}
        filters={[
          {
            name: 'status',
            label: t('session.list.status'),
            options: SessionStatus.options.map((value) => ({
              value,
              label: sessionStatusTexts[value],
              count: counts?.by_status[value],
            })),
            countLimit: COUNT_LIMIT,
          },
        ]}
        fields={<ListFields search={search} onChange={go} />}
        empty={<Empty title={t('session.list.emptyTitle')}>{t('session.list.emptyText')}</Empty>}
        rowProps={({ id }) => ({ 'data-session': id })}
      />
    </Page>
  )
}
