import type { ReactNode } from 'react'
import { t } from '../texts/texts.ts'
import styles from './freshness.module.css'
import { ageText, type Freshness, type FreshnessSource } from './freshness.ts'

/**
 * Covers the picture of its positioned parent with what freshness requires: an amber rim while DELAYED; a red rim, grey,
 * stripes and the age in large digits while BLIND. Passes all pointer events on.
 * @param isHeld whether the gateway rejects the operator's commands because of the picture
 * @param children what is known about the cause, and what the user can do
 */
export function FreshnessOverlay(props: { freshness: Freshness; isHeld?: boolean; children?: ReactNode }) {
  const { isHeld = false, children } = props
  const { state, ageMs, oldest, isPictureUnknown } = props.freshness
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

const UNKNOWN_HELD = t('live.freshness.unknownHeld')
