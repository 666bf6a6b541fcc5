import type { CSSProperties, ReactNode } from 'react'
import styles from './panels.module.css'

interface Props {
  /** The picture and what belongs right below it. */
  readonly seen: ReactNode
  /** What the robot tells. Nothing in it takes the focus, so that it may stand elsewhere than it is read. */
  readonly told?: ReactNode
  readonly talk: ReactNode
  readonly more: ReactNode
  /** How much wider the first column is than the second. */
  readonly ratio?: number
}

/**
 * The parts of an open session. On a desk in two columns: what is seen and said, what is told and was. On a phone one
 * below the other: `seen`, `told`, `talk`, `more`.
 */
export const Panels = ({ seen, told, talk, more, ratio = 1 }: Props) => (
  <div className={styles.panels} style={{ '--first-column': `${ratio}fr` } as CSSProperties}>
    <div className={styles.column}>
      <div className={`${styles.panel} ${styles.seen}`}>{seen}</div>
      <div className={`${styles.panel} ${styles.talk}`}>{talk}</div>
    </div>
    <div className={styles.column}>
      {told && <div className={`${styles.panel} ${styles.told}`}>{told}</div>}
      <div className={`${styles.panel} ${styles.more}`}>{more}</div>
    </div>
  </div>
)
