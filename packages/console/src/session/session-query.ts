import { type MutationFilters, useIsMutating, useMutation, useQueryClient } from '@tanstack/react-query'
import type { SessionAction, SessionStatus } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { byId, useRead } from '../platform/rest.ts'

export type SessionDetail = Schemas['SessionDetail']

export const sessionKey = (sessionId: string) => [...keys.sessions, 'one', sessionId] as const

/** Queries one session. The live layer invalidates it on every new log entry. */
export const useSession = (sessionId: string) =>
  useRead(sessionKey(sessionId), (rest, { signal }) =>
    rest.GET('/api/sessions/{id}', { ...byId(sessionId), signal }),
  )

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
      answerOf(rest.PATCH('/api/sessions/{id}', { ...byId(sessionId), body: { action } })),
    onSuccess: (session) => queries.setQueryData(sessionKey(sessionId), session),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.sessions }),
  })
}
