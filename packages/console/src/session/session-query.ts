import { type MutationFilters, useIsMutating, useMutation, useQueryClient } from '@tanstack/react-query'
import type { SessionAction, SessionStatus } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useMay, useOrganization } from '../platform/organization.ts'
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

/**
 * Returns the parts of the user in a session: its operator; the organization that owns the robot, and whether the user manages its
 * sessions. An admin who observes has none of them.
 */
export function useSessionRoles(session: Pick<SessionDetail, 'operator_id' | 'client_id'>) {
  const { id } = useMe()
  const client = session.client_id === useOrganization().id
  const manages = useMay()('sessions.manage')
  return { operator: session.operator_id === id, client, manages: client && manages }
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
