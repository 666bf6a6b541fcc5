import { Badge } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { RobotState } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRobotStatuses } from '../platform/use-live.ts'
import { robotStateTexts } from '../texts/code-texts.ts'

export type LiveRobot = Schemas['LiveRobot']

/** Events announce changes of status. Batteries, and changes without a notification, arrive with the next poll. */
const POLL_MS = 3_000

/** Queries the owner's live robots: connected, or in an open session. Refetched after every announced change. */
export function useLiveRobotList() {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: [...keys.robots, 'live'],
    queryFn: ({ signal }) => answerOf(rest.GET('/api/client/live-robots', { signal })),
    refetchInterval: POLL_MS,
  })
}

/** Queries whether one of the owner's robots is live. Undefined until known; null for a robot that is not live. */
export function useLiveRobot(robotId: string): LiveRobot | null | undefined {
  const { rest } = usePlatform()
  const { data } = useQuery({
    queryKey: [...keys.robots, 'live', robotId],
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/client/live-robots', { params: { query: { robotId } }, signal })),
    refetchInterval: POLL_MS,
  })
  return data && (data.robots[0] ?? null)
}

/** Returns the newest known heartbeat of a robot: of the query or of the live connection. */
export function useLastHeartbeat({ id, last_heartbeat }: Pick<LiveRobot, 'id' | 'last_heartbeat'>) {
  const live = useRobotStatuses()?.get(id)?.last_heartbeat ?? null
  return (
    [last_heartbeat, live]
      .filter((at) => at !== null)
      .sort()
      .at(-1) ?? null
  )
}

const colors: Record<RobotState, string> = {
  READY: 'teal.9',
  DRIVING: 'blue.9',
  PAUSED: 'orange.9',
  STOPPED: 'red.9',
  LOST: 'red.9',
  OFFLINE: 'gray.7',
}

/** Shows what a robot does now, in one word. @param props.isUnknown whether its connection is lost */
export const RobotStateBadge = (props: { state: RobotState; isUnknown?: boolean }) => (
  <Badge
    color={props.isUnknown ? 'gray.7' : colors[props.state]}
    variant="filled"
    style={{ flexShrink: 0 }}
    data-state={props.isUnknown ? 'UNKNOWN' : props.state}
  >
    {props.isUnknown ? '?' : robotStateTexts[props.state]}
  </Badge>
)
