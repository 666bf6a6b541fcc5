import {
  Button,
  Checkbox,
  Group,
  SegmentedControl,
  Select,
  Slider,
  type SliderProps,
  Stack,
  Switch,
  Text,
} from '@mantine/core'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { decimals } from '../base/format.ts'
import { Note } from '../base/states.tsx'
import { type Store, useStore } from '../base/store.ts'
import { t } from '../texts/texts.ts'
import type { Cockpit } from './cockpit.ts'
import type { GamepadInput, PadSnapshot } from './gamepad.ts'
import { PadPicture } from './pad-picture.tsx'
import { type ControlProfile, MAX_DEAD_ZONE, MAX_EXPONENT, MAX_PAD_NAME } from './preferences.ts'
import { limitText } from './speed-plate.tsx'

/** Shows the input devices and their settings. The gamepad does not drive while it is open. */
export function ControlsSheet({ cockpit }: { cockpit: Cockpit }) {
  const { preferences, gamepad, plan } = cockpit
  const { controls, hand } = preferences
  const limit = useStore(preferences.limit)
  const pad = useStore(gamepad.state)
  const names = useStore(gamepad.names)
  const profile = useStore(controls)
  const change = (next: Partial<ControlProfile>) => controls.update((old) => ({ ...old, ...next }))
  const handId = useId()
  useEffect(() => {
    gamepad.suspend(true)
    return () => gamepad.suspend(false)
  }, [gamepad])
  return (
    <Stack gap="md">
      <Text size="sm">{limitText(limit, plan.fullSpeed)}</Text>
      <Note>{t('drive.controls.note')}</Note>
      {pad.phase === 'none' && <Note>{t('drive.controls.noGamepad')}</Note>}
      {pad.phase === 'unknown' && (
        <Text size="sm">{t('drive.controls.unknownGamepad', { gamepad: pad.name })}</Text>
      )}
      {(pad.phase === 'unknown' || names.length > 1 || profile.pad !== undefined) && (
        <PadChoice names={names} store={controls} />
      )}
      {(pad.phase === 'waiting' || pad.phase === 'ready') && (
        <GamepadSettings gamepad={gamepad} name={pad.name} profile={profile} onChange={change} />
      )}
      <Switch
        label={t('drive.controls.vibrate')}
        description={t('drive.controls.vibrateNote')}
        checked={profile.rumbles}
        onChange={({ currentTarget: { checked } }) => change({ rumbles: checked })}
      />
      <div>
        <Text size="sm" id={handId}>
          {t('drive.controls.hand')}
        </Text>
        <SegmentedControl
          aria-labelledby={handId}
          data={[
            { value: 'left', label: t('drive.controls.left') },
            { value: 'right', label: t('drive.controls.right') },
          ]}
          value={useStore(hand)}
          onChange={(chosen) => hand.set(chosen === 'left' ? 'left' : 'right')}
        />
      </div>
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

interface SettingsProps {
  readonly gamepad: GamepadInput
  readonly profile: ControlProfile
  readonly onChange: (next: Partial<ControlProfile>) => void
}

function GamepadSettings({ name, ...settings }: SettingsProps & { name: string }) {
  const { gamepad, profile, onChange: change } = settings
  return (
    <Stack gap="sm" component="section" aria-label={t('drive.controls.gamepad')}>
      <Text size="sm">{t('drive.controls.suspended', { gamepad: name })}</Text>
      <PadPicture gamepad={gamepad} />
      <PadMapping {...settings} />
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

interface LabeledSliderProps extends Omit<SliderProps, 'label'> {
  readonly label: string
  readonly text: string
}

const LabeledSlider = ({ label, text, ...slider }: LabeledSliderProps) => (
  <div>
    <Text size="sm">{text}</Text>
    <Slider {...slider} label={null} thumbLabel={label} />
  </div>
)

type Assignment = 'forwardAxis' | 'turnAxis' | 'stopButton' | 'holdButton'

const CHOSEN_TRAVEL = 0.6

const texts: Record<Assignment, { label: string; detect: string }> = {
  forwardAxis: { label: t('drive.pad.forwardAxis'), detect: t('drive.pad.detectForwardAxis') },
  turnAxis: { label: t('drive.pad.turnAxis'), detect: t('drive.pad.detectTurnAxis') },
  stopButton: { label: t('drive.pad.stopButton'), detect: t('drive.pad.detectStopButton') },
  holdButton: { label: t('drive.pad.holdButton'), detect: t('drive.pad.detectHoldButton') },
}
const isAxis = (name: Assignment) => name === 'forwardAxis' || name === 'turnAxis'

/** Assigns axes and buttons: from a list, or by moving and pressing them. */
function PadMapping({ gamepad, profile, onChange }: SettingsProps) {
  const [assigning, setAssigning] = useState<Assignment>()
  useAssignment(gamepad, assigning, (name, index) => {
    onChange({ [name]: index })
    setAssigning(undefined)
  })
  const pad = gamepad.snapshot()
  const row = (name: Assignment, children?: ReactNode) => {
    const { label, detect } = texts[name]
    const isAssigning = assigning === name
    const count = (isAxis(name) ? pad?.axes.length : pad?.pressed.length) ?? 0
    const nameOf = (number: number) =>
      isAxis(name) ? t('drive.pad.axis', { number }) : t('drive.pad.button', { number })
    const prompt = isAxis(name) ? t('drive.pad.moveAxis') : t('drive.pad.pressButton')
    return (
      <Group gap="xs" align="flex-end">
        <Select
          label={label}
          w={160}
          allowDeselect={false}
          data={Array.from({ length: Math.max(count, profile[name] + 1) }, (_, index) => ({
            value: String(index),
            label: nameOf(index + 1),
          }))}
          value={String(profile[name])}
          onChange={(value) => value !== null && onChange({ [name]: Number(value) })}
        />
        <Button
          variant="default"
          aria-label={isAssigning ? prompt : detect}
          onClick={() => setAssigning(isAssigning ? undefined : name)}
        >
          {isAssigning ? prompt : t('drive.pad.detect')}
        </Button>
        {children}
      </Group>
    )
  }
  const reversal = (name: 'forwardReversed' | 'turnReversed', label: string) => (
    <Checkbox
      label={label}
      checked={profile[name]}
      onChange={({ currentTarget: { checked } }) => onChange({ [name]: checked })}
    />
  )
  return (
    <Stack gap="xs">
      {row('forwardAxis', reversal('forwardReversed', t('drive.pad.reverseDrive')))}
      {row('turnAxis', reversal('turnReversed', t('drive.pad.reverseTurn')))}
      {row('stopButton')}
      {profile.holdToDrive && row('holdButton')}
    </Stack>
  )
}

/** Calls `onChosen` with the axis that moves, or the button that is pressed, after the assignment began. */
function useAssignment(
  gamepad: GamepadInput,
  assigning: Assignment | undefined,
  onChosen: (name: Assignment, index: number) => void,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: one assignment ends with its first choice
  useEffect(() => {
    const before = assigning && gamepad.snapshot()
    if (!assigning || !before) return
    const watch = () => {
      const pad = gamepad.snapshot() ?? before
      const index = isAxis(assigning) ? movedAxis(before, pad) : pressedButton(before, pad)
      if (index >= 0) onChosen(assigning, index)
      else frame = requestAnimationFrame(watch)
    }
    let frame = requestAnimationFrame(watch)
    return () => cancelAnimationFrame(frame)
  }, [gamepad, assigning])
}

const movedAxis = (before: PadSnapshot, { axes }: PadSnapshot): number =>
  axes.findIndex((value, index) => Math.abs(value - (before.axes[index] ?? 0)) > CHOSEN_TRAVEL)

const pressedButton = (before: PadSnapshot, { pressed }: PadSnapshot): number =>
  pressed.findIndex((isPressed, index) => isPressed && !before.pressed[index])
