import { Text } from '@mantine/core'
import { type KeyboardEvent, type PointerEvent, useId, useRef } from 'react'
import { decimals } from '../ui/format.ts'
import { useStore } from '../ui/store.ts'
import type { Cockpit } from './cockpit.ts'
import { type ControlInput, speedOf } from './control-plan.ts'
import styles from './controls.module.css'

const KEYS: Readonly<Record<string, number>> = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }

/**
 * Renders the input of a speed: a slider that returns to 0 when the operator lets go of it or of the arrow key, and when
 * it loses the pointer or the focus. Its value is sent only while it is held.
 */
export function SpeedInput({ cockpit, input }: { cockpit: Cockpit; input: ControlInput }) {
  const track = useRef<HTMLDivElement>(null)
  const { commandSender, deflections, preferences } = cockpit
  const deflection = useStore(deflections).get(input) ?? 0
  const limit = useStore(preferences.limit)
  const id = useId()
  const release = () => commandSender.deflect(input, 0)
  const held = (event: PointerEvent) => track.current?.hasPointerCapture(event.pointerId) === true
  const deflect = ({ clientX }: PointerEvent) => {
    const { left, width } = (track.current as HTMLDivElement).getBoundingClientRect()
    const position = ((clientX - left) / width) * 2 - 1
    commandSender.deflect(input, Math.min(Math.max(position, -1), 1))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const direction = KEYS[event.key]
    if (direction === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    if (!event.repeat) commandSender.deflect(input, direction)
  }
  const text = speedText(input, deflection * limit)
  return (
    <div>
      <Text size="sm" id={id}>
        {input.label}: {text}
      </Text>
      <div
        ref={track}
        className={styles.speed}
        role="slider"
        tabIndex={0}
        title={input.description}
        aria-labelledby={id}
        aria-valuemin={-100}
        aria-valuemax={100}
        aria-valuenow={Math.round(deflection * 100)}
        aria-valuetext={text}
        onPointerDown={(event) => {
          event.currentTarget.focus() // while a text field has the focus, nothing is sent
          event.currentTarget.setPointerCapture(event.pointerId)
          deflect(event)
        }}
        onPointerMove={(event) => held(event) && deflect(event)}
        onPointerUp={release}
        onPointerCancel={release}
        onLostPointerCapture={release}
        onKeyDown={onKeyDown}
        onKeyUp={release}
        onBlur={release}
      >
        <div className={styles.speedKnob} style={{ insetInlineStart: `${(deflection + 1) * 50}%` }} />
      </div>
    </div>
  )
}

function speedText(input: ControlInput, deflection: number): string {
  const unit = 'x-unit' in input.field ? (input.field['x-unit'] ?? '') : ''
  return `${decimals(speedOf(input, deflection), 2)} ${unit}`.trim()
}
