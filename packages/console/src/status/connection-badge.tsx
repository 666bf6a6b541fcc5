import type { HubConnectionState } from '../platform/live.ts'
import { useConnection, useOutdated } from '../platform/use-live.ts'
import { t } from '../texts/texts.ts'
import type { ShapeName } from './shape-name.ts'
import { StateLabel } from './state-label.tsx'

interface Shown {
  readonly label: string
  readonly shape: ShapeName
  readonly hint: string
}

const outdated: Shown = {
  label: t('live.connection.outdated'),
  shape: 'blind',
  hint: t('live.connection.outdatedHint'),
}

const shown: Record<HubConnectionState, Shown> = {
  connecting: {
    label: t('live.connection.connecting'),
    shape: 'off',
    hint: t('live.connection.connectingHint'),
  },
  live: { label: t('live.connection.live'), shape: 'live', hint: t('live.connection.liveHint') },
  reconnecting: {
    label: t('live.connection.reconnecting'),
    shape: 'delayed',
    hint: t('live.connection.reconnectingHint'),
  },
  offline: { label: t('live.connection.offline'), shape: 'blind', hint: t('live.connection.offlineHint') },
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
  const { label, shape, hint } = isOutdated && connection === 'live' ? outdated : shown[connection]
  return (
    <div role="status">
      <StateLabel shape={shape} title={hint}>
        {label}
      </StateLabel>
    </div>
  )
}
