import { type PointerEvent, useEffect, useRef } from 'react'
import { t } from '../texts/texts.ts'
import { atRest } from './axes.ts'
import type { Cockpit } from './cockpit.ts'
import styles from './controls.module.css'

/** The travel of the knob, in percent of its size. */
const TRAVEL = 75

/**
 * Renders a virtual joystick for touch and mouse. It shows the sum of all inputs. While it has the focus, the arrow keys drive
 * as usual.
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
    // Outside the rim only the direction counts.
    const over = Math.max(1, Math.hypot(x, y))
    commandSender.steer('stick', { forward: -y / over, left: -x / over })
  }
  const releaseStick = () => commandSender.steer('stick', atRest)
  return (
    <div
      ref={base}
      className={styles.stick}
      role="application"
      aria-label={t('drive.stick.label')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: while it has the focus, no other element uses the arrow keys
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
