import { t } from '../texts/texts.ts'
import type { FreshnessSource, FreshnessState } from './freshness.ts'

/** The state in one word, as the badge shows it. */
export const freshnessStateTexts: Record<FreshnessState, string> = {
  CONNECTING: t('live.freshness.connecting'),
  LIVE: t('live.freshness.live'),
  DELAYED: t('live.freshness.delayed'),
  BLIND: t('live.freshness.blind'),
}

/** The headline by the source that is too old. */
export const blindTexts: Record<FreshnessSource, string> = {
  picture: t('live.freshness.noPicture'),
  firstPicture: t('live.freshness.noFirstPicture'),
  camera: t('live.freshness.noCamera'),
  telemetry: t('live.freshness.noTelemetry'),
  link: t('live.freshness.noLink'),
}

/** The headline while the gateway rejects the operator's commands because of the picture, if the picture is what is too old. */
export const heldTexts: Partial<Record<FreshnessSource, string>> = {
  picture: t('live.freshness.drivingHeld'),
  firstPicture: t('live.freshness.firstPictureHeld'),
  camera: t('live.freshness.cameraHeld'),
}

/** Returns the explanation of the badge. */
export function freshnessHint(state: FreshnessState, source: FreshnessSource): string {
  switch (state) {
    case 'CONNECTING':
      return t('live.freshness.connectingHint')
    case 'LIVE':
      return t('live.freshness.liveHint')
    case 'DELAYED':
      return delayedHints[source] ?? t('live.freshness.pictureDelayed')
    case 'BLIND':
      return blindHints[source] ?? t('live.freshness.pictureTooOld')
  }
}

const delayedHints: Partial<Record<FreshnessSource, string>> = {
  telemetry: t('live.freshness.telemetryDelayed'),
  link: t('live.freshness.linkDelayed'),
}

const blindHints: Partial<Record<FreshnessSource, string>> = {
  telemetry: t('live.freshness.telemetryTooOld'),
  link: t('live.freshness.linkLost'),
}

export const PICTURE_AGE_UNKNOWN = t('live.freshness.pictureUnknown')
export const UNKNOWN_HELD = t('live.freshness.unknownHeld')
