import { Badge } from '@mantine/core'
import type { HubConnectionState } from '../platform/live.ts'
import { useConnection, useOutdated } from '../platform/use-live.ts'
import { t } from '../texts/texts.ts'

interface Shown {
  readonly label: string
  readonly color: string
  readonly hint: string
}

const outdated: Shown = {
  label: t('live.connection.outdated'),
  color: 'red.9',
  hint: t('live.connection.outdatedHint'),
}

const shown: Record<HubConnectionState, Shown> = {
  connecting: {
    label: t('live.connection.connecting'),
    color: 'gray.7',
    hint: t('live.connection.connectingHint'),
  },
  live: { label: t('live.connection.live'), color: 'teal.9', hint: t('live.connection.liveHint') },
  reconnecting: {
    label: t('live.connection.reconnecting'),
    color: 'orange.9',
    hint: t('live.connection.reconnectingHint'),
  },
  offline: { label: t('live.connection.offline'), color: 'red.9', hint: t('live.connection.offlineHint') },
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
