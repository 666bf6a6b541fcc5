import { useWindowEvent } from '@mantine/hooks'
import {
  type ComponentProps,
  type CSSProperties,
  type KeyboardEvent,
  useEffect,
  useRef,
  useState,
} from 'react'
import { isShortcut, latinKey } from '../base/keys.ts'
import styles from './hold-button.module.css'

interface Props extends Omit<ComponentProps<'button'>, 'onClick'> {
  readonly holdMs: number
  readonly onHold: () => void
  /** A letter that holds it like the space bar, while it has the focus. */
  readonly holdKey?: string
  /** A letter that holds it wherever the focus is, except in fields and dialogs. */
  readonly pageKey?: string
}

/**
 * Renders a button that acts when it has been held, with the progress as its background. Letting go cancels. A click without a
 * pointer or a key, which only assistive technology sends, acts at once, because it cannot hold.
 */
export function HoldButton({ holdMs, onHold, holdKey, pageKey, className = '', style, ...button }: Props) {
  const [isHeld, setHeld] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const act = useRef(onHold)
  useEffect(() => {
    act.current = onHold
  })
  const release = () => {
    clearTimeout(timer.current)
    timer.current = undefined
    setHeld(false)
  }
  const hold = () => {
    if (timer.current !== undefined) return
    setHeld(true)
    timer.current = setTimeout(() => {
      release()
      act.current()
    }, holdMs)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  useWindowEvent('keydown', (event) => {
    if (pageKey === undefined || latinKey(event) !== pageKey || !isShortcut(event)) return
    event.preventDefault()
    hold()
  })
  useWindowEvent('keyup', (event) => pageKey !== undefined && latinKey(event) === pageKey && release())
  useWindowEvent('blur', () => pageKey !== undefined && release())
  // The browser would click at the end of the key press.
  const byKey = (event: KeyboardEvent, then: () => void) => {
    if (![' ', 'Enter', holdKey].includes(event.key.toLowerCase().replace('enter', 'Enter'))) return
    event.preventDefault()
    event.stopPropagation()
    then()
  }
  return (
    <button
      type="button"
      {...button}
      className={`${styles.hold} ${className}`}
      data-held={isHeld}
      style={{ '--hold': `${holdMs}ms`, ...style } as CSSProperties}
      onPointerDown={(event) => {
        if (event.button !== 0) return
        // A finger that moves a little still holds.
        event.currentTarget.setPointerCapture(event.pointerId)
        hold()
      }}
      onPointerUp={release}
      onPointerCancel={release}
      onBlur={release}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={(event) => byKey(event, () => !event.repeat && hold())}
      onKeyUp={(event) => byKey(event, release)}
      onClick={({ detail }) => detail === 0 && act.current()}
    />
  )
}
