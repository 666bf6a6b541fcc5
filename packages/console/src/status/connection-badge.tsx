import type { HubConnectionState } from '../platform/live.ts'
import { useConnection, useOutdated } from '../platform/use-live.ts'
import { t } from '../texts/texts.ts'
import type { ShapeName } from './shape-name.ts'
import { StateLabel } from './state-label.tsx'

const shown: Record<
  HubConnectionState | 'outdated',
  readonly [label: string, shape: ShapeName, hint: string]
> = {
  connecting: [t('live.connection.connecting'), 'off', t('live.connection.connectingHint')],
  live: [t('live.connection.live'), 'live', t('live.connection.liveHint')],
  outdated: [t('live.connection.outdated'), 'blind', t('live.connection.outdatedHint')],
  reconnecting: [t('live.connection.reconnecting'), 'delayed', t('live.connection.reconnectingHint')],
  offline: [t('live.connection.offline'), 'blind', t('live.connection.offlineHint')],
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
  const [label, shape, hint] = shown[isOutdated && connection === 'live' ? 'outdated' : connection]
  return (
    <div role="status">
      <StateLabel shape={shape} title={hint}>
        {label}
      </StateLabel>
    </div>
  )
}
