import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { useConnection, useRobotStatuses } from '../live/hooks.ts'
import { PAGE_SIZE, type RobotSearch } from './list-search.ts'

export type Robot = Schemas['Robot']
export type RobotDetail = Schemas['RobotDetail']

/** Events announce status changes, but not heartbeats. */
const HEARTBEAT_POLL_MS = 5_000

export const robotKey = (id: string) => [...keys.robots, 'own', id]

/** Queries a page of the owner's robots, newest first, and the number of matching robots. */
export function useRobots({ search, status, type, page = 1 }: RobotSearch) {
  const { rest } = usePlatform()
  const query = {
    limit: PAGE_SIZE,
    offset: (page - 1) * PAGE_SIZE,
    ...(search && { search }),
    ...(status && { status }),
    ...(type && { robot_type: type }),
  }
  return useQuery({
    queryKey: [...keys.robots, 'own', 'list', query],
    queryFn: async ({ signal }) => {
      const request = rest.GET('/api/client/robots', { params: { query }, signal })
      const robots = await answerOf(request)
      const { response } = await request
      return { robots, total: Number(response.headers.get('X-Total-Count') ?? robots.length) }
    },
    placeholderData: keepPreviousData,
    refetchInterval: HEARTBEAT_POLL_MS,
  })
}

/** Queries one robot with its settings. */
export function useRobot(id: string) {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: robotKey(id),
    queryFn: () => answerOf(rest.GET('/api/client/robots/{id}', { params: { path: { id } } })),
    refetchInterval: HEARTBEAT_POLL_MS,
  })
}

type RobotWithStatus = Pick<Robot, 'id' | 'status' | 'last_heartbeat'>

/** Returns a function that merges the live status into a queried robot while the connection is live. */
export function useLiveRobots(): <R extends RobotWithStatus>(robot: R) => R {
  const live = useConnection() === 'live'
  const statuses = useRobotStatuses()
  return (robot) => {
    const liveStatus = live ? statuses?.get(robot.id) : undefined
    if (!liveStatus) return robot
    const beats = [robot.last_heartbeat, liveStatus.last_heartbeat].filter((at) => at !== null).sort()
    return { ...robot, status: liveStatus.status, last_heartbeat: beats.at(-1) ?? null }
  }
}
