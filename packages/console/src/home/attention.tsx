import type { ReactNode } from 'react'
import { Panel } from '../base/section.tsx'
import type { ShapeName } from '../status/shape-name.ts'
import { Shape } from '../status/shapes.tsx'
import styles from './home.module.css'

/** One thing that needs the user's attention. */
export interface AttentionItem {
  readonly id: string
  /** One word. */
  readonly label: string
  readonly shape: ShapeName
  /** Its robot, invoice or queue, usually as a link. */
  readonly subject: ReactNode
  /** Why, as a sentence or a phrase. */
  readonly detail?: ReactNode
  /** How long already. */
  readonly since?: ReactNode
  readonly action?: ReactNode
}

/** Items that are shown at once. Their pages list all. */
const SHOWN = 20

const tones: Partial<Record<ShapeName, string>> = {
  delayed: 'delayed',
  blind: 'blind',
  stopped: 'blind',
  lost: 'blind',
  paused: 'paused',
  request: 'request',
}

/** Lists what needs the user's attention, most urgent first. */
export const Attention = (props: { title: string; none: string; items: readonly AttentionItem[] }) => (
  <Panel title={props.title}>
    {props.items.length === 0 ? (
      <p className={styles.none}>
        <Shape name="live" /> {props.none}
      </p>
    ) : (
      <ul className={styles.attention}>
        {props.items.slice(0, SHOWN).map(({ id, label, shape, subject, detail, since, action }) => (
          <li key={id} data-tone={tones[shape]}>
            <span className={styles.sign}>
              <Shape name={shape} />
            </span>
            <div className={styles.what}>
              <div>
                {subject} <span className={styles.state}>{label}</span>
              </div>
              {detail !== undefined && <div className={styles.detail}>{detail}</div>}
            </div>
            {since !== undefined && <span className={styles.since}>{since}</span>}
            {action}
          </li>
        ))}
      </ul>
    )}
  </Panel>
)
