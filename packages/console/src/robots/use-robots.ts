import { keepPreviousData } from '@tanstack/react-query'
import type { Schemas } from '@wheelhouse/sdk'
import { pageOf, useListPages } from '../list/list-pages.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { useConnection, useRobotStatuses } from '../platform/use-live.ts'
import { batteryPercent, type RobotSearch } from './search.ts'

export type Robot = Schemas['Robot']
export type RobotDetail = Schemas['RobotDetail']

/** Events announce status changes, but not heartbeats. */
const HEARTBEAT_POLL_MS = 5_000
/** Events announce most changes of the counts. */
const COUNTS_POLL_MS = 15_000

export const robotKey = (id: string) => [...keys.robots, 'own', id]

/** The maximum page size of the API. */
const PAGE_SIZE = 100

const filtersOf = ({ search, status, type, tag, battery }: RobotSearch) => ({
  search,
  status,
  robot_type: type,
  tag,
  battery_below: battery === undefined ? undefined : batteryPercent(battery) / 100,
})

/** Lists the owner's robots that match a search, page by page. */
export function useRobotList({ sort, ...search }: RobotSearch) {
  const { rest } = usePlatform()
  const filters = { sort, ...filtersOf(search) }
  return useListPages<Robot>({
    queryKey: [...keys.robots, 'own', 'list', filters],
    load: (cursor, signal) => {
      const query = { limit: PAGE_SIZE, ...filters, cursor }
      return pageOf(rest.GET('/api/client/robots', { params: { query }, signal }), (robots) => robots)
    },
    refreshMs: HEARTBEAT_POLL_MS,
  })
}

/** Counts the owner's robots for each status and type, under the other filters of a search. */
export function useRobotCounts(search: RobotSearch) {
  const query = filtersOf(search)
  return useRead(
    [...keys.robots, 'own', 'counts', query],
    (rest, { signal }) => rest.GET('/api/client/robot-counts', { params: { query }, signal }),
    { placeholderData: keepPreviousData, refetchInterval: COUNTS_POLL_MS },
  )
}

export function useRobot(id: string) {
  return useRead(robotKey(id), (rest) => rest.GET('/api/client/robots/{id}', { params: { path: { id } } }), {
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

/** Queries the health of a robot. Samples arrive every five minutes. Stops are announced and refetch at once. */
export function useRobotHealth(robotId: string) {
  return useRead(
    [...keys.robots, 'health', robotId],
    (rest, { signal }) =>
      rest.GET('/api/client/robots/{id}/health', { params: { path: { id: robotId } }, signal }),
    { refetchInterval: 60_000 },
  )
}
