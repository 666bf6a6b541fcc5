import {
  type MutationFilters,
  queryOptions,
  useIsMutating,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import type { SessionAction, SessionStatus } from '@wheelhouse/protocol'
import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'

export type SessionDetail = Schemas['SessionDetail']

/** Queries one session. The live layer invalidates it on every new log entry. */
export const sessionQuery = (rest: RestClient, sessionId: string) =>
  queryOptions({
    queryKey: [...keys.sessions, 'one', sessionId],
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/sessions/{id}', { params: { path: { id: sessionId } }, signal })),
  })

export const useSession = (sessionId: string) => useQuery(sessionQuery(usePlatform().rest, sessionId))

/** Returns the roles of the user in a session. An admin who observes has none of them. */
export function useSessionRoles(session: Pick<SessionDetail, 'operator_id' | 'client_id'>) {
  const { id } = useMe()
  return { operator: session.operator_id === id, client: session.client_id === id }
}

export const isOpen = (status: SessionStatus): boolean => status === 'ACTIVE' || status === 'PAUSED'

const actionKey = (sessionId: string) => ['session-action', sessionId]

/** Returns a function that reads whether any component waits for the answer to this action; a change of that renders again. */
export function usePerforming(sessionId: string, action: SessionAction): () => boolean {
  const queries = useQueryClient()
  const filters: MutationFilters = {
    mutationKey: actionKey(sessionId),
    predicate: ({ state }) => state.variables === action,
  }
  useIsMutating(filters)
  return () => queries.isMutating(filters) > 0 // what was rendered is a moment old
}

/** Performs actions on a session: `sessionAction.mutate('pause')`. */
export function useSessionAction(sessionId: string) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationKey: actionKey(sessionId),
    mutationFn: (action: SessionAction) =>
      answerOf(rest.PATCH('/api/sessions/{id}', { params: { path: { id: sessionId } }, body: { action } })),
    onSuccess: (session) => queries.setQueryData(sessionQuery(rest, sessionId).queryKey, session),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.sessions }),
  })
}
