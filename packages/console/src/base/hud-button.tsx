import type { ComponentProps, ReactNode } from 'react'
import styles from './hud-button.module.css'

interface Props extends ComponentProps<'button'> {
  readonly children: ReactNode
  /** The key that does the same. */
  readonly hint?: string
  /** Whether it is what the operator does next. */
  readonly isPrimary?: boolean
}

/** Renders a button on top of the picture. */
export const HudButton = ({ children, hint, isPrimary = false, className = '', ...button }: Props) => (
  <button
    type="button"
    {...button}
    className={`${styles.button} ${className}`}
    data-primary={isPrimary}
    aria-keyshortcuts={hint}
  >
    {children}
    {hint && (
      <span className={styles.hint} aria-hidden="true">
        {hint}
      </span>
    )}
  </button>
)
