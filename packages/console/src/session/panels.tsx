import type { CSSProperties, ReactNode } from 'react'
import styles from './panels.module.css'

interface Props {
  /** The picture and what belongs right below it. */
  readonly main: ReactNode
  /** What the robot tells. Nothing in it takes the focus, so that it may stand elsewhere than it is read. */
  readonly telemetry?: ReactNode
  readonly chat: ReactNode
  readonly details: ReactNode
  /** How much wider the first column is than the second. */
  readonly ratio?: number
}

/**
 * The parts of an open session. On a desk in two columns: what is seen and said, what is told and was. On a phone one
 * below the other: `seen`, `told`, `talk`, `more`.
 */
export const Panels = ({ main, telemetry, chat, details, ratio = 1 }: Props) => (
  <div className={styles.panels} style={{ '--first-column': `${ratio}fr` } as CSSProperties}>
    <div className={styles.column}>
      <div className={`${styles.panel} ${styles.seen}`}>{main}</div>
      <div className={`${styles.panel} ${styles.talk}`}>{chat}</div>
    </div>
    <div className={styles.column}>
      {telemetry && <div className={`${styles.panel} ${styles.told}`}>{telemetry}</div>}
      <div className={`${styles.panel} ${styles.more}`}>{details}</div>
    </div>
  </div>
)
