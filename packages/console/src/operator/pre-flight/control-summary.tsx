import { List, Stack, Text } from '@mantine/core'
import { ControlSchema } from '@wheelhouse/protocol'
import { type ControlInput, controlPlanOf } from '../../drive/control-plan.ts'
import type { PreFlight } from './use-pre-flight.ts'

const speeds = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 })

/** Summarizes the commands that the robot accepts. */
export function ControlSummary({ schema }: { schema: PreFlight['control_schema'] }) {
  const plan = controlPlanOf(ControlSchema.safeParse(schema).data ?? null)
  const { linearMps, angularRadps } = plan.fullSpeed
  const inputs = [...plan.speeds, ...plan.inputs]
  return (
    <Stack gap="xs">
      <Text>
        {plan.drives
          ? `Drives with keys, stick and gamepad, at most ${speeds.format(linearMps)} m/s and ${speeds.format(angularRadps)} rad/s.`
          : 'Keys, stick and gamepad do not drive this robot. Set its inputs in the cockpit.'}
      </Text>
      {inputs.length > 0 && (
        <>
          <Text size="sm" c="dimmed">
            Other inputs in the cockpit:
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
  if (field.type === 'boolean') return `${label}, on or off`
  if (field.type === 'string') return `${label}: ${field.enum.join(', ')}`
  const unit = field['x-unit'] ? ` ${field['x-unit']}` : ''
  const { minimum, maximum } = field
  if (minimum === undefined || maximum === undefined) return `${label}${unit && `,${unit}`}`
  return `${label}, ${speeds.format(minimum)} to ${speeds.format(maximum)}${unit}`
}
