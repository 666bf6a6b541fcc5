import type { ReactNode } from 'react'
import type { ShapeName } from './shape-name.ts'
import { Shape } from './shapes.tsx'
import styles from './state-label.module.css'

/** The colours of states. `blind` is that of everything that must not be missed: blind, stopped, lost. */
export type Tone = 'live' | 'delayed' | 'blind' | 'paused' | 'off' | 'request'

export const tones: Record<ShapeName, Tone> = {
  live: 'live',
  delayed: 'delayed',
  blind: 'blind',
  stopped: 'blind',
  lost: 'blind',
  paused: 'paused',
  off: 'off',
  request: 'request',
}

interface Props {
  readonly shape: ShapeName
  /** The colour, if it is not that of the shape. */
  readonly tone?: Tone | undefined
  readonly children: ReactNode
  readonly isOnPicture?: boolean
  /** What belongs to the state, such as an age. */
  readonly detail?: ReactNode
  readonly state?: string
  readonly title?: string | undefined
}

/** Shows a state as shape, colour and word, so that it is clear without its colour. */
export const StateLabel = ({ shape, tone, children, isOnPicture = false, detail, state, title }: Props) => (
  <span
    className={isOnPicture ? styles.chip : styles.label}
    data-tone={tone ?? tones[shape]}
    data-state={state}
    title={title}
  >
    <Shape name={shape} />
    <span>{children}</span>
    {detail !== undefined && detail !== '' && <span className={styles.detail}>{detail}</span>}
  </span>
)

/** Shows the shape of a state in its colour, beside words of its own. */
export const StateShape = ({ name }: { name: ShapeName }) => (
  <span className={styles.label} data-tone={tones[name]}>
    <Shape name={name} />
  </span>
)

/** Shows what something is about on a soft ground in the colour of its state. */
export const StateSign = ({ tone, children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`${styles.sign} ${styles.toned}`} data-tone={tone}>
    {children}
  </span>
)

/** Shows a state in one word beside its sign. */
export const StateWord = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className={styles.label} data-tone={tone}>
    {children}
  </span>
)
