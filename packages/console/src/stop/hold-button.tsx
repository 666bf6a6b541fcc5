import { type ComponentProps, type CSSProperties, type ReactNode, useEffect, useRef, useState } from 'react'
import { isTyping, latinKey } from '../base/keys.ts'
import styles from './hold-button.module.css'

interface Props extends Omit<ComponentProps<'button'>, 'onClick'> {
  readonly children: ReactNode
  /** How long it must be held. */
  readonly holdMs: number
  /** The key of the page that does the same while it is held, in lower case. */
  readonly holdKey?: string | undefined
  readonly onHeld: () => void
}

/**
 * Renders a button whose action needs a hold, by pointer, by Enter, or by a key of the page. It fills while it is held; letting go
 * cancels. Its label must say that it is held.
 */
export function HoldButton({ children, holdMs, holdKey, onHeld, className = '', ...button }: Props) {
  const [isHeld, setHeld] = useState(false)
  const latest = useRef(onHeld)
  useEffect(() => {
    latest.current = onHeld
  })
  useEffect(() => {
    if (!isHeld) return
    const timer = setTimeout(() => {
      setHeld(false)
      latest.current()
    }, holdMs)
    return () => clearTimeout(timer)
  }, [isHeld, holdMs])
  useHoldKey(holdKey, setHeld)
  const release = () => setHeld(false)
  return (
    <button
      type="button"
      {...button}
      className={`${styles.hold} ${className}`}
      style={{ '--hold': `${holdMs}ms` } as CSSProperties}
      data-held={isHeld}
      onPointerDown={(event) => {
        event.currentTarget.focus()
        setHeld(true)
      }}
      onPointerUp={release}
      onPointerLeave={release}
      onPointerCancel={release}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={(event) => event.key === 'Enter' && !event.repeat && setHeld(true)}
      onKeyUp={release}
      onBlur={release}
    >
      {children}
    </button>
  )
}

/** Holds while a key of the page is down. */
function useHoldKey(holdKey: string | undefined, setHeld: (isHeld: boolean) => void): void {
  useEffect(() => {
    if (holdKey === undefined) return
    const listening = new AbortController()
    const options = { signal: listening.signal }
    const isOurs = (event: KeyboardEvent) =>
      latinKey(event) === holdKey && !isTyping() && document.querySelector('[role=dialog]') === null
    window.addEventListener(
      'keydown',
      (event) => {
        if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || !isOurs(event)) return
        event.preventDefault()
        setHeld(true)
      },
      options,
    )
    window.addEventListener('keyup', (event) => latinKey(event) === holdKey && setHeld(false), options)
    window.addEventListener('blur', () => setHeld(false), options)
    return () => listening.abort()
  }, [holdKey, setHeld])
}
