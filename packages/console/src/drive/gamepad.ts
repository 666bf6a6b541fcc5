import { createStore, type Store } from '../ui/store.ts'
import { type Axes, pastDeadZone } from './axes.ts'

/** B on an Xbox pad, circle on a PlayStation pad. */
const STOP_BUTTON = 1

export interface GamepadOptions {
  readonly steer: (axes: Axes) => void
  readonly stop: () => void
  /** 0 to below 1. */
  readonly deadZone: () => number
}

export interface GamepadInput {
  /** The name of the gamepad in use, undefined without a gamepad. */
  readonly name: Store<string | undefined>
  close(): void
}

/** Drives with the left stick of the first gamepad. Polls it once per animation frame. */
export function createGamepadInput({ steer, stop, deadZone }: GamepadOptions): GamepadInput {
  const name = createStore<string | undefined>(undefined)
  let pressed = false
  let present = false

  function poll(): void {
    frame = requestAnimationFrame(poll)
    const pad = navigator
      .getGamepads()
      .find((candidate) => candidate?.connected && candidate.axes.length >= 2)
    name.set(pad?.id)
    if (!pad) {
      if (present) steer({ forward: 0, left: 0 })
      present = false
      return
    }
    present = true
    const isPressed = pad.buttons[STOP_BUTTON]?.pressed === true
    if (isPressed && !pressed) stop()
    pressed = isPressed
    // Right and down are positive. The subtraction avoids -0.
    const [right = 0, back = 0] = pad.axes.map((value) => pastDeadZone(value, deadZone()))
    steer({ forward: 0 - back, left: 0 - right })
  }

  let frame = requestAnimationFrame(poll)
  return { name, close: () => cancelAnimationFrame(frame) }
}
