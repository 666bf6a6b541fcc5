import { type PointerEvent, useEffect, useRef } from 'react'
import { atRest } from './axes.ts'
import styles from './cockpit.module.css'
import type { Cockpit } from './cockpit.ts'

/** How far the knob goes, in percent of its own size. */
const TRAVEL = 75

/**
 * A stick for fingers and mice. It shows what all inputs say together; with the focus on it, the arrow keys move it
 * as they do everywhere.
 */
export function Stick({ cockpit }: { cockpit: Cockpit }) {
  const base = useRef<HTMLDivElement>(null)
  const knob = useRef<HTMLDivElement>(null)
  const { axes, commandSender } = cockpit
  useEffect(() => {
    const show = () => {
      const { forward, left } = axes.get()
      knob.current?.style.setProperty('translate', `${-left * TRAVEL}% ${-forward * TRAVEL}%`)
    }
    show()
    return axes.subscribe(show)
  }, [axes])

  const held = (event: PointerEvent) => base.current?.hasPointerCapture(event.pointerId) === true
  const steer = ({ clientX, clientY }: PointerEvent) => {
    const { left, top, width, height } = (base.current as HTMLDivElement).getBoundingClientRect()
    const [x, y] = [(clientX - left) / (width / 2) - 1, (clientY - top) / (height / 2) - 1]
    // Beyond the rim, the direction counts.
    const over = Math.max(1, Math.hypot(x, y))
    commandSender.steer('stick', { forward: -y / over, left: -x / over })
  }
  const releaseStick = () => commandSender.steer('stick', atRest)
  return (
    <div
      ref={base}
      className={styles.stick}
      role="application"
      aria-label="Stick: drag it, or press the arrow keys"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: with the focus on it, the arrow keys are nobody else's
      tabIndex={0}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        steer(event)
      }}
      onPointerMove={(event) => held(event) && steer(event)}
      onPointerUp={releaseStick}
      onPointerCancel={releaseStick}
      onLostPointerCapture={releaseStick}
    >
      <div ref={knob} className={styles.knob} />
    </div>
  )
}
