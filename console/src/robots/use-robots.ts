import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { useConnection, useRobotStatuses } from '../live/hooks.ts'

export type Robot = Schemas['Robot']
export type RobotDetail = Schemas['RobotDetail']

/** Most robots that the platform lists. */
export const LISTED_AT_MOST = 50
/** Changes of status are told at once; heartbeats are looked up. */
const HEARTBEATS_MS = 5_000

export const robotKey = (id: string) => [...keys.robots, 'own', id]

/** The signed-in person's robots, newest first. */
export function useRobots() {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: [...keys.robots, 'own'],
    queryFn: () => answerOf(rest.GET('/api/client/robots')),
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

type Known = Pick<Robot, 'id' | 'status' | 'last_heartbeat'>

/** A robot as it is now: what was told live, as long as the connection is there, over what was asked for. */
export function useLiveRobots(): <R extends Known>(robot: R) => R {
  const live = useConnection() === 'live'
  const statuses = useRobotStatuses()
  return (robot) => {
    const told = live ? statuses?.get(robot.id) : undefined
    if (!told) return robot
    const beats = [robot.last_heartbeat, told.last_heartbeat].filter((at) => at !== null).sort()
    return { ...robot, status: told.status, last_heartbeat: beats.at(-1) ?? null }
  }
}
