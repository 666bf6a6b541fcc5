import { queryOptions } from '@tanstack/react-query'
import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'

export type Overview = Schemas['Overview']
export type OpenSession = Schemas['OverviewSession']

const EVERY_MS = 3_000

/** How the platform stands; asked for again every few seconds while the page is visible. */
export const overviewQuery = (rest: RestClient) =>
  queryOptions({
    queryKey: [...keys.sessions, 'overview'],
    queryFn: ({ signal }) => answerOf(rest.GET('/api/admin/overview', { signal })),
    refetchInterval: EVERY_MS,
    staleTime: EVERY_MS,
  })
