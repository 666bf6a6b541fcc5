import { createStore, type Store } from '../ui/store.ts'
import { type Axes, atRest, curved, pastDeadZone } from './axes.ts'
import { type ControlProfile, MAX_AXES, MAX_BUTTONS } from './control-profile.ts'

export interface GamepadOptions {
  readonly steer: (axes: Axes) => void
  readonly stop: () => void
  readonly profile: () => ControlProfile
}

/** The report of a gamepad at one moment. */
export interface PadSnapshot {
  /** -1 to 1. */
  readonly axes: readonly number[]
  readonly pressed: readonly boolean[]
}

export interface GamepadInput {
  /** The name of the gamepad in use, undefined without a gamepad. */
  readonly name: Store<string | undefined>
  /** Returns what the gamepad reports now; undefined without a gamepad. */
  snapshot(): PadSnapshot | undefined
  /** Suspends driving: the gamepad then only stops the robot, so that the operator can try and assign its axes. */
  suspend(isSuspended: boolean): void
  /** Lets the gamepad vibrate, if it can. @param strength 0 to 1 */
  rumble(strength: number, durationMs: number): void
  close(): void
}

/** Drives with the first gamepad, as its profile says. Polls it once per animation frame. */
export function createGamepadInput({ steer, stop, profile }: GamepadOptions): GamepadInput {
  const name = createStore<string | undefined>(undefined)
  let pressed = false
  let present = false
  let suspended = false

  function poll(): void {
    frame = requestAnimationFrame(poll)
    const pad = firstPad()
    name.set(pad?.id)
    if (!pad) {
      if (present) steer(atRest)
      present = false
      return
    }
    present = true
    const current = profile()
    const isPressed = pad.buttons[current.stopButton]?.pressed === true
    if (isPressed && !pressed) stop()
    pressed = isPressed
    steer(suspended ? atRest : axesOf(pad, current))
  }

  let frame = requestAnimationFrame(poll)
  return {
    name,
    snapshot() {
      const pad = firstPad()
      return pad && { axes: pad.axes.slice(0, MAX_AXES), pressed: pressedOf(pad) }
    },
    suspend(isSuspended) {
      suspended = isSuspended
    },
    rumble(strength, durationMs) {
      const actuator = firstPad()?.vibrationActuator
      const effect = { duration: durationMs, strongMagnitude: strength, weakMagnitude: strength }
      actuator?.playEffect('dual-rumble', effect).catch(() => undefined)
    },
    close: () => cancelAnimationFrame(frame),
  }
}

const firstPad = (): Gamepad | undefined =>
  navigator.getGamepads().find((candidate) => candidate?.connected && candidate.axes.length >= 2) ?? undefined

const pressedOf = ({ buttons }: Gamepad) => buttons.slice(0, MAX_BUTTONS).map((button) => button.pressed)

/** Returns the direction of a gamepad. It is at rest while the button that must be held is not. */
export function axesOf(
  { axes, buttons }: { axes: readonly number[]; buttons: readonly { pressed: boolean }[] },
  profile: ControlProfile,
): Axes {
  if (profile.holdToDrive && buttons[profile.holdButton]?.pressed !== true) return atRest
  // Right and down are positive. The subtraction avoids -0.
  const deflectionOf = (axis: number, isReversed: boolean) => {
    const value = curved(pastDeadZone(axes[axis] ?? 0, profile.deadZone), profile.exponent)
    return isReversed ? 0 + value : 0 - value
  }
  return {
    forward: deflectionOf(profile.forwardAxis, profile.forwardReversed),
    left: deflectionOf(profile.turnAxis, profile.turnReversed),
  }
}
