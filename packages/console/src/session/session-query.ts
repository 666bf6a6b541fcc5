import { queryOptions } from '@tanstack/react-query'
import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'

export type SessionDetail = Schemas['SessionDetail']

/** One session in full. The live layer marks it as old whenever its log grows. */
export const sessionQuery = (rest: RestClient, sessionId: string) =>
  queryOptions({
    queryKey: [...keys.sessions, 'one', sessionId],
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/sessions/{id}', { params: { path: { id: sessionId } }, signal })),
  })
