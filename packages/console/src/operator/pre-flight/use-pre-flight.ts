import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { usePlatform } from '../../platform/platform.ts'
import { keys } from '../../platform/queries.ts'

export type PreFlight = Schemas['PreFlight']

/** Events announce status changes, but no batteries and heartbeats. */
const POLL_MS = 5_000

/** Queries a robot as an operator sees it before a session. */
export function usePreFlight(robotId: string) {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: [...keys.robots, 'pre-flight', robotId],
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/operator/robots/{id}', { params: { path: { id: robotId } }, signal })),
    refetchInterval: POLL_MS,
  })
}
