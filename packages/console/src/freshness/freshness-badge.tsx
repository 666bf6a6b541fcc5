import type { ReactNode } from 'react'
import { t } from '../texts/texts.ts'
import styles from './freshness.module.css'
import {
  ageText,
  DELAYED_MS,
  type Freshness,
  type FreshnessSource,
  type FreshnessState,
} from './freshness.ts'
import { type ReadAges, useFreshness } from './use-freshness.ts'

/** Shows whether the user can trust what the page shows: LIVE, or DELAYED or BLIND with the age of the oldest source. */
export function FreshnessBadge({ freshness }: { freshness: Freshness }) {
  const { state, ageMs, oldest, isPictureUnknown } = freshness
  const isUnknownOnly = isPictureUnknown && ageMs < DELAYED_MS
  return (
    <span
      className={styles.badge}
      data-state={state}
      title={isUnknownOnly ? PICTURE_AGE_UNKNOWN : freshnessHint(state, oldest)}
    >
      <span data-testid="freshness" data-state={state} role="status">
        {freshnessStateTexts[state]}
      </span>
      {ageMs >= DELAYED_MS && <span className={styles.age}>{ageText(ageMs)}</span>}
    </span>
  )
}

/** The badge of the ages that `readAges` returns. Only it is rendered when they change. */
export const LiveFreshness = ({ readAges }: { readAges: ReadAges }) => (
  <FreshnessBadge freshness={useFreshness(readAges)} />
)

/**
 * Covers the picture of its positioned parent with what freshness requires: an amber rim while DELAYED; a red rim, grey,
 * stripes and the age in large digits while BLIND. Passes all pointer events on.
 * @param isHeld whether the gateway rejects the operator's commands because of the picture
 * @param children what is known about the cause, and what the user can do
 */
export function FreshnessOverlay({
  freshness,
  isHeld = false,
  children,
}: {
  freshness: Freshness
  isHeld?: boolean
  children?: ReactNode
}) {
  const { state, ageMs, oldest, isPictureUnknown } = freshness
  return (
    <div className={styles.overlay} data-state={state} data-testid="freshness-overlay">
      {state === 'BLIND' && (
        <div className={styles.blind}>
          <span className={styles.largeAge} data-testid="freshness-age">
            {ageText(ageMs)}
          </span>
          <span className={styles.blindText} role="alert">
            {(isHeld && heldTexts[oldest]) || blindTexts[oldest]}
          </span>
          {children}
        </div>
      )}
      {state !== 'BLIND' && isHeld && isPictureUnknown && (
        <div className={styles.blind}>
          <span className={styles.blindText} role="alert">
            {UNKNOWN_HELD}
          </span>
        </div>
      )}
    </div>
  )
}

/** The state in one word, as the badge shows it. */
const freshnessStateTexts: Record<FreshnessState, string> = {
  CONNECTING: t('live.freshness.connecting'),
  LIVE: t('live.freshness.live'),
  DELAYED: t('live.freshness.delayed'),
  BLIND: t('live.freshness.blind'),
}

/** The headline by the source that is too old. */
const blindTexts: Record<FreshnessSource, string> = {
  picture: t('live.freshness.noPicture'),
  firstPicture: t('live.freshness.noFirstPicture'),
  camera: t('live.freshness.noCamera'),
  telemetry: t('live.freshness.noTelemetry'),
  link: t('live.freshness.noLink'),
}

/** The headline while the gateway rejects the operator's commands because of the picture, if the picture is what is too old. */
const heldTexts: Partial<Record<FreshnessSource, string>> = {
  picture: t('live.freshness.drivingHeld'),
  firstPicture: t('live.freshness.firstPictureHeld'),
  camera: t('live.freshness.cameraHeld'),
}

/** Returns the explanation of the badge. */
function freshnessHint(state: FreshnessState, source: FreshnessSource): string {
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

const PICTURE_AGE_UNKNOWN = t('live.freshness.pictureUnknown')
const UNKNOWN_HELD = t('live.freshness.unknownHeld')
