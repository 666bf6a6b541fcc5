import { t } from '../texts/texts.ts'
import type { FreshnessSource, FreshnessState } from './freshness.ts'

/** The state in one word, as the badge shows it. */
export const freshnessStateTexts: Record<FreshnessState, string> = {
  LIVE: t('live.freshness.live'),
  DELAYED: t('live.freshness.delayed'),
  BLIND: t('live.freshness.blind'),
}

/** The headline by the source that is too old. */
export const blindTexts: Record<FreshnessSource, string> = {
  picture: t('live.freshness.noPicture'),
  telemetry: t('live.freshness.noTelemetry'),
  link: t('live.freshness.noLink'),
}

/** The headline while the gateway rejects the operator's commands because of the picture. */
export const DRIVING_HELD = t('live.freshness.drivingHeld')

/** The explanation of the badge. */
export const freshnessHints: Record<FreshnessState, Record<FreshnessSource, string>> = {
  LIVE: {
    picture: t('live.freshness.liveHint'),
    telemetry: t('live.freshness.liveHint'),
    link: t('live.freshness.liveHint'),
  },
  DELAYED: {
    picture: t('live.freshness.pictureDelayed'),
    telemetry: t('live.freshness.telemetryDelayed'),
    link: t('live.freshness.linkDelayed'),
  },
  BLIND: {
    picture: t('live.freshness.pictureTooOld'),
    telemetry: t('live.freshness.telemetryTooOld'),
    link: t('live.freshness.linkLost'),
  },
}

export const PICTURE_AGE_UNKNOWN = t('live.freshness.pictureUnknown')
export const UNKNOWN_HELD = t('live.freshness.unknownHeld')
