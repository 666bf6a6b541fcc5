import { Badge } from '@mantine/core'
import { useConnection } from './hooks.ts'
import type { HubConnectionState } from './live.ts'

const shown: Record<HubConnectionState, { label: string; color: string; hint: string }> = {
  connecting: { label: 'Connecting', color: 'gray.7', hint: 'Connecting to the platform' },
  live: { label: 'Live', color: 'teal.9', hint: 'What you see is told as it happens' },
  reconnecting: {
    label: 'Reconnecting',
    color: 'orange.9',
    hint: 'The connection was lost; what you see may be old',
  },
  offline: { label: 'Offline', color: 'red.9', hint: 'This device has no network; what you see may be old' },
}

/** Says how much what is on the screen can be trusted to be of now. */
export function ConnectionBadge() {
  const { label, color, hint } = shown[useConnection()]
  return (
    <div role="status">
      <Badge color={color} variant="filled" title={hint}>
        {label}
      </Badge>
    </div>
  )
}
