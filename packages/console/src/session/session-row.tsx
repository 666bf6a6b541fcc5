import { Group, Paper, Stack, Text } from '@mantine/core'
import { keepPreviousData } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { duration, money } from '../base/format.ts'
import { LinkButton, SessionLink } from '../base/links.tsx'
import { Note } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useListPages } from '../list/list-pages.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { filterOf, type SessionSearch } from './list-search.ts'
import { ScheduledActions } from './session-actions.tsx'
import { isOpen, useSession } from './session-query.ts'

export function SessionRow({ session }: { session: ListedSession }) {
  const { id, status, robot_name, robot_type, operator_name } = session
  return (
    <Paper component="li" withBorder p="sm" data-session={id}>
      <Group justify="space-between" align="flex-start">
        <Stack gap={2} miw={0}>
          <Group gap="xs">
            <SessionLink id={id} fw={600} name={robot_name} />
            <SessionStatusLabel status={status} />
          </Group>
          <Note>
            {isOperated(session)
              ? robot_type
              : t('session.row.operatedBy', { type: robot_type, operator: operator_name })}
          </Note>
          <Text size="sm">
            <When session={session} />
          </Text>
          <Text size="sm">{detailsOf(session)}</Text>
        </Stack>
        <RowActions session={session} size="xs" />
      </Group>
    </Paper>
  )
}

export function RowActions({ session, size }: { session: ListedSession; size: 'compact-xs' | 'xs' }) {
  const operates = isOperated(session)
  if (session.status === 'PENDING')
    return <ScheduledActions session={session} mayStart={operates} size={size} />
  if (!isOpen(session.status)) return null
  const params = { sessionId: session.id }
  return operates ? (
    <LinkButton to="/drive/$sessionId" params={params} size={size}>
      {t('session.row.drive')}
    </LinkButton>
  ) : (
    <LinkButton to="/sessions/$sessionId" params={params} size={size} variant="default">
      {t('session.row.watch')}
    </LinkButton>
  )
}

export const isOperated = (session: ListedSession) => 'operator_earnings_cents' in session

export function When({ session }: { session: ListedSession }) {
  const { id, status, started_at, created_at } = session
  if (started_at) return <Time at={started_at} exact />
  if (status === 'PENDING') return <Scheduled sessionId={id} />
  return textParts('session.row.created', { time: <Time at={created_at} exact /> })
}

/** Queries the session, because the list lacks its planned start and duration. */
function Scheduled({ sessionId }: { sessionId: string }) {
  const { data } = useSession(sessionId)
  if (!data?.scheduled_for) return t('session.row.scheduled')
  const time = <Time at={data.scheduled_for} exact />
  return data.planned_minutes === null
    ? textParts('session.row.scheduledFor', { time })
    : textParts('session.row.scheduledLength', { time, duration: duration(data.planned_minutes) })
}

function detailsOf(session: ListedSession): string {
  const { duration_minutes, client_charge_cents, rating } = session
  const earned = 'operator_earnings_cents' in session ? session.operator_earnings_cents : null
  return [
    duration_minutes !== null && duration(duration_minutes),
    session.own_operator
      ? t('session.summary.ownOperator')
      : earned !== null
        ? t('session.row.earned', { amount: money(earned) })
        : client_charge_cents !== null && money(client_charge_cents),
    rating !== null && t('session.row.rated', { rating }),
  ]
    .filter((detail) => detail !== false)
    .join(' · ')
}

export type ListedSession = Schemas['Session']

const PAGE_SIZE = 100
/** The hub does not report the user's own actions in other windows, so the page polls. */
const REFRESH_MS = 5_000
const COUNTS_POLL_MS = 15_000

export function useSessionList(search: SessionSearch) {
  const { rest } = usePlatform()
  return useListPages<ListedSession>({
    queryKey: [...keys.sessions, 'list', search],
    load: async (cursor, signal) => {
      const query = { limit: PAGE_SIZE, sort: search.sort, ...filterOf(search), cursor }
      const request = rest.GET('/api/sessions', { params: { query }, signal })
      const { sessions } = await answerOf(request)
      const { response } = await request
      return { rows: sessions, next: response.headers.get('X-Next-Cursor') }
    },
    refreshMs: REFRESH_MS,
  })
}

/** Counts the user's sessions for each status, under the other filters of a search. */
export function useSessionCounts(search: SessionSearch) {
  const query = filterOf({ ...search, status: undefined })
  return useRead(
    [...keys.sessions, 'counts', query],
    (rest, { signal }) => rest.GET('/api/session-counts', { params: { query }, signal }),
    { placeholderData: keepPreviousData, refetchInterval: COUNTS_POLL_MS },
  )
}
