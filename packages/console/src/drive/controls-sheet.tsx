import { SegmentedControl, Slider, Stack, Switch, Text } from '@mantine/core'
import { useEffect, useId } from 'react'
import { decimals } from '../telemetry/decimals.ts'
import { t } from '../texts/texts.ts'
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
        {t('drive.controls.note')}
      </Text>
      {hasPad ? (
        <GamepadSettings cockpit={cockpit} />
      ) : (
        <Text size="sm" c="dimmed">
          {t('drive.controls.noGamepad')}
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
  const name = useStore(gamepad.name) ?? ''
  const change = (next: Partial<ControlProfile>) => store.update((old) => ({ ...old, ...next }))
  return (
    <Stack gap="sm" component="section" aria-label={t('drive.controls.gamepad')}>
      <Text size="sm">{t('drive.controls.suspended', { gamepad: name })}</Text>
      <PadPicture gamepad={gamepad} />
      <PadMapping gamepad={gamepad} profile={profile} onChange={change} />
      <LabeledSlider
        label={t('drive.controls.deadZone')}
        text={t('drive.controls.deadZoneText', { percent: Math.round(profile.deadZone * 100) })}
        value={Math.round(profile.deadZone * 100)}
        max={MAX_DEAD_ZONE * 100}
        step={5}
        onChange={(percent) => change({ deadZone: percent / 100 })}
      />
      <LabeledSlider
        label={t('drive.controls.curve')}
        text={t('drive.controls.curveText', { exponent: decimals(profile.exponent, 1) })}
        value={profile.exponent}
        min={1}
        max={MAX_EXPONENT}
        step={0.1}
        onChange={(exponent) => change({ exponent })}
      />
      <Switch
        label={t('drive.controls.holdToDrive')}
        description={t('drive.controls.holdToDriveNote')}
        checked={profile.holdToDrive}
        onChange={(event) => change({ holdToDrive: event.currentTarget.checked })}
      />
    </Stack>
  )
}

const Rumble = ({ store }: { store: Store<ControlProfile> }) => (
  <Switch
    label={t('drive.controls.vibrate')}
    description={t('drive.controls.vibrateNote')}
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
        {t('drive.controls.hand')}
      </Text>
      <SegmentedControl
        aria-labelledby={id}
        data={[
          { value: 'left', label: t('drive.controls.left') },
          { value: 'right', label: t('drive.controls.right') },
        ]}
        value={useStore(store)}
        onChange={(hand) => store.set(hand === 'left' ? 'left' : 'right')}
      />
    </div>
  )
}
