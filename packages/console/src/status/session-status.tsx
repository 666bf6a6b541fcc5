import { Badge } from '@mantine/core'
import type { SessionStatus } from '@wheelhouse/protocol'
import { sessionStatusTexts } from '../texts/code-texts.ts'

const colors: Record<SessionStatus, string> = {
  PENDING: 'blue.8',
  ACTIVE: 'teal.9',
  PAUSED: 'orange.9',
  COMPLETED: 'gray.7',
  CANCELLED: 'gray.7',
}

/** @param props.isOutdated whether this is only the last known status */
export const StatusBadge = (props: { status: SessionStatus; isOutdated?: boolean }) => (
  <Badge
    color={props.isOutdated ? 'gray.7' : colors[props.status]}
    variant="filled"
    style={{ flexShrink: 0 }}
  >
    {sessionStatusTexts[props.status]}
  </Badge>
)
