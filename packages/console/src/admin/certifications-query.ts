import { queryOptions } from '@tanstack/react-query'
import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'

export type CertificationRequest = Schemas['CertificationRequest']

/** Most requests that one answer holds. */
export const LIST_LIMIT = 200
const EVERY_MS = 5_000

/** Requests by status; asked for again every few seconds while the page is visible. */
export const certificationsQuery = (rest: RestClient, status: CertificationRequest['status']) =>
  queryOptions({
    queryKey: [...keys.certifications, 'all', status],
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/admin/certifications', { params: { query: { status } }, signal })),
    refetchInterval: EVERY_MS,
  })
