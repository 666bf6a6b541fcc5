import { SegmentedControl, Slider, Stack, Switch, Text } from '@mantine/core'
import { useEffect, useId } from 'react'
import { type Store, useStore } from '../ui/store.ts'
import type { Cockpit } from './cockpit.ts'
import { type ControlProfile, MAX_DEAD_ZONE, MAX_EXPONENT } from './control-profile.ts'
import { limitText } from './figures.tsx'
import { PadMapping } from './pad-mapping.tsx'
import { PadPicture } from './pad-picture.tsx'
import type { Hand } from './preferences.ts'

/** Shows the input devices and their settings. The gamepad does not drive while it is open. */
export function ControlsSheet({ cockpit }: { cockpit: Cockpit }) {
  const { preferences, gamepad, plan } = cockpit
  const limit = useStore(preferences.limit)
  const hasPad = useStore(gamepad.name) !== undefined
  useEffect(() => {
    gamepad.suspend(true)
    return () => gamepad.suspend(false)
  }, [gamepad])
  return (
    <Stack gap="md">
      <Text size="sm">{limitText(limit, plan.fullSpeed)}</Text>
      <Text size="sm" c="dimmed">
        Drive with the arrow keys, W A S D, the stick or a gamepad. The robot stops when you let go, switch
        windows or type.
      </Text>
      {hasPad ? (
        <GamepadSettings cockpit={cockpit} />
      ) : (
        <Text size="sm" c="dimmed">
          No gamepad. Press any button to connect one.
        </Text>
      )}
      <Rumble store={preferences.controls} />
      <HandSetting store={preferences.hand} />
    </Stack>
  )
}

function GamepadSettings({ cockpit }: { cockpit: Cockpit }) {
  const { gamepad, preferences } = cockpit
  const store = preferences.controls
  const profile = useStore(store)
  const change = (next: Partial<ControlProfile>) => store.update((old) => ({ ...old, ...next }))
  return (
    <Stack gap="sm" component="section" aria-label="Gamepad">
      <Text size="sm">
        {useStore(gamepad.name)}. It does not drive while this sheet is open: try its axes and buttons.
      </Text>
      <PadPicture gamepad={gamepad} />
      <PadMapping gamepad={gamepad} profile={profile} onChange={change} />
      <LabeledSlider
        label="Dead zone"
        text={`Dead zone: ${Math.round(profile.deadZone * 100)} % of stick travel`}
        value={Math.round(profile.deadZone * 100)}
        max={MAX_DEAD_ZONE * 100}
        step={5}
        onChange={(percent) => change({ deadZone: percent / 100 })}
      />
      <LabeledSlider
        label="Curve"
        text={`Curve: exponent ${profile.exponent.toFixed(1)}. A larger one is finer near the middle.`}
        value={profile.exponent}
        min={1}
        max={MAX_EXPONENT}
        step={0.1}
        onChange={(exponent) => change({ exponent })}
      />
      <Switch
        label="Hold a button to drive"
        description="The stick drives only while you hold the button, so that a dropped gamepad does not drive."
        checked={profile.holdToDrive}
        onChange={(event) => change({ holdToDrive: event.currentTarget.checked })}
      />
    </Stack>
  )
}

const Rumble = ({ store }: { store: Store<ControlProfile> }) => (
  <Switch
    label="Vibrate"
    description="Gamepad or phone vibrates when an obstacle is near or data is late."
    checked={useStore(store).rumbles}
    onChange={({ currentTarget: { checked } }) => store.update((old) => ({ ...old, rumbles: checked }))}
  />
)

interface LabeledSliderProps {
  readonly label: string
  readonly text: string
  readonly value: number
  readonly min?: number
  readonly max: number
  readonly step: number
  readonly onChange: (value: number) => void
}

const LabeledSlider = ({ label, text, ...slider }: LabeledSliderProps) => (
  <div>
    <Text size="sm">{text}</Text>
    <Slider {...slider} label={null} thumbLabel={label} />
  </div>
)

function HandSetting({ store }: { store: Store<Hand> }) {
  const id = useId()
  return (
    <div>
      <Text size="sm" id={id}>
        Hand that holds the stick on a phone
      </Text>
      <SegmentedControl
        aria-labelledby={id}
        data={[
          { value: 'left', label: 'Left' },
          { value: 'right', label: 'Right' },
        ]}
        value={useStore(store)}
        onChange={(hand) => store.set(hand === 'left' ? 'left' : 'right')}
      />
    </div>
  )
}
