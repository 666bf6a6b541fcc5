import type { FreshnessSource, FreshnessState } from './freshness.ts'

/** The headline by the source that is too old. */
export const blindTexts: Record<FreshnessSource, string> = {
  picture: 'Picture frozen',
  telemetry: 'No telemetry',
  link: 'No connection',
}

/** The headline while the gateway rejects the operator's commands because of the picture. */
export const DRIVING_HELD = 'Picture frozen: driving held'

/** The explanation of the badge. */
export const freshnessHints: Record<FreshnessState, Record<FreshnessSource, string>> = {
  LIVE: {
    picture: 'Picture, telemetry and connection are live',
    telemetry: 'Picture, telemetry and connection are live',
    link: 'Picture, telemetry and connection are live',
  },
  DELAYED: {
    picture: 'The picture is delayed',
    telemetry: 'The telemetry is delayed',
    link: 'The connection is delayed',
  },
  BLIND: {
    picture: 'The picture is too old to drive by',
    telemetry: 'The telemetry is too old to drive by',
    link: 'The connection is lost',
  },
}

export const PICTURE_AGE_UNKNOWN = 'Picture age unknown'
