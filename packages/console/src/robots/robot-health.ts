import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'

/** Queries the health of a robot. Samples arrive every five minutes. Stops are announced and refetch at once. */
export function useRobotHealth(robotId: string) {
  return useRead(
    [...keys.robots, 'health', robotId],
    (rest, { signal }) =>
      rest.GET('/api/client/robots/{id}/health', { params: { path: { id: robotId } }, signal }),
    { refetchInterval: 60_000 },
  )
}
