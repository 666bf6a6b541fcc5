import { useInfiniteQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'

export type LogLevel = Schemas['RobotLogLine']['level']

const PAGE = 50
/** Nothing pushes log lines to this page. */
const POLL_INTERVAL_MS = 3_000

/** The log of one of the signed-in user's robots, newest first, page by page. */
export function useRobotLogs(id: string, level: LogLevel) {
  const { rest } = usePlatform()
  return useInfiniteQuery({
    queryKey: [...keys.robots, 'logs', id, level],
    queryFn: async ({ pageParam: before }) => {
      const query = { level, limit: PAGE, ...(before !== undefined && { before }) }
      return (await answerOf(rest.GET('/api/client/robots/{id}/logs', { params: { path: { id }, query } })))
        .logs
    },
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => (page.length < PAGE ? undefined : page.at(-1)?.seq),
    select: ({ pages }) => pages.flat(),
    refetchInterval: POLL_INTERVAL_MS,
  })
}
