import type { CSSProperties, ReactNode } from 'react'
import styles from './panels.module.css'

interface Props {
  /** The video and the panels directly below it. */
  readonly main: ReactNode
  /** Must not contain focusable elements, because its visual order differs from the DOM order. */
  readonly telemetry?: ReactNode
  readonly chat: ReactNode
  readonly details: ReactNode
  /** The width of the first column relative to the second. */
  readonly ratio?: number
}

/**
 * Lays out the panels of an open session. Desktops show two columns: `main` and `chat`, `telemetry` and `details`.
 * Phones show one column: `main`, `telemetry`, `chat`, `details`.
 */
export const Panels = ({ main, telemetry, chat, details, ratio = 1 }: Props) => (
  <div className={styles.panels} style={{ '--first-column': `${ratio}fr` } as CSSProperties}>
    <div className={styles.column}>
      <div className={`${styles.panel} ${styles.main}`}>{main}</div>
      <div className={`${styles.panel} ${styles.chat}`}>{chat}</div>
    </div>
    <div className={styles.column}>
      {telemetry && <div className={`${styles.panel} ${styles.telemetry}`}>{telemetry}</div>}
      <div className={`${styles.panel} ${styles.details}`}>{details}</div>
    </div>
  </div>
)
