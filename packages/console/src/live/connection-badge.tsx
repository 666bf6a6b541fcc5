import { Badge } from '@mantine/core'
import { useConnection, useOutdated } from './hooks.ts'
import type { HubConnectionState } from './live.ts'

interface Shown {
  readonly label: string
  readonly color: string
  readonly hint: string
}

const outdated: Shown = {
  label: 'Outdated',
  color: 'red.9',
  hint: 'Nothing has arrived for a second. Data may be outdated',
}

const shown: Record<HubConnectionState, Shown> = {
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
export const ConnectionBadge = () => (
  <ConnectionBadgeView connection={useConnection()} isOutdated={useOutdated()} />
)

/** Renders the state of a connection. @param props.isOutdated whether nothing arrives although it is open */
export function ConnectionBadgeView(props: {
  readonly connection: HubConnectionState
  readonly isOutdated: boolean
}) {
  const { connection, isOutdated } = props
  const { label, color, hint } = isOutdated && connection === 'live' ? outdated : shown[connection]
  return (
    <div role="status">
      <Badge color={color} variant="filled" title={hint}>
        {label}
      </Badge>
    </div>
  )
}
