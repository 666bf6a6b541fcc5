import { Button, NumberInput, Paper, Select, SimpleGrid, Stack, Text } from '@mantine/core'
import type { KeyboardEvent } from 'react'
import { t } from '../texts/texts.ts'
import { useStore } from '../ui/store.ts'
import type { Cockpit } from './cockpit.ts'
import type { ControlInput, InputValue } from './control-plan.ts'
import styles from './controls.module.css'
import { SpeedInput } from './speed-input.tsx'

/** Shows the inputs that the robot declares beyond driving. They are sent while the button is held. */
export function CommandInputs({ cockpit }: { cockpit: Cockpit }) {
  const { plan, inputValues, commandSender } = cockpit
  const values = useStore(inputValues)
  if (plan.inputs.length === 0 && plan.speeds.length === 0) return null
  const set = (input: ControlInput, value: InputValue | undefined) =>
    inputValues.update((old) => {
      const next = new Map(old)
      if (value === undefined) next.delete(input)
      else next.set(input, value)
      return next
    })
  const hold = () => commandSender.hold(true)
  const release = () => commandSender.hold(false)
  const onEnter = (event: KeyboardEvent) => event.key === 'Enter' && !event.repeat && hold()
  return (
    <Paper p="md" component="section" aria-label={t('drive.inputs.label')} className={styles.inputs}>
      <Stack gap="sm">
        {plan.speeds.map((input) => (
          <SpeedInput key={input.path.join('.')} input={input} cockpit={cockpit} />
        ))}
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
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
          <Button
            variant="default"
            disabled={values.size === 0}
            onPointerDown={({ currentTarget }) => {
              currentTarget.focus() // while a text field has the focus, nothing is sent
              hold()
            }}
            onPointerUp={release}
            onPointerLeave={release}
            onPointerCancel={release}
            onKeyDown={onEnter}
            onKeyUp={release}
            onBlur={release}
          >
            {t('drive.inputs.hold')}
          </Button>
        )}
        {plan.inputs.length > 0 && (
          <Text size="sm" c="dimmed">
            {t('drive.inputs.holdNote')}
          </Text>
        )}
        {plan.speeds.length > 0 && (
          <Text size="sm" c="dimmed">
            {t('drive.inputs.speedNote')}
          </Text>
        )}
      </Stack>
    </Paper>
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
  if (field.type === 'boolean') {
    const text = value === undefined ? null : value ? 'on' : 'off'
    const change = (next: string | null) => onChange(next === null ? undefined : next === 'on')
    return <Select {...shown} data={SWITCH} value={text} onChange={change} clearable />
  }
  if (field.type === 'string') {
    const change = (next: string | null) => onChange(next ?? undefined)
    return (
      <Select
        {...shown}
        data={field.enum}
        value={value === undefined ? null : String(value)}
        onChange={change}
        clearable
      />
    )
  }
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
