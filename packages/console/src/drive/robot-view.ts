import type { Autonomy, DriveState, SessionStatus, SpeedLimits } from '@wheelhouse/protocol'
import type { Congestion } from '@wheelhouse/sdk'
import type { LinkAges } from '../freshness/freshness.ts'
import type { SessionDetail } from '../session/session-query.ts'
import type { RobotFacts } from '../status/trust.ts'
import type { SubscribeTelemetry } from '../telemetry/feed.ts'
import type { BatteryReading } from './measurements.ts'
import type { LinkView } from './operator-connection.ts'

/** What a view of the cockpit knows of the robot: over the connection of its operator, or over that of a viewer. */
export interface RobotView {
  readonly link: LinkView
  /** The newest state from the gateway; null before the first one. */
  readonly drive: DriveState | null
  /** The speed that the latency allows. */
  readonly limits: SpeedLimits
  /** The load of the connection of the operator. */
  readonly congestion: Congestion
  readonly battery: BatteryReading | undefined
  /** What the robot does by itself; null while it does not say. */
  readonly autonomy: Autonomy | null
  /** Whether the gateway rejects commands because of the picture. */
  readonly isPictureHeld: boolean
  /** Returns the ages of the connection to the gateway; stable between renders. */
  readonly readLinkAges: () => LinkAges
  /** Stable between renders. */
  readonly subscribe: SubscribeTelemetry
}

/** Returns what is known of a robot: by the gateway while connected, otherwise by the session. */
export function factsOf(
  { link, drive }: Pick<RobotView, 'link' | 'drive'>,
  session: Pick<SessionDetail, 'control'>,
  status: SessionStatus,
): RobotFacts {
  if (link.phase !== 'online' || drive === null)
    return { isConnected: true, isStopped: session.control.stop !== null, isPaused: status === 'PAUSED' }
  return {
    isConnected: drive.robot_connected,
    isStopped: drive.stop?.latched === true,
    isPaused: drive.status === 'PAUSED',
  }
}

/** Who or what holds control, as the bar says it. */
export type Holder = 'driving' | 'held' | 'stopping' | 'stopped' | 'paused' | 'unconnected' | 'elsewhere'

/**
 * Returns who holds control. `driving` only while what the viewer sees is live: the word may not promise more than the picture.
 * @param view.isSilent whether nothing has arrived for a second
 */
export function holderOf(
  { isConnected, isStopped, isPaused }: RobotFacts,
  view: Record<'isSilent' | 'isHeld' | 'isStopping', boolean> & { readonly phase: LinkView['phase'] },
): Holder {
  if (view.phase === 'ended') return 'elsewhere'
  if (view.isSilent || view.phase !== 'online' || !isConnected) return 'unconnected'
  if (isStopped) return 'stopped'
  if (view.isStopping) return 'stopping'
  if (isPaused) return 'paused'
  return view.isHeld ? 'held' : 'driving'
}
