import { Badge } from '@mantine/core'
import { type SessionStatus, sessionStatusTexts } from '@wheelhouse/protocol'

const colors: Record<SessionStatus, string> = {
  PENDING: 'blue.8',
  ACTIVE: 'teal.9',
  PAUSED: 'orange.9',
  COMPLETED: 'gray.7',
  CANCELLED: 'gray.7',
}

export const StatusBadge = ({ status }: { status: SessionStatus }) => (
  <Badge color={colors[status]} variant="filled" style={{ flexShrink: 0 }}>
    {sessionStatusTexts[status]}
  </Badge>
)
