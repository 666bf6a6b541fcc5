import { Text } from '@mantine/core'
import {
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import type { ComponentProps, ReactNode } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { MoreButton } from '../base/data-table.tsx'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import { useNow } from '../base/time.tsx'
import type { ListRows } from '../list/list-pages.ts'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { byId, useAction, useRead } from '../platform/rest.ts'
import { stopReasons } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'

/** Renders a page for admins. Other users see a notice, and the page sends no request. */
export function AdminPage({ children, ...page }: Omit<ComponentProps<typeof Page>, 'actions'>) {
  const { roles } = useMe()
  if (roles.includes('admin')) return <Page {...page}>{children}</Page>
  return (
    <Page title={page.title}>
      <Empty
        title={t('admin.access.title')}
        action={<LinkButton to="/">{t('admin.access.home')}</LinkButton>}
      >
        {t('admin.access.text')}
      </Empty>
    </Page>
  )
}

const POLL_INTERVAL_MS = 5_000

/** Polls while only the first page is loaded, so that loaded older pages do not shift. */
export const firstPagePolls = {
  limit: 50,
  pollMs: ({ length }: readonly unknown[]) => (length > 1 ? false : POLL_INTERVAL_MS),
} as const

interface Props<T> {
  readonly query: UseInfiniteQueryResult<readonly T[]>
  readonly empty: string
  readonly children: (entries: readonly T[]) => ReactNode
}

/** Shows a paged list: its age, the loaded entries and a button for older ones. */
export function PagesView<T>({ query, empty, children }: Props<T>) {
  return (
    <>
      <Freshness query={query} />
      <QueryView query={query} isEmpty={(entries) => entries.length === 0} empty={<Empty title={empty} />}>
        {(entries) => (
          <>
            {children(entries)}
            <MoreButton query={query}>{t('admin.list.older')}</MoreButton>
          </>
        )}
      </QueryView>
    </>
  )
}

export const UserLink = ({ id, name }: { id: string; name: string }) => (
  <LinkAnchor to="/admin/users/$userId" params={{ userId: id }} inherit>
    {name}
  </LinkAnchor>
)

/** Returns a duration as "3 s" or "12 min", in the language of the texts. */
export function shortTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  return seconds < 120
    ? t('admin.freshness.seconds', { seconds })
    : t('admin.freshness.minutes', { minutes: Math.floor(seconds / 60) })
}

/** Shows the age of the data and whether refreshing works. */
export function Freshness(props: { query: Pick<UseQueryResult, 'dataUpdatedAt' | 'isError' | 'isPaused'> }) {
  const { dataUpdatedAt, isError, isPaused } = props.query
  const nowMs = useNow()
  if (dataUpdatedAt === 0) return null
  // Without a network the query is paused and reports no error.
  const stale = isError || isPaused
  return (
    <Text size="sm" c={stale ? 'var(--mantine-color-error)' : 'dimmed'} component="p" m={0}>
      {t(stale ? 'admin.freshness.notRefreshing' : 'admin.freshness.updated', {
        time: shortTime(nowMs - dataUpdatedAt),
      })}
    </Text>
  )
}

export const ListFreshness = ({ list }: { list: Pick<ListRows<unknown>, 'updatedAtMs' | 'error'> }) => (
  <Freshness query={{ dataUpdatedAt: list.updatedAtMs, isError: list.error !== null, isPaused: false }} />
)

export function RevokeButton(props: {
  certification: Pick<CertificationRequest, 'id' | 'operator_name' | 'robot_type'>
}) {
  const { id, operator_name: name, robot_type: type } = props.certification
  const revoke = useAction(
    (rest, reason: string) =>
      rest.POST('/api/admin/certifications/{id}/revoke', { ...byId(id), body: { reason } }),
    keys.certifications,
    keys.users,
  )
  return (
    <ConfirmButton
      size="xs"
      asksReason
      question={t('admin.revoke.question', { name, type })}
      consequence={t('admin.revoke.consequence', { name })}
      confirmLabel={t('admin.revoke.button')}
      onConfirm={revoke}
      aria-label={t('admin.revoke.label', { name, type })}
    />
  )
}

const RETRIES = 3
const RETRY_MS = 300
/** A hanging connection must not block the button. */
const REQUEST_TIMEOUT_MS = 3_000

/** Stops the robot of a session as an admin, and retries unanswered requests. */
export function useAdminStop(sessionId: string) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () =>
      answerOf(
        rest.PATCH('/api/sessions/{id}', {
          ...byId(sessionId),
          body: { action: 'emergency_stop', reason: stopReasons.admin },
          signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
        }),
      ),
    // Without a network the request must fail now and not run later.
    networkMode: 'always',
    retry: (count, error) => count < RETRIES && !(error instanceof ApiError && isRejection(error.status)),
    retryDelay: RETRY_MS,
    onSuccess: () => void queries.invalidateQueries({ queryKey: keys.sessions }),
  })
}

const isRejection = (status: number) => status >= 400 && status < 500 && status !== 429

export type Overview = Schemas['Overview']
export type OpenSession = Schemas['OverviewSession']

const OVERVIEW_INTERVAL_MS = 3_000

export const useOverview = () =>
  useRead([...keys.sessions, 'overview'], (rest, { signal }) => rest.GET('/api/admin/overview', { signal }), {
    refetchInterval: OVERVIEW_INTERVAL_MS,
    staleTime: OVERVIEW_INTERVAL_MS,
  })

/** A gateway renews its row every few seconds. After this silence the platform is about to declare it dead. */
export const SILENT_MS = 15_000

/** A queue whose oldest job has been due for longer has no free worker. */
export const LATE_JOB_S = 300

export const useQueues = () =>
  useRead([...keys.jobs, 'queues'], (rest, { signal }) => rest.GET('/api/admin/jobs/queues', { signal }), {
    refetchInterval: POLL_INTERVAL_MS,
    select: ({ queues }) => queues,
  })

export type CertificationRequest = Schemas['CertificationRequest']

/** The maximum number of requests in one response. */
export const LIST_LIMIT = 200

export const useCertificationRequests = (status: CertificationRequest['status']) =>
  useRead(
    [...keys.certifications, 'all', status],
    (rest, { signal }) => rest.GET('/api/admin/certifications', { params: { query: { status } }, signal }),
    { refetchInterval: POLL_INTERVAL_MS },
  )

/** A user as admins see the user. */
export type User = Schemas['UserDetail']

export const useUser = (id: string) =>
  useRead(
    [...keys.users, id],
    (rest, { signal }) => rest.GET('/api/admin/users/{id}', { ...byId(id), signal }),
    { refetchInterval: POLL_INTERVAL_MS },
  )
