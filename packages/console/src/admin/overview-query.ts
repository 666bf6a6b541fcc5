import { queryOptions } from '@tanstack/react-query'
import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../platform/queries.ts'

export type Overview = Schemas['Overview']
export type OpenSession = Schemas['OverviewSession']

const POLL_INTERVAL_MS = 3_000

/** Queries the admin overview. Polls while the page is visible. */
export const overviewQuery = (rest: RestClient) =>
  queryOptions({
    queryKey: [...keys.sessions, 'overview'],
    queryFn: ({ signal }) => answerOf(rest.GET('/api/admin/overview', { signal })),
    refetchInterval: POLL_INTERVAL_MS,
    staleTime: POLL_INTERVAL_MS,
  })
