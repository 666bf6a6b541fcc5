import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { useConnection, useRobotStatuses } from '../live/hooks.ts'
import { PAGE, type RobotSearch } from './list-search.ts'

export type Robot = Schemas['Robot']
export type RobotDetail = Schemas['RobotDetail']

/** Changes of status are told at once; heartbeats are looked up. */
const HEARTBEATS_MS = 5_000

export const robotKey = (id: string) => [...keys.robots, 'own', id]

/** A page of the signed-in person's robots, newest first, and how many pass the filters in all. */
export function useRobots({ search, status, type, page = 1 }: RobotSearch) {
  const { rest } = usePlatform()
  const query = {
    limit: PAGE,
    offset: (page - 1) * PAGE,
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
    refetchInterval: HEARTBEATS_MS,
  })
}

/** One of them with its settings. */
export function useRobot(id: string) {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: robotKey(id),
    queryFn: () => answerOf(rest.GET('/api/client/robots/{id}', { params: { path: { id } } })),
    refetchInterval: HEARTBEATS_MS,
  })
}

type RobotWithStatus = Pick<Robot, 'id' | 'status' | 'last_heartbeat'>

/** A robot as it is now: what was told live, as long as the connection is there, over what was asked for. */
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
