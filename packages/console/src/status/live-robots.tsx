import type { RobotState } from '@wheelhouse/protocol'
import type { Schemas } from '@wheelhouse/sdk'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { robotStateTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import type { ShapeName } from './shape-name.ts'
import { StateLabel } from './state-label.tsx'

export type LiveRobot = Schemas['LiveRobot']

/** Events announce changes of status. Batteries, and changes without a notification, arrive with the next poll. */
const POLL_MS = 3_000

/** Queries the owner's live robots: connected, or in an open session. Refetched after every announced change. */
export function useLiveRobotList() {
  return useRead(
    [...keys.robots, 'live'],
    (rest, { signal }) => rest.GET('/api/client/live-robots', { signal }),
    { refetchInterval: POLL_MS },
  )
}

/** Queries whether one of the owner's robots is live. Undefined until known; null for a robot that is not live. */
export function useLiveRobot(robotId: string): LiveRobot | null | undefined {
  const { data } = useRead(
    [...keys.robots, 'live', robotId],
    (rest, { signal }) => rest.GET('/api/client/live-robots', { params: { query: { robotId } }, signal }),
    { refetchInterval: POLL_MS },
  )
  return data && (data.robots[0] ?? null)
}

const shapes: Record<RobotState, ShapeName> = {
  READY: 'off',
  DRIVING: 'live',
  PAUSED: 'paused',
  STOPPED: 'stopped',
  LOST: 'lost',
  OFFLINE: 'off',
}

/** Shows what a robot does now, in one word. @param props.isUnknown whether its connection is lost */
export const RobotStateLabel = (props: { state: RobotState; isUnknown?: boolean; isOnPicture?: boolean }) => {
  const { state, isUnknown = false, isOnPicture = false } = props
  return (
    <StateLabel
      shape={isUnknown ? 'off' : shapes[state]}
      tone={state === 'READY' && !isUnknown ? 'live' : undefined}
      state={isUnknown ? 'UNKNOWN' : state}
      isOnPicture={isOnPicture}
    >
      {isUnknown ? t('live.unknown') : robotStateTexts[state]}
    </StateLabel>
  )
}
