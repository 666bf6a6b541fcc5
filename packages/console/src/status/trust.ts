import type { RobotState } from '@wheelhouse/protocol'
import type { Freshness, FreshnessSource } from '../freshness/freshness.ts'
import type { ShapeName } from './shape-name.ts'

/** How far a page can be trusted, and what the robot does: the one state of cockpit, wall, home, robot and session page. */
export type TrustState = 'CONNECTING' | 'LIVE' | 'DELAYED' | 'BLIND' | 'LOST' | 'STOPPED' | 'PAUSED'

/** What the page was last told of the robot and its session. */
export interface RobotFacts {
  readonly isConnected: boolean
  readonly isStopped: boolean
  readonly isPaused: boolean
}

export const factsOf = (state: RobotState): RobotFacts => ({
  isConnected: state !== 'LOST',
  isStopped: state === 'STOPPED',
  isPaused: state === 'PAUSED',
})

export interface Trust {
  readonly state: TrustState
  /** The age of the oldest source in milliseconds, from the moment at which it was last live; undefined where an age says nothing. */
  readonly ageMs: number | undefined
  /** What is too old; undefined while everything is live. */
  readonly cause: FreshnessSource | undefined
}

/**
 * Returns the state of a page. Without a connection nothing that it was told counts; otherwise what is known of the robot
 * counts before the age of its picture, and a picture that is not live before a pause.
 * @param robot undefined while nothing is known, and for a page that shows the picture only
 */
export function trustOf(freshness: Freshness, robot?: RobotFacts): Trust {
  const { state, oldest, isPictureUnknown } = freshness
  const ageMs = isPictureUnknown && oldest === 'picture' ? undefined : freshness.ageMs
  const old = { ageMs, cause: oldest }
  if (state === 'BLIND' && oldest === 'link') return { state, ...old }
  if (robot?.isConnected === false)
    return { state: 'LOST', ageMs: state === 'LIVE' ? undefined : ageMs, cause: 'telemetry' }
  if (robot?.isStopped) return { state: 'STOPPED', ageMs: undefined, cause: undefined }
  if (state === 'BLIND' || state === 'DELAYED') return { state, ...old }
  if (state === 'CONNECTING') return { state, ageMs: undefined, cause: oldest }
  return robot?.isPaused
    ? { state: 'PAUSED', ageMs: undefined, cause: undefined }
    : { state: 'LIVE', ageMs, cause: undefined }
}

export const trustShapes: Record<TrustState, ShapeName> = {
  CONNECTING: 'off',
  LIVE: 'live',
  DELAYED: 'delayed',
  BLIND: 'blind',
  LOST: 'lost',
  STOPPED: 'stopped',
  PAUSED: 'paused',
}
