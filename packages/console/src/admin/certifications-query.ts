import { queryOptions } from '@tanstack/react-query'
import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../platform/queries.ts'

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
