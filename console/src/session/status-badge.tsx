import { Badge } from '@mantine/core'
import type { SessionStatus } from '@wheelhouse/protocol'

const shown: Record<SessionStatus, { label: string; color: string }> = {
  PENDING: { label: 'Scheduled', color: 'blue.8' },
  ACTIVE: { label: 'Active', color: 'teal.9' },
  PAUSED: { label: 'Paused', color: 'orange.9' },
  COMPLETED: { label: 'Completed', color: 'gray.7' },
  CANCELLED: { label: 'Cancelled', color: 'gray.7' },
}

export const statusLabel = (status: SessionStatus): string => shown[status].label

export const StatusBadge = ({ status }: { status: SessionStatus }) => (
  <Badge color={shown[status].color} variant="filled" style={{ flexShrink: 0 }}>
    {shown[status].label}
  </Badge>
)
