import { useNavigate, useSearch } from '@tanstack/react-router'
import { SessionStatus, sessionStatusTexts } from '@wheelhouse/protocol'
import { DataList } from '../ui/list/data-list.tsx'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import { ExportButtons } from './export-button.tsx'
import { ListFields } from './list-fields.tsx'
import { readSessionSearch, type SessionSearch } from './list-search.ts'
import { sessionColumns } from './session-columns.tsx'
import { useSessionCounts, useSessionList } from './use-session-list.ts'

/** The count of a status from which on the platform counts no further. */
const COUNT_LIMIT = 10_000

/** Lists the user's sessions. The query string holds search, filters and order. */
export function SessionsPage() {
  const search = useSearch({ from: '/shell/sessions' })
  const navigate = useNavigate({ from: '/sessions' })
  const list = useSessionList(search)
  const { data: counts } = useSessionCounts(search)
  const go = (next: SessionSearch) => void navigate({ search: next, resetScroll: false, replace: true })
  return (
    <Page title="Sessions" actions={<ExportButtons search={search} />}>
      <DataList
        label="Sessions"
        name="sessions"
        columns={sessionColumns}
        list={list}
        search={search}
        readSearch={readSessionSearch}
        onSearch={go}
        searchHint="Robot, type or operator"
        filters={[
          {
            name: 'status',
            label: 'Status',
            options: SessionStatus.options.map((value) => ({
              value,
              label: sessionStatusTexts[value],
              count: counts?.by_status[value],
            })),
            countLimit: COUNT_LIMIT,
          },
        ]}
        fields={<ListFields search={search} onChange={go} />}
        empty={<Empty title="No sessions yet">Your sessions appear here.</Empty>}
        rowProps={({ id }) => ({ 'data-session': id })}
      />
    </Page>
  )
}
