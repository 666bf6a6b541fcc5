import { queryOptions } from '@tanstack/react-query'
import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../platform/queries.ts'

export type SessionDetail = Schemas['SessionDetail']

/** Queries one session. The live layer invalidates it on every new log entry. */
export const sessionQuery = (rest: RestClient, sessionId: string) =>
  queryOptions({
    queryKey: [...keys.sessions, 'one', sessionId],
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/sessions/{id}', { params: { path: { id: sessionId } }, signal })),
  })
