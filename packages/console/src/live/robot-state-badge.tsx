import { Badge } from '@mantine/core'
import type { RobotState } from '@wheelhouse/protocol'
import { robotStateTexts } from '../texts/code-texts.ts'

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
