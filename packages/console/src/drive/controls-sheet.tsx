import { SegmentedControl, Select, Slider, Stack, Switch, Text } from '@mantine/core'
import { useEffect, useId } from 'react'
import { t } from '../texts/texts.ts'
import { decimals } from '../ui/format.ts'
import { type Store, useStore } from '../ui/store.ts'
import type { Cockpit } from './cockpit.ts'
import { type ControlProfile, MAX_DEAD_ZONE, MAX_EXPONENT, MAX_PAD_NAME } from './control-profile.ts'
import { limitText } from './figures.tsx'
import { PadMapping } from './pad-mapping.tsx'
import { PadPicture } from './pad-picture.tsx'
import type { Hand } from './preferences.ts'

/** Shows the input devices and their settings. The gamepad does not drive while it is open. */
export function ControlsSheet({ cockpit }: { cockpit: Cockpit }) {
  const { preferences, gamepad, plan } = cockpit
  const limit = useStore(preferences.limit)
  const pad = useStore(gamepad.state)
  const names = useStore(gamepad.names)
  const profile = useStore(preferences.controls)
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
      {pad.phase === 'none' && (
        <Text size="sm" c="dimmed">
          {t('drive.controls.noGamepad')}
        </Text>
      )}
      {pad.phase === 'unknown' && (
        <Text size="sm">{t('drive.controls.unknownGamepad', { gamepad: pad.name })}</Text>
      )}
      {(pad.phase === 'unknown' || names.length > 1 || profile.pad !== undefined) && (
        <PadChoice names={names} store={preferences.controls} />
      )}
      {(pad.phase === 'waiting' || pad.phase === 'ready') && (
        <GamepadSettings cockpit={cockpit} name={pad.name} />
      )}
      <Rumble store={preferences.controls} />
      <HandSetting store={preferences.hand} />
    </Stack>
  )
}

/** Chooses the gamepad that drives. The stop button of all of them stops. */
function PadChoice({ names, store }: { names: readonly string[]; store: Store<ControlProfile> }) {
  const { pad } = useStore(store)
  const choices = new Set(names.map((name) => name.slice(0, MAX_PAD_NAME)))
  if (pad !== undefined) choices.add(pad)
  return (
    <Select
      label={t('drive.controls.padChoice')}
      description={t('drive.controls.padChoiceNote')}
      placeholder={t('drive.controls.standardPad')}
      clearable
      data={[...choices]}
      value={pad ?? null}
      onChange={(name) => store.update(({ pad: _, ...old }) => (name === null ? old : { ...old, pad: name }))}
    />
  )
}

function GamepadSettings({ cockpit, name }: { cockpit: Cockpit; name: string }) {
  const { gamepad, preferences } = cockpit
  const store = preferences.controls
  const profile = useStore(store)
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
