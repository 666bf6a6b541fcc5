import { Button, Checkbox, Group, SegmentedControl, Select, Slider, Stack, Switch, Text } from '@mantine/core'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { decimals } from '../base/format.ts'
import { type Store, useStore } from '../base/store.ts'
import { t } from '../texts/texts.ts'
import type { Cockpit } from './cockpit.ts'
import type { GamepadInput, PadSnapshot } from './gamepad.ts'
import { PadPicture } from './pad-picture.tsx'
import { type ControlProfile, type Hand, MAX_DEAD_ZONE, MAX_EXPONENT, MAX_PAD_NAME } from './preferences.ts'
import { limitText } from './speed-plate.tsx'

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

type Assignment = 'forwardAxis' | 'turnAxis' | 'stopButton' | 'holdButton'

/** How far an axis must move to be chosen. */
const CHOSEN_TRAVEL = 0.6

const texts: Record<Assignment, { label: string; detect: string }> = {
  forwardAxis: { label: t('drive.pad.forwardAxis'), detect: t('drive.pad.detectForwardAxis') },
  turnAxis: { label: t('drive.pad.turnAxis'), detect: t('drive.pad.detectTurnAxis') },
  stopButton: { label: t('drive.pad.stopButton'), detect: t('drive.pad.detectStopButton') },
  holdButton: { label: t('drive.pad.holdButton'), detect: t('drive.pad.detectHoldButton') },
}
const isAxis = (name: Assignment) => name === 'forwardAxis' || name === 'turnAxis'

interface Props {
  readonly gamepad: GamepadInput
  readonly profile: ControlProfile
  readonly onChange: (next: Partial<ControlProfile>) => void
}

/** Assigns axes and buttons: from a list, or by moving and pressing them. */
function PadMapping({ gamepad, profile, onChange }: Props) {
  const [assigning, setAssigning] = useState<Assignment>()
  useAssignment(gamepad, assigning, (name, index) => {
    onChange({ [name]: index })
    setAssigning(undefined)
  })
  const pad = gamepad.snapshot()
  const row = (name: Assignment, children?: ReactNode) => (
    <Row
      name={name}
      current={profile[name]}
      count={(isAxis(name) ? pad?.axes.length : pad?.pressed.length) ?? 0}
      isAssigning={assigning === name}
      onChange={(index) => onChange({ [name]: index })}
      onDetect={() => setAssigning(assigning === name ? undefined : name)}
    >
      {children}
    </Row>
  )
  return (
    <Stack gap="xs">
      {row(
        'forwardAxis',
        <Checkbox
          label={t('drive.pad.reverseDrive')}
          checked={profile.forwardReversed}
          onChange={(event) => onChange({ forwardReversed: event.currentTarget.checked })}
        />,
      )}
      {row(
        'turnAxis',
        <Checkbox
          label={t('drive.pad.reverseTurn')}
          checked={profile.turnReversed}
          onChange={(event) => onChange({ turnReversed: event.currentTarget.checked })}
        />,
      )}
      {row('stopButton')}
      {profile.holdToDrive && row('holdButton')}
    </Stack>
  )
}

interface RowProps {
  readonly name: Assignment
  readonly current: number
  readonly count: number
  readonly isAssigning: boolean
  readonly onChange: (index: number) => void
  readonly onDetect: () => void
  readonly children: ReactNode
}

function Row({ name, current, count, isAssigning, onChange, onDetect, children }: RowProps) {
  const { label, detect } = texts[name]
  const indexes = Array.from({ length: Math.max(count, current + 1) }, (_, index) => index)
  const nameOf = (index: number) =>
    isAxis(name) ? t('drive.pad.axis', { number: index + 1 }) : t('drive.pad.button', { number: index + 1 })
  const prompt = isAxis(name) ? t('drive.pad.moveAxis') : t('drive.pad.pressButton')
  return (
    <Group gap="xs" align="flex-end">
      <Select
        label={label}
        w={160}
        allowDeselect={false}
        data={indexes.map((index) => ({ value: String(index), label: nameOf(index) }))}
        value={String(current)}
        onChange={(value) => value !== null && onChange(Number(value))}
      />
      <Button variant="default" aria-label={isAssigning ? prompt : detect} onClick={onDetect}>
        {isAssigning ? prompt : t('drive.pad.detect')}
      </Button>
      {children}
    </Group>
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
