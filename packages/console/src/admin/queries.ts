import { queryOptions } from '@tanstack/react-query'
import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../platform/queries.ts'

export type Overview = Schemas['Overview']
export type OpenSession = Schemas['OverviewSession']

const OVERVIEW_INTERVAL_MS = 3_000

/** Queries the admin overview. Polls while the page is visible. */
export const overviewQuery = (rest: RestClient) =>
  queryOptions({
    queryKey: [...keys.sessions, 'overview'],
    queryFn: ({ signal }) => answerOf(rest.GET('/api/admin/overview', { signal })),
    refetchInterval: OVERVIEW_INTERVAL_MS,
    staleTime: OVERVIEW_INTERVAL_MS,
  })

const QUEUES_INTERVAL_MS = 5_000
/** A queue whose oldest job has been due for longer has no free worker. */
export const LATE_JOB_S = 300

/** Queries the queues of background work. Polls while the page is visible. */
export const queuesQuery = (rest: RestClient) =>
  queryOptions({
    queryKey: [...keys.jobs, 'queues'],
    queryFn: async ({ signal }) => (await answerOf(rest.GET('/api/admin/jobs/queues', { signal }))).queues,
    refetchInterval: QUEUES_INTERVAL_MS,
  })

export type CertificationRequest = Schemas['CertificationRequest']

/** The maximum number of requests in one response. */
export const LIST_LIMIT = 200
const POLL_INTERVAL_MS = 5_000

/** Queries certification requests by status. Polls while the page is visible. */
export const certificationsQuery = (rest: RestClient, status: CertificationRequest['status']) =>
  queryOptions({
    queryKey: [...keys.certifications, 'all', status],
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/admin/certifications', { params: { query: { status } }, signal })),
    refetchInterval: POLL_INTERVAL_MS,
  })

/** A user as admins see the user. */
export type User = Schemas['UserDetail']

/** Queries a user for admins. Polls while the page is visible. */
export const userQuery = (rest: RestClient, id: string) =>
  queryOptions({
    queryKey: [...keys.users, id],
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/admin/users/{id}', { params: { path: { id } }, signal })),
    refetchInterval: POLL_INTERVAL_MS,
  })
