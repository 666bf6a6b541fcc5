import { useQueryClient } from '@tanstack/react-query'
import type { SessionAction } from '@wheelhouse/protocol'
import { answerOf } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'

/** Acts on a session over REST, which also works while the hub is away. */
export function useAct(sessionId: string): (action: SessionAction) => Promise<unknown> {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return async (action) => {
    const params = { path: { id: sessionId } }
    const session = await answerOf(rest.PATCH('/api/sessions/{id}', { params, body: { action } }))
    void queries.invalidateQueries({ queryKey: keys.sessions })
    return session
  }
}
