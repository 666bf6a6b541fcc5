import { NativeSelect, NumberInput } from '@mantine/core'
import { t } from '../texts/texts.ts'
import type { RobotDetail } from './use-robots.ts'

type Level = RobotDetail['log_event_level']

const levels: { value: Level; label: string }[] = [
  { value: 'off', label: t('robots.fields.noLogEvents') },
  { value: 'warn', label: t('robots.fields.warningEvents') },
  { value: 'error', label: t('robots.fields.errorEvents') },
]

/** Renders the field for the charge below which owner and operator are notified. */
export const LowBatteryField = (props: {
  value: number | string
  error: string | undefined
  onChange: (value: number | string) => void
}) => (
  <NumberInput
    label={t('robots.fields.lowBattery')}
    description={t('robots.fields.lowBatteryNote')}
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
    label={t('robots.fields.logEvents')}
    description={t('robots.fields.logEventsNote')}
    data={levels}
    value={props.value}
    error={props.error}
    onChange={({ currentTarget: { value } }) => props.onChange(value as Level)}
  />
)
