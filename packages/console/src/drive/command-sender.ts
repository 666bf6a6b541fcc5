import type { ControlData, ControlInput, Deflections } from './control-plan.ts'
import { type Axes, atRest, combined, isAtRest } from './control-plan.ts'

type InputSource = 'keyboard' | 'stick' | 'gamepad'

/** 50 commands per second. */
const PERIOD_MS = 20
/** The minimum gap between commands after a late timer. */
const MIN_GAP_MS = 4
/** Changes per period that are sent at once. Further changes are sent at the end of the period. */
const CHANGES_PER_PERIOD = 4

interface CommandSenderOptions {
  /** Sends a command. `urgent`: it ends a motion, so no rate limit may delay it. */
  readonly send: (command: ControlData, urgent: boolean) => void
  /** Returns the command for these inputs at this share of full speed. */
  readonly commandOf: (inputs: HeldInputs, limit: number) => ControlData
  /** Returns whether this page may drive the robot now. */
  readonly allowed: () => boolean
  /** Returns the allowed share of full speed, 0 to 1. */
  readonly limit: () => number
  /** Receives the sum of all inputs whenever it changes. */
  readonly onAxes?: (axes: Axes) => void
  readonly onDeflections?: (deflections: Deflections) => void
  /** Receives whether an input must have been at rest before it drives again, whenever that changes. */
  readonly onAwaitingRest?: (isAwaiting: boolean) => void
  /** An input was deflected that may not drive now. Called once until it has been at rest. */
  readonly onRefused?: () => void
}

/** The inputs that the operator holds at present. */
interface HeldInputs {
  /** The sum of stick, keys and gamepad. */
  readonly axes: Axes
  /** The inputs of speeds that are held, and with 0 those that were. */
  readonly deflections: Deflections
  /** Whether the inputs of the robot that keep their values are sent. */
  readonly sendsValues: boolean
}

/** Creates what converts inputs into control frames. */
export function createCommandSender({
  send,
  commandOf,
  allowed,
  limit,
  onAxes,
  onDeflections,
  onAwaitingRest,
  onRefused,
}: CommandSenderOptions) {
  const inputs = new Map<InputSource, Axes>()
  const awaitingRest = new Set<InputSource | ControlInput>()
  let deflections: Deflections = new Map()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isMoving = false
  let isHeld = false
  let dueMs = 0
  let changes = { sinceMs: Number.NEGATIVE_INFINITY, count: 0 }
  let currentAxes = atRest

  function ignoreUntilRest(source: InputSource | ControlInput): void {
    awaitingRest.add(source)
    onAwaitingRest?.(true)
  }

  function rested(source: InputSource | ControlInput): void {
    if (awaitingRest.delete(source)) onAwaitingRest?.(awaitingRest.size > 0)
  }

  function applyInputs(): void {
    const axes = combined(inputs.values())
    if (axes.forward === currentAxes.forward && axes.left === currentAxes.left) return
    currentAxes = axes
    onAxes?.(axes)
    sendChange()
  }

  function sendChange(): void {
    if (!isAtRest(currentAxes) || isHeld || isDeflected()) {
      isMoving = true
      if (consumeBurstSlot()) dueMs = performance.now()
      sendDue()
    } else if (isMoving) {
      isMoving = false
      clearTimeout(timer)
      send(commandOf({ axes: atRest, deflections, sendsValues: false }, 0), true)
      if (deflections.size > 0) setDeflections([])
    }
  }

  const isDeflected = () => [...deflections.values()].some((deflection) => deflection !== 0)

  function setDeflections(next: Iterable<readonly [ControlInput, number]>): void {
    deflections = new Map(next)
    onDeflections?.(deflections)
  }

  function consumeBurstSlot(): boolean {
    const nowMs = performance.now()
    if (nowMs - changes.sinceMs >= PERIOD_MS) changes = { sinceMs: nowMs, count: 0 }
    return ++changes.count <= CHANGES_PER_PERIOD
  }

  /** Sends the due command and schedules the next one. */
  function sendDue(): void {
    clearTimeout(timer)
    const nowMs = performance.now()
    if (nowMs >= dueMs) {
      if (!allowed()) return release()
      send(commandOf({ axes: currentAxes, deflections, sendsValues: isHeld }, limit()), false)
      dueMs = Math.max(dueMs + PERIOD_MS, nowMs + MIN_GAP_MS)
    }
    timer = setTimeout(sendDue, dueMs - nowMs)
  }

  function release(): void {
    for (const [source, axes] of inputs) if (!isAtRest(axes)) ignoreUntilRest(source)
    inputs.clear()
    for (const [input, deflection] of deflections) if (deflection !== 0) ignoreUntilRest(input)
    if (isDeflected()) setDeflections([...deflections].map(([input]) => [input, 0]))
    isHeld = false
    applyInputs()
    if (isMoving) sendChange() // the axes were at rest
  }

  return {
    /** Sends one zero command, then ignores each input until it has been at rest. */
    release,
    /** Sends the inputs of the robot, 50 times per second while they are held. */
    hold(held: boolean): void {
      if (held === isHeld || (held && !allowed())) return
      isHeld = held
      sendChange()
    },
    /** Deflects the input of a speed, -1 to 1. Sends it at once, then 50 times per second until it returns to 0. */
    deflect(input: ControlInput, deflection: number): void {
      if (deflection === 0) rested(input)
      else if (awaitingRest.has(input)) return
      else if (!allowed()) {
        ignoreUntilRest(input)
        onRefused?.()
        return
      }
      if ((deflections.get(input) ?? 0) === deflection) return
      setDeflections([...deflections, [input, deflection]])
      sendChange()
    },
    /** Sets the direction of an input. Sends it at once, then 50 times per second until all inputs are at rest. */
    steer(source: InputSource, axes: Axes): void {
      if (isAtRest(axes)) rested(source)
      else if (awaitingRest.has(source)) return
      else if (!allowed()) {
        ignoreUntilRest(source)
        inputs.delete(source)
        onRefused?.()
        return applyInputs()
      }
      inputs.set(source, axes)
      applyInputs()
    },
  }
}
