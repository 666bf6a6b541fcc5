import { Button, Checkbox, Group, Select, Stack } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { t } from '../texts/texts.ts'
import type { ControlProfile } from './control-profile.ts'
import type { GamepadInput, PadSnapshot } from './gamepad.ts'

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
export function PadMapping({ gamepad, profile, onChange }: Props) {
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
