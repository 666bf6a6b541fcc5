import type { ReactNode } from 'react'
import styles from './freshness.module.css'
import { ageText, type Freshness } from './freshness.ts'
import { blindTexts } from './freshness-texts.ts'

/**
 * Covers the picture of its positioned parent with what freshness requires: an amber rim while DELAYED; a red rim, grey,
 * stripes and the age in large digits while BLIND. Passes all pointer events on.
 * @param children a note below the age, such as "Driving held"
 */
export function FreshnessOverlay({ freshness, children }: { freshness: Freshness; children?: ReactNode }) {
  const { state, ageMs, oldest } = freshness
  return (
    <div className={styles.overlay} data-state={state} data-testid="freshness-overlay">
      {state === 'BLIND' && (
        <div className={styles.blind}>
          <span className={styles.blindText} role="alert">
            {blindTexts[oldest]}
          </span>
          <span className={styles.largeAge} data-testid="freshness-age">
            {ageText(ageMs)}
          </span>
          {children}
        </div>
      )}
    </div>
  )
}
