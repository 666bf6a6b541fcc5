import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useIdempotentMutation } from './idempotent-mutation.ts'

interface SessionRequest {
  readonly robotId: string
  /** ISO 8601 with an offset. Starts now if omitted. */
  readonly scheduledFor?: string
  readonly plannedMinutes?: number
}

/** Starts or schedules a session, once per distinct request. */
function useCreateSession(onSuccess: (session: { sessionId: string }) => unknown) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useIdempotentMutation({
    send: (body: SessionRequest, key) =>
      answerOf(rest.POST('/api/sessions', { body, params: { header: { 'Idempotency-Key': key } } })),
    onSuccess: async (session) => {
      void queries.invalidateQueries({ queryKey: keys.sessions })
      void queries.invalidateQueries({ queryKey: keys.robots })
      await onSuccess(session)
    },
  })
}

export const useScheduleSession = () => useCreateSession(() => undefined)

/** Starts a session and opens its cockpit. */
export function useStartNow() {
  const navigate = useNavigate()
  const start = useCreateSession(({ sessionId }) =>
    navigate({ to: '/drive/$sessionId', params: { sessionId } }),
  )
  return { ...start, mutate: (robotId: string) => start.mutate({ robotId }) }
}
