import { queryOptions } from '@tanstack/react-query'
import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../platform/queries.ts'

/** A user as admins see the user. */
export type User = Schemas['UserDetail']

const POLL_INTERVAL_MS = 5_000

/** Queries a user for admins. Polls while the page is visible. */
export const userQuery = (rest: RestClient, id: string) =>
  queryOptions({
    queryKey: [...keys.users, id],
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/admin/users/{id}', { params: { path: { id } }, signal })),
    refetchInterval: POLL_INTERVAL_MS,
  })
