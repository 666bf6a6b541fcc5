import { NativeSelect, NumberInput } from '@mantine/core'
import type { RobotDetail } from './use-robots.ts'

type Level = RobotDetail['log_event_level']

const levels: { value: Level; label: string }[] = [
  { value: 'off', label: 'No lines' },
  { value: 'warn', label: 'Warnings and errors' },
  { value: 'error', label: 'Errors' },
]

/** The charge below which the owner and the operator are notified. */
export const LowBatteryField = (props: {
  value: number | string
  error: string | undefined
  onChange: (value: number | string) => void
}) => (
  <NumberInput
    label="Low battery"
    description="Below this charge you and the operator in session are notified; 0 for never"
    suffix=" %"
    min={0}
    max={100}
    allowDecimal={false}
    {...props}
  />
)

/** Which lines of the log become events. */
export const LogEventField = (props: {
  value: Level
  error: string | undefined
  onChange: (value: Level) => void
}) => (
  <NativeSelect
    label="Log lines as events"
    description="Which lines of its log go to your event stream and webhooks, at most one event a minute"
    data={levels}
    value={props.value}
    error={props.error}
    onChange={({ currentTarget: { value } }) => props.onChange(value as Level)}
  />
)
