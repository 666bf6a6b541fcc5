import { useQuery } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'

/** Queries the health of a robot. Samples arrive every five minutes. Stops are announced and refetch at once. */
export function useRobotHealth(robotId: string) {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: [...keys.robots, 'health', robotId],
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/client/robots/{id}/health', { params: { path: { id: robotId } }, signal })),
    refetchInterval: 60_000,
  })
}
