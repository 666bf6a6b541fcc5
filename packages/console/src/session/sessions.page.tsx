import { Button, Group, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { Page } from '../ui/page.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { ExportButtons } from './export-button.tsx'
import { ListFilters } from './list-filters.tsx'
import { type ListSearch, MAX_SHOWN, PAGE_SIZE } from './list-search.ts'
import { type ListedSession, loadSessions } from './load-sessions.ts'
import { SessionRow } from './session-row.tsx'

/** The hub does not report the user's own actions in other windows, so the page polls. */
const REFETCH_INTERVAL_MS = 5_000
const isUnfinished = ({ status }: ListedSession) => status !== 'COMPLETED' && status !== 'CANCELLED'

/** Lists the user's sessions. The query string holds filters and length. */
export function SessionsPage() {
  const { rest } = usePlatform()
  const search = useSearch({ from: '/shell/sessions' })
  const navigate = useNavigate({ from: '/sessions' })
  const query = useQuery({
    queryKey: [...keys.sessions, 'list', search],
    queryFn: ({ signal }) => loadSessions(rest, search, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.sessions.some(isUnfinished) ? REFETCH_INTERVAL_MS : false),
  })
  const go = (next: ListSearch) => void navigate({ search: next, resetScroll: false })
  const filtered = Boolean(search.status || search.robot || search.from || search.to)
  return (
    <Page title="Sessions" actions={<ExportButtons search={search} />}>
      <ListFilters search={search} sessions={query.data?.sessions ?? []} onChange={go} />
      <QueryView
        query={query}
        isEmpty={({ sessions }) => sessions.length === 0}
        empty={filtered ? <NoMatches onReset={() => go({})} /> : <NoSessions />}
      >
        {({ sessions, more }) => (
          <>
            <Stack
              component="ul"
              gap="xs"
              p={0}
              m={0}
              aria-label="Sessions"
              aria-busy={query.isPlaceholderData}
            >
              {sessions.map((session) => (
                <SessionRow key={session.id} session={session} />
              ))}
            </Stack>
            {more && (search.shown ?? 0) >= MAX_SHOWN && (
              <Text c="dimmed">Use the filters or the export for older sessions.</Text>
            )}
            {more && (search.shown ?? 0) < MAX_SHOWN && (
              <Group justify="center">
                <Button
                  variant="default"
                  loading={query.isPlaceholderData}
                  onClick={() => go({ ...search, shown: (search.shown ?? PAGE_SIZE) + PAGE_SIZE })}
                >
                  Show more
                </Button>
              </Group>
            )}
          </>
        )}
      </QueryView>
    </Page>
  )
}

const NoSessions = () => <Empty title="No sessions yet">Your sessions appear here.</Empty>

const NoMatches = ({ onReset }: { onReset: () => void }) => (
  <Empty
    title="No matching sessions"
    action={
      <Button variant="default" onClick={onReset}>
        Show all
      </Button>
    }
  />
)
