import { Paper, Slider, Stack, Text } from '@mantine/core'
import { useId } from 'react'
import { type Store, useStore } from '../ui/store.ts'
import type { Cockpit } from './cockpit.ts'
import { MAX_DEAD_ZONE, MIN_SPEED_LIMIT } from './preferences.ts'

/** Shows the input devices and the speed limit. */
export function Controls({ cockpit }: { cockpit: Cockpit }) {
  const { preferences, gamepad, plan } = cockpit
  const { linearMps, angularRadps } = plan.fullSpeed
  const limit = useStore(preferences.limit)
  const speeds = `${(limit * linearMps).toFixed(2)} m/s and ${(limit * angularRadps).toFixed(2)} rad/s`
  return (
    <Paper withBorder p="md" component="section" aria-label="Controls">
      <Stack gap="sm">
        <PercentSlider
          label="Speed limit"
          hint={speeds}
          store={preferences.limit}
          min={MIN_SPEED_LIMIT}
          max={1}
        />
        <Text size="sm" c="dimmed">
          Drive with the arrow keys, W A S D, the stick or a gamepad. The robot stops when you let go, switch
          windows or type.
        </Text>
        <GamepadLine name={useStore(gamepad.name)} deadZone={preferences.deadZone} />
      </Stack>
    </Paper>
  )
}

function GamepadLine({ name, deadZone }: { name: string | undefined; deadZone: Store<number> }) {
  if (name === undefined) {
    return (
      <Text size="sm" c="dimmed">
        No gamepad. Press any button to connect one.
      </Text>
    )
  }
  return (
    <Stack gap="xs">
      <Text size="sm">
        Gamepad: {name}. The left stick drives and turns. Button B (circle) stops the robot.
      </Text>
      <PercentSlider label="Dead zone" hint="of stick travel" store={deadZone} min={0} max={MAX_DEAD_ZONE} />
    </Stack>
  )
}

interface PercentSliderProps {
  readonly label: string
  readonly hint: string
  readonly store: Store<number>
  readonly min: number
  readonly max: number
}

/** Renders a slider for a share of 0 to 1, shown in percent. */
function PercentSlider({ label, hint, store, min, max }: PercentSliderProps) {
  const value = useStore(store)
  const id = useId()
  return (
    <div>
      <Text size="sm" id={id}>
        {label}: {Math.round(value * 100)} % ({hint})
      </Text>
      <Slider
        min={min * 100}
        max={max * 100}
        step={5}
        value={Math.round(value * 100)}
        onChange={(percent) => store.set(percent / 100)}
        label={null}
        thumbLabel={label}
      />
    </div>
  )
}
