import { Button, NumberInput, Select, SimpleGrid, Stack, Text } from '@mantine/core'
import { type KeyboardEvent, type PointerEvent, useEffect, useId, useRef } from 'react'
import { decimals } from '../base/format.ts'
import { Note } from '../base/states.tsx'
import { useStore } from '../base/store.ts'
import { t } from '../texts/texts.ts'
import type { Cockpit } from './cockpit.ts'
import { holdHandlers } from './command-menu.tsx'
import { atRest, type ControlInput, type InputValue, speedOf } from './control-plan.ts'
import styles from './controls.module.css'

/** Shows the inputs that the robot declares beyond driving. They are sent while the button is held. */
export function CommandInputs({ cockpit }: { cockpit: Cockpit }) {
  const { plan, inputValues, commandSender, operatorConnection } = cockpit
  useStore(operatorConnection.lease)
  const values = useStore(inputValues)
  const set = (input: ControlInput, value: InputValue | undefined) =>
    inputValues.update((old) => {
      const next = new Map(old)
      if (value === undefined) next.delete(input)
      else next.set(input, value)
      return next
    })
  const hold = () => commandSender.hold(true)
  return (
    <section aria-label={t('drive.inputs.label')}>
      <Stack gap="sm">
        {plan.speeds.map((input) => (
          <SpeedInput key={input.path.join('.')} input={input} cockpit={cockpit} />
        ))}
        <SimpleGrid cols={1}>
          {plan.inputs.map((input) => (
            <Input
              key={input.path.join('.')}
              input={input}
              value={values.get(input)}
              onChange={(value) => set(input, value)}
            />
          ))}
        </SimpleGrid>
        {plan.inputs.length > 0 && (
          <>
            <Button
              variant="default"
              disabled={values.size === 0 || !operatorConnection.holds()}
              {...holdHandlers({ begin: hold, end: () => commandSender.hold(false) })}
              onPointerDown={({ currentTarget }) => {
                currentTarget.focus() // while a text field has the focus, nothing is sent
                hold()
              }}
            >
              {t('drive.inputs.hold')}
            </Button>
            <Note>{t('drive.inputs.holdNote')}</Note>
          </>
        )}
        {plan.speeds.length > 0 && <Note>{t('drive.inputs.speedNote')}</Note>}
      </Stack>
    </section>
  )
}

interface InputProps {
  readonly input: ControlInput
  readonly value: InputValue | undefined
  readonly onChange: (value: InputValue | undefined) => void
}

const SWITCH = [
  { value: 'on', label: t('drive.inputs.on') },
  { value: 'off', label: t('drive.inputs.off') },
]

function Input({ input, value, onChange }: InputProps) {
  const { label, description, required, field } = input
  const shown = { label, description, withAsterisk: required }
  const choice = (
    data: string[] | typeof SWITCH,
    text: string | null,
    read: (text: string) => InputValue,
  ) => (
    <Select
      {...shown}
      data={data}
      value={text}
      onChange={(next) => onChange(next === null ? undefined : read(next))}
      clearable
    />
  )
  if (field.type === 'boolean')
    return choice(SWITCH, value === undefined ? null : value ? 'on' : 'off', (text) => text === 'on')
  if (field.type === 'string')
    return choice(field.enum, value === undefined ? null : String(value), (text) => text)
  return (
    <NumberInput
      {...shown}
      value={typeof value === 'number' ? value : ''}
      onChange={(next) => onChange(typeof next === 'number' ? next : undefined)}
      min={field.minimum}
      max={field.maximum}
      clampBehavior="strict"
      allowDecimal={field.type === 'number'}
      step={field.type === 'number' ? 0.1 : 1}
      suffix={field['x-unit'] ? ` ${field['x-unit']}` : ''}
    />
  )
}

/** Returns what follows a pointer from its press until it is released or lost. */
const whileHeld = (follow: (event: PointerEvent) => void, release: () => void) => ({
  onPointerDown: (event: PointerEvent) => {
    event.currentTarget.setPointerCapture(event.pointerId)
    follow(event)
  },
  onPointerMove: (event: PointerEvent) =>
    event.currentTarget.hasPointerCapture(event.pointerId) && follow(event),
  onPointerUp: release,
  onPointerCancel: release,
  onLostPointerCapture: release,
})

const KEYS: Readonly<Record<string, number>> = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }

/**
 * Renders the input of a speed: a slider that returns to 0 when the operator lets go of it or of the arrow key, and when
 * it loses the pointer or the focus. Its value is sent only while it is held.
 */
function SpeedInput({ cockpit, input }: { cockpit: Cockpit; input: ControlInput }) {
  const { commandSender, deflections, preferences } = cockpit
  const deflection = useStore(deflections).get(input) ?? 0
  const limit = useStore(preferences.limit)
  const id = useId()
  const release = () => commandSender.deflect(input, 0)
  const deflect = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect()
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
        className={styles.speed}
        role="slider"
        tabIndex={0}
        title={input.description}
        aria-labelledby={id}
        aria-valuemin={-100}
        aria-valuemax={100}
        aria-valuenow={Math.round(deflection * 100)}
        aria-valuetext={text}
        // While a text field has the focus, nothing is sent.
        onPointerDownCapture={({ currentTarget }) => currentTarget.focus()}
        {...whileHeld(deflect, release)}
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

/** The travel of the knob, in percent of its size. */
const TRAVEL = 68

/**
 * Renders a virtual joystick for touch and mouse. It shows the sum of all inputs. While it has the focus, the arrow keys drive
 * as usual.
 */
export function Stick({ cockpit }: { cockpit: Cockpit }) {
  const knob = useRef<HTMLDivElement>(null)
  const { axes, commandSender, operatorConnection } = cockpit
  useStore(operatorConnection.state)
  useStore(operatorConnection.link)
  useStore(operatorConnection.lease)
  useEffect(() => {
    const show = () => {
      const { forward, left } = axes.get()
      knob.current?.style.setProperty('translate', `${-left * TRAVEL}% ${-forward * TRAVEL}%`)
    }
    show()
    return axes.subscribe(show)
  }, [axes])

  const steer = ({ clientX, clientY, currentTarget }: PointerEvent) => {
    const { left, top, width, height } = currentTarget.getBoundingClientRect()
    const [x, y] = [(clientX - left) / (width / 2) - 1, (clientY - top) / (height / 2) - 1]
    // Outside the rim only the direction counts.
    const over = Math.max(1, Math.hypot(x, y))
    commandSender.steer('stick', { forward: -y / over, left: -x / over })
  }
  return (
    <div
      className={styles.stick}
      data-hud="stick"
      data-off={!operatorConnection.canDrive()}
      role="application"
      aria-label={t('drive.stick.label')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: while it has the focus, no other element uses the arrow keys
      tabIndex={0}
      {...whileHeld(steer, () => commandSender.steer('stick', atRest))}
    >
      <div ref={knob} className={styles.knob} />
    </div>
  )
}
