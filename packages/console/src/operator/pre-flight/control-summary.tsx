import { List, Stack, Text } from '@mantine/core'
import { ControlSchema } from '@wheelhouse/protocol'
import { type ControlInput, controlPlanOf } from '../../drive/control-plan.ts'
import { language, t } from '../../texts/texts.ts'
import type { PreFlight } from './use-pre-flight.ts'

const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 2 })

/** Summarizes the commands that the robot accepts. */
export function ControlSummary({ schema }: { schema: PreFlight['control_schema'] }) {
  const plan = controlPlanOf(ControlSchema.safeParse(schema).data ?? null)
  const { linearMps, angularRadps } = plan.fullSpeed
  const inputs = [...plan.speeds, ...plan.inputs]
  return (
    <Stack gap="xs">
      <Text>
        {plan.drives
          ? t('operator.controls.drives', {
              speed: numbers.format(linearMps),
              turn: numbers.format(angularRadps),
            })
          : t('operator.controls.drivesNot')}
      </Text>
      {inputs.length > 0 && (
        <>
          <Text size="sm" c="dimmed">
            {t('operator.controls.otherInputs')}
          </Text>
          <List size="sm" listStyleType="none">
            {inputs.map((input) => (
              <List.Item key={input.path.join('.')}>{inputText(input)}</List.Item>
            ))}
          </List>
        </>
      )}
    </Stack>
  )
}

/** Returns an input with its bounds, such as "Gripper, 0 to 100 %". */
function inputText({ label, field }: ControlInput): string {
  if (field.type === 'boolean') return t('operator.controls.onOrOff', { input: label })
  if (field.type === 'string') return `${label}: ${field.enum.join(', ')}`
  const { minimum, maximum, 'x-unit': unit } = field
  if (minimum === undefined || maximum === undefined) return unit ? `${label}, ${unit}` : label
  const range = { input: label, minimum: numbers.format(minimum), maximum: numbers.format(maximum) }
  return unit ? t('operator.controls.rangeWithUnit', { ...range, unit }) : t('operator.controls.range', range)
}
