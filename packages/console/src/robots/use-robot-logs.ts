import { useInfiniteQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'

export type LogLevel = Schemas['RobotLogLine']['level']

const PAGE_SIZE = 50
/** No event announces new log lines, so the page polls. */
const POLL_INTERVAL_MS = 3_000

/** Queries the log of a robot page by page, newest line first. */
export function useRobotLogs(id: string, level: LogLevel) {
  const { rest } = usePlatform()
  return useInfiniteQuery({
    queryKey: [...keys.robots, 'logs', id, level],
    queryFn: async ({ pageParam: before }) => {
      const query = { level, limit: PAGE_SIZE, ...(before !== undefined && { before }) }
      return (await answerOf(rest.GET('/api/client/robots/{id}/logs', { params: { path: { id }, query } })))
        .logs
    },
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => (page.length < PAGE_SIZE ? undefined : page.at(-1)?.seq),
    select: ({ pages }) => pages.flat(),
    refetchInterval: POLL_INTERVAL_MS,
  })
}
