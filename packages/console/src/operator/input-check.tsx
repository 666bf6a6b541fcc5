import { Box, Text } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { shortList } from '../base/format.ts'
import { isTyping } from '../base/keys.ts'
import { createStore, type Store, useStore } from '../base/store.ts'
import { type Axes, atRest, isAtRest } from '../drive/control-plan.ts'
import { createGamepadInput, type GamepadInput } from '../drive/gamepad.ts'
import { driveKeyOf } from '../drive/keyboard.ts'
import { PadPicture } from '../drive/pad-picture.tsx'
import { loadControlProfile } from '../drive/preferences.ts'
import type { ShapeName } from '../status/shape-name.ts'
import { StateLabel } from '../status/state-label.tsx'
import { t } from '../texts/texts.ts'

const words: readonly (readonly [keyof Axes, sign: number, word: string])[] = [
  ['forward', 1, t('operator.inputCheck.forward')],
  ['forward', -1, t('operator.inputCheck.backward')],
  ['left', 1, t('operator.inputCheck.left')],
  ['left', -1, t('operator.inputCheck.right')],
]

/** Returns a direction in words, such as "forward, left". */
const directionText = (axes: Axes): string =>
  shortList.format(words.filter(([axis, sign]) => Math.sign(axes[axis]) === sign).map(([, , word]) => word))

/** A line of the checks before a drive: state, name, what it means, and a figure. */
export const Check = (props: {
  shape: ShapeName
  label: string
  figure?: ReactNode
  children?: ReactNode
}) => (
  <li>
    <StateLabel shape={props.shape}>{''}</StateLabel>
    <Box flex={1} miw={0}>
      <Text fw={550}>{props.label}</Text>
      <Text component="div" size="sm" c="dimmed">
        {props.children}
      </Text>
    </Box>
    {props.figure !== undefined && (
      <Text size="xl" fw={650}>
        {props.figure}
      </Text>
    )}
  </li>
)

/** Lets the operator try keys and gamepad. Nothing is sent. */
export const InputCheck = ({ robotType }: { robotType: string }) => (
  <>
    <KeyboardCheck />
    <GamepadCheck robotType={robotType} />
  </>
)

/** Shows the last direction of a device, or how to try it. */
const DeviceState = (props: { device: string; last: Axes; instruction: string; children?: ReactNode }) => (
  <Check shape={isAtRest(props.last) ? 'off' : 'live'} label={props.device}>
    <span role="status" aria-label={props.device}>
      {isAtRest(props.last)
        ? props.instruction
        : t('operator.inputCheck.works', { direction: directionText(props.last) })}
    </span>
    {props.children}
  </Check>
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
  return (
    <DeviceState
      device={t('operator.inputCheck.keyboard')}
      last={last}
      instruction={t('operator.inputCheck.pressKey')}
    />
  )
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
  const state = useStore(check.input.state)
  const last = useStore(check.last)
  if (state.phase === 'none' || state.phase === 'unknown')
    return (
      <Check shape="off" label={t('operator.inputCheck.gamepad')}>
        {state.phase === 'none'
          ? t('operator.inputCheck.noGamepad')
          : t('operator.inputCheck.unknownGamepad', { gamepad: state.name })}
      </Check>
    )
  return (
    <DeviceState
      device={t('operator.inputCheck.gamepad')}
      last={last}
      instruction={
        state.phase === 'waiting'
          ? t('operator.inputCheck.releaseStick', { gamepad: state.name })
          : t('operator.inputCheck.moveStick', { gamepad: state.name })
      }
    >
      <PadPicture gamepad={check.input} />
    </DeviceState>
  )
}
