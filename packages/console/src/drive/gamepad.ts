import { createStore } from '../base/store.ts'
import { type Axes, atRest, curved, isAtRest, pastDeadZone } from './control-plan.ts'
import { type ControlProfile, MAX_AXES, MAX_BUTTONS, MAX_PAD_NAME } from './preferences.ts'

/** How long a stick must be at rest before it drives: longer than a stick needs to pass its middle. */
const REST_MS = 250

interface GamepadOptions {
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

/**
 * What the gamepads can do now. `unknown`: none has the standard layout, and none was chosen, so none drives. `waiting`: the one
 * that drives must first be at rest.
 */
export type PadState =
  | { readonly phase: 'none' }
  | { readonly phase: 'unknown' | 'waiting' | 'ready'; readonly name: string }

export type GamepadInput = ReturnType<typeof createGamepadInput>

/**
 * Drives with one gamepad, as its profile says: the chosen one, otherwise the first with the standard layout. Others, such as
 * wheels and adapters, may report deflections at rest. The stop button of every gamepad stops. Polls once per animation frame.
 */
export function createGamepadInput({ steer, stop, profile }: GamepadOptions) {
  const state = createStore<PadState>({ phase: 'none' })
  const names = createStore<readonly string[]>([])
  /** The gamepads whose stop button is down, by index. */
  let stopping: ReadonlySet<number> = new Set()
  let driving: Gamepad | undefined
  let rest: { readonly sinceMs?: number; readonly isDone: boolean } = { isDone: false }
  let suspended = false

  function poll(nowMs: number): void {
    frame = requestAnimationFrame(poll)
    const pads = connectedPads()
    const current = profile()
    stopIfPressed(pads, current.stopButton)
    const pad = drivingPad(pads, current)
    if (pad?.index !== driving?.index || pad?.id !== driving?.id) rest = { isDone: false }
    if (pad || driving) steer(pad ? directionOf(pad, current, nowMs) : atRest)
    driving = pad
    show(pads)
  }

  function stopIfPressed(pads: readonly Gamepad[], button: number): void {
    const pressed = pads.filter(({ buttons }) => buttons[button]?.pressed).map(({ index }) => index)
    const isNew = pressed.some((index) => !stopping.has(index))
    stopping = new Set(pressed)
    if (isNew) stop()
  }

  function directionOf(pad: Gamepad, current: ControlProfile, nowMs: number): Axes {
    // The button that must be held does not count: an axis that is deflected without it would drive when it is pressed.
    if (!isAtRest(axesOf(pad, { ...current, holdToDrive: false })))
      rest = { isDone: rest.isDone && !suspended }
    else if (!rest.isDone) {
      const { sinceMs = nowMs } = rest
      rest = { sinceMs, isDone: nowMs - sinceMs >= REST_MS }
    }
    return suspended || !rest.isDone ? atRest : axesOf(pad, current)
  }

  function show(pads: readonly Gamepad[]): void {
    const old = names.get()
    if (pads.length !== old.length || pads.some(({ id }, index) => id !== old[index]))
      names.set(pads.map(({ id }) => id))
    const name = (driving ?? pads[0])?.id
    const phase = driving ? (rest.isDone ? 'ready' : 'waiting') : 'unknown'
    const before = state.get()
    if (name === undefined) return before.phase === 'none' ? undefined : state.set({ phase: 'none' })
    if (before.phase === phase && before.name === name) return
    state.set({ phase, name })
  }

  const release = () => {
    rest = { isDone: false }
  }

  let frame = requestAnimationFrame(poll)
  return {
    state,
    names,
    /** Returns what the gamepad that drives reports now; undefined without one. */
    snapshot(): PadSnapshot | undefined {
      const pad = drivingPad(connectedPads(), profile())
      return pad && { axes: pad.axes.slice(0, MAX_AXES), pressed: pressedOf(pad) }
    },
    /** Suspends driving: the gamepad then only stops the robot, so that the operator can try and assign its axes. */
    suspend(isSuspended: boolean): void {
      suspended = isSuspended
    },
    /** Ignores the gamepad until it has been at rest. */
    release,
    /** Lets the gamepad vibrate, if it can. @param strength 0 to 1 */
    rumble(strength: number, durationMs: number): void {
      const actuator = drivingPad(connectedPads(), profile())?.vibrationActuator
      const effect = { duration: durationMs, strongMagnitude: strength, weakMagnitude: strength }
      actuator?.playEffect('dual-rumble', effect).catch(() => undefined)
    },
    close: () => cancelAnimationFrame(frame),
  }
}

const connectedPads = (): Gamepad[] =>
  navigator.getGamepads().filter((pad): pad is Gamepad => pad?.connected === true)

function drivingPad(pads: readonly Gamepad[], { pad: chosen }: ControlProfile): Gamepad | undefined {
  const usable = pads.filter(({ axes }) => axes.length >= 2)
  return (
    usable.find(({ id }) => id.slice(0, MAX_PAD_NAME) === chosen) ??
    usable.find(({ mapping }) => mapping === 'standard')
  )
}

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
