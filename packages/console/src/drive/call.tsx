import { useWindowEvent } from '@mantine/hooks'
import type { ComponentProps, CSSProperties, ReactNode } from 'react'
import { useRef, useState } from 'react'
import { isShortcut, latinKey } from '../base/keys.ts'
import type { ShapeName } from '../status/shape-name.ts'
import { Shape } from '../status/shapes.tsx'
import styles from './plates.module.css'

/** The one thing that needs an answer, or that explains why the robot does not move. */
export interface Call {
  readonly id: string
  readonly shape: ShapeName
  readonly tone: keyof typeof colours
  readonly title: string
  readonly text?: ReactNode
  readonly acts?: ReactNode
  /** Whether screen readers interrupt for it. */
  readonly isUrgent?: boolean
  readonly testId?: string
}

const colours = {
  blind: 'var(--hud-blind)',
  paused: 'var(--hud-paused)',
  request: 'var(--hud-accent)',
  off: 'var(--ink)',
}

/** Shows the first call, in a place where it moves nothing. A call takes no focus. */
export function CallSlot({ calls }: { calls: readonly Call[] }) {
  const [call] = calls
  if (!call) return null
  const { id, shape, tone, title, text, acts, isUrgent = false, testId = 'call' } = call
  return (
    <section
      key={id}
      className={styles.call}
      style={{ '--tone': colours[tone] } as CSSProperties}
      data-hud="call"
      data-testid={testId}
      role={isUrgent ? 'alert' : 'status'}
      aria-label={title}
    >
      <div className={styles.callBody}>
        <span className={styles.callSign}>
          <Shape name={shape} />
        </span>
        <h2 className={styles.callTitle}>{title}</h2>
        <div className={styles.callText}>{text}</div>
        <div className={styles.callActs}>{acts}</div>
      </div>
    </section>
  )
}

export const KeyHint = ({ children }: { children: ReactNode }) => (
  <span className={styles.keyHint} aria-hidden="true">
    {children}
  </span>
)

/** A key that was meant for what was there before a call appeared does not answer it. */
const DEAF_MS = 500

interface ButtonProps extends ComponentProps<'button'> {
  readonly children: ReactNode
  /** The key that does the same, in lower case. */
  readonly shortcut?: string
  /** The key that does the same and that the cockpit handles. */
  readonly hint?: string
  readonly isPrimary?: boolean
}

export function CallButton(props: ButtonProps) {
  const { children, shortcut, hint, isPrimary = false, className = '', ...button } = props
  const self = useRef<HTMLButtonElement>(null)
  const [appearedMs] = useState(() => performance.now())
  useWindowEvent('keydown', (event) => {
    if (shortcut === undefined || latinKey(event) !== shortcut || !isShortcut(event)) return
    event.preventDefault()
    if (performance.now() - appearedMs >= DEAF_MS) self.current?.click()
  })
  return (
    <button
      ref={self}
      type="button"
      {...button}
      className={`${styles.button} ${className}`}
      data-primary={isPrimary}
      aria-keyshortcuts={hint ?? shortcut}
    >
      {children}
      {(hint ?? shortcut) && <KeyHint>{hint ?? shortcut?.toUpperCase()}</KeyHint>}
    </button>
  )
}
