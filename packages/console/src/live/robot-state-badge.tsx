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

/** Shows what a robot does now, in one word. */
export const RobotStateBadge = ({ state }: { state: RobotState }) => (
  <Badge color={colors[state]} variant="filled" style={{ flexShrink: 0 }} data-state={state}>
    {robotStateTexts[state]}
  </Badge>
)
