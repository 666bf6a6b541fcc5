import type { CSSProperties, ReactNode } from 'react'
import styles from './panels.module.css'

interface Props {
  /** The picture and what belongs right below it. */
  readonly seen: ReactNode
  /** What the robot tells; left out, the rest is side by side below `seen`. */
  readonly told?: ReactNode
  readonly talk: ReactNode
  readonly more: ReactNode
  /** How much wider the first column is than the second. */
  readonly ratio?: number
}

/**
 * The parts of an open session: one below the other on a phone, in this order; on a desk in two columns, the first of
 * what is seen and said, the second of what is told.
 */
export const Panels = ({ seen, told, talk, more, ratio = 1 }: Props) => (
  <div
    className={styles.panels}
    data-told={told !== undefined}
    style={{ '--first-column': `${ratio}fr` } as CSSProperties}
  >
    <div className={`${styles.panel} ${styles.seen}`}>{seen}</div>
    {told !== undefined && <div className={`${styles.panel} ${styles.told}`}>{told}</div>}
    <div className={`${styles.panel} ${styles.talk}`}>{talk}</div>
    <div className={`${styles.panel} ${styles.more}`}>{more}</div>
  </div>
)
