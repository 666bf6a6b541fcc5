import { Badge } from '@mantine/core'
import { useConnection } from './hooks.ts'
import type { HubConnectionState } from './live.ts'

const shown: Record<HubConnectionState, { label: string; color: string; hint: string }> = {
  connecting: { label: 'Connecting', color: 'gray.7', hint: 'Connecting to the platform' },
  live: { label: 'Live', color: 'teal.9', hint: 'Updates arrive live' },
  reconnecting: {
    label: 'Reconnecting',
    color: 'orange.9',
    hint: 'Connection lost. Data may be outdated',
  },
  offline: { label: 'Offline', color: 'red.9', hint: 'No network. Data may be outdated' },
}

/** Shows whether the data on the screen is live. */
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
