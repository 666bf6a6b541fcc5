import { NativeSelect, NumberInput } from '@mantine/core'
import type { RobotDetail } from './use-robots.ts'

type Level = RobotDetail['log_event_level']

const levels: { value: Level; label: string }[] = [
  { value: 'off', label: 'None' },
  { value: 'warn', label: 'Warnings and errors' },
  { value: 'error', label: 'Errors only' },
]

/** Renders the field for the charge below which owner and operator are notified. */
export const LowBatteryField = (props: {
  value: number | string
  error: string | undefined
  onChange: (value: number | string) => void
}) => (
  <NumberInput
    label="Low battery"
    description="You and the operator are notified below this charge. 0 turns this off."
    suffix=" %"
    min={0}
    max={100}
    allowDecimal={false}
    {...props}
  />
)

/** Renders the field for the level of log lines that become events. */
export const LogEventField = (props: {
  value: Level
  error: string | undefined
  onChange: (value: Level) => void
}) => (
  <NativeSelect
    label="Log lines as events"
    description="Sends log lines to your event stream and webhooks, at most one event per minute."
    data={levels}
    value={props.value}
    error={props.error}
    onChange={({ currentTarget: { value } }) => props.onChange(value as Level)}
  />
)
