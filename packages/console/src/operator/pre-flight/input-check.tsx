import { Badge, Group, Stack, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { type Axes, atRest, isAtRest } from '../../drive/axes.ts'
import { loadControlProfile } from '../../drive/control-profile.ts'
import { isTyping } from '../../drive/focus.ts'
import { createGamepadInput, type GamepadInput } from '../../drive/gamepad.ts'
import { driveKeyOf } from '../../drive/keyboard.ts'
import { PadPicture } from '../../drive/pad-picture.tsx'
import { createStore, type Store, useStore } from '../../ui/store.ts'

const words: readonly (readonly [keyof Axes, sign: number, word: string])[] = [
  ['forward', 1, 'forward'],
  ['forward', -1, 'backward'],
  ['left', 1, 'left'],
  ['left', -1, 'right'],
]

/** Returns a direction in words, such as "forward, left". */
const directionText = (axes: Axes): string =>
  words
    .filter(([axis, sign]) => Math.sign(axes[axis]) === sign)
    .map(([, , word]) => word)
    .join(', ')

/** Lets the operator try keys and gamepad. Nothing is sent. */
export const InputCheck = ({ robotType }: { robotType: string }) => (
  <Stack gap="xs">
    <KeyboardCheck />
    <GamepadCheck robotType={robotType} />
  </Stack>
)

/** Shows the last direction of a device, or how to try it. */
const DeviceState = (props: { device: string; last: Axes; instruction: string }) => (
  <Group gap="xs" role="status" aria-label={props.device}>
    <Badge color={isAtRest(props.last) ? 'gray.7' : 'teal.9'}>{props.device}</Badge>
    <Text size="sm">{isAtRest(props.last) ? props.instruction : `Works: ${directionText(props.last)}`}</Text>
  </Group>
)

/** Shows the direction of the last key. */
function KeyboardCheck() {
  const [last, setLast] = useState(atRest)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const axes = isTyping() ? undefined : driveKeyOf(event)
      if (axes) setLast(axes)
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [])
  return <DeviceState device="Keyboard" last={last} instruction="Press W A S D or an arrow key." />
}

interface PadCheck {
  readonly input: GamepadInput
  /** The last direction of the stick that was not at rest. */
  readonly last: Store<Axes>
}

function GamepadCheck({ robotType }: { robotType: string }) {
  const [check, setCheck] = useState<PadCheck>()
  useEffect(() => {
    const opened = openPadCheck(robotType)
    setCheck(opened)
    return () => {
      opened.input.close()
      setCheck(undefined)
    }
  }, [robotType])
  return check ? <PadState check={check} /> : null
}

function openPadCheck(robotType: string): PadCheck {
  const profile = loadControlProfile(robotType)
  const last = createStore<Axes>(atRest)
  const steer = ({ forward, left }: Axes) => {
    const direction = { forward: Math.sign(forward), left: Math.sign(left) }
    const old = last.get()
    if (isAtRest(direction) || (direction.forward === old.forward && direction.left === old.left)) return
    last.set(direction)
  }
  return { input: createGamepadInput({ steer, stop: () => undefined, profile: profile.get }), last }
}

function PadState({ check }: { check: PadCheck }) {
  const name = useStore(check.input.name)
  const last = useStore(check.last)
  if (name === undefined)
    return (
      <Text size="sm" c="dimmed">
        No gamepad. Press any button to connect one.
      </Text>
    )
  return (
    <Stack gap="xs">
      <DeviceState device="Gamepad" last={last} instruction={`${name}. Move its stick.`} />
      <PadPicture gamepad={check.input} />
    </Stack>
  )
}
