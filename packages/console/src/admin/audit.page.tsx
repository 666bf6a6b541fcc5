import { useNavigate, useSearch } from '@tanstack/react-router'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { AdminPage } from './admin-page.tsx'
import { AuditFilters } from './audit-filters.tsx'
import type { AuditSearch } from './audit-search.ts'
import { AuditTable } from './audit-table.tsx'
import { PAGE_SIZE, PagesView, usePages } from './pages.tsx'

/** Shows the audit log, newest entry first. */
export const AuditPage = () => (
  <AdminPage title={t('admin.audit.title')} description={t('admin.audit.description')}>
    <Log />
  </AdminPage>
)

function Log() {
  const { rest } = usePlatform()
  const search = useSearch({ from: '/shell/admin/audit' })
  const navigate = useNavigate({ from: '/admin/audit' })
  const applySearch = (next: AuditSearch) => void navigate({ search: next })
  const { actor, subject, action, since, until } = search
  const query = usePages([...keys.audit, search], async (before, signal) => {
    const filter = { actor_id: actor, subject_id: subject, action, since, until }
    const params = { query: { limit: PAGE_SIZE, ...(before && { before: Number(before) }), ...filter } }
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
