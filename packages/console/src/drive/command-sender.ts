import { type Axes, atRest, combined, isAtRest } from './axes.ts'
import type { ControlData } from './control-plan.ts'

type InputSource = 'keyboard' | 'stick' | 'gamepad'

/** 50 commands per second. */
const PERIOD_MS = 20
/** The minimum gap between commands after a late timer. */
const MIN_GAP_MS = 4
/** Changes per period that are sent at once. Further changes are sent at the end of the period. */
const CHANGES_PER_PERIOD = 4

export interface CommandSenderOptions {
  readonly send: (command: ControlData) => void
  /** Returns the command for the sum of all inputs at this share of full speed. `held`: the operator holds the inputs of the robot. */
  readonly commandOf: (axes: Axes, limit: number, held: boolean) => ControlData
  /** Returns whether this page may drive the robot now. */
  readonly allowed: () => boolean
  /** Returns the allowed share of full speed, 0 to 1. */
  readonly limit: () => number
  /** Receives the sum of all inputs whenever it changes. */
  readonly onAxes?: (axes: Axes) => void
}

/** Converts inputs into control frames. */
export interface CommandSender {
  /** Sets the direction of an input. Sends it at once, then 50 times per second until all inputs are at rest. */
  steer(source: InputSource, axes: Axes): void
  /** Sends the inputs of the robot, 50 times per second while they are held. */
  hold(held: boolean): void
  /** Sends one zero command, then ignores each input until it has been at rest. */
  release(): void
}

export function createCommandSender({
  send,
  commandOf,
  allowed,
  limit,
  onAxes,
}: CommandSenderOptions): CommandSender {
  const inputs = new Map<InputSource, Axes>()
  const awaitingRest = new Set<InputSource>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isMoving = false
  let isHeld = false
  let dueMs = 0
  let changes = { sinceMs: Number.NEGATIVE_INFINITY, count: 0 }
  let currentAxes = atRest

  function applyInputs(): void {
    const axes = combined(inputs.values())
    if (axes.forward === currentAxes.forward && axes.left === currentAxes.left) return
    currentAxes = axes
    onAxes?.(axes)
    sendChange()
  }

  function sendChange(): void {
    if (!isAtRest(currentAxes) || isHeld) {
      isMoving = true
      if (consumeBurstSlot()) dueMs = performance.now()
      sendDue()
    } else if (isMoving) {
      isMoving = false
      clearTimeout(timer)
      send(commandOf(atRest, 0, false))
    }
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
      send(commandOf(currentAxes, limit(), isHeld))
      dueMs = Math.max(dueMs + PERIOD_MS, nowMs + MIN_GAP_MS)
    }
    timer = setTimeout(sendDue, dueMs - nowMs)
  }

  function release(): void {
    for (const [source, axes] of inputs) if (!isAtRest(axes)) awaitingRest.add(source)
    inputs.clear()
    const wasHeld = isHeld
    isHeld = false
    applyInputs()
    if (wasHeld && isMoving) sendChange() // the axes were at rest
  }

  return {
    release,
    hold(held) {
      if (held === isHeld || (held && !allowed())) return
      isHeld = held
      sendChange()
    },
    steer(source, axes) {
      if (isAtRest(axes)) awaitingRest.delete(source)
      else if (awaitingRest.has(source)) return
      else if (!allowed()) {
        awaitingRest.add(source)
        inputs.delete(source)
        return applyInputs()
      }
      inputs.set(source, axes)
      applyInputs()
    },
  }
}
