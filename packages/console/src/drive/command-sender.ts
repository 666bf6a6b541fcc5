import { type Axes, atRest, combined, commandOf, type DriveCommand, isAtRest } from './axes.ts'

export type InputSource = 'keyboard' | 'stick' | 'gamepad'

/** 50 commands a second. */
const PERIOD_MS = 20
/** A timer that came late is not made up for with commands closer than this. */
const MIN_GAP_MS = 4
/** Changes that are sent at once within a period; what inputs say beyond that is said at the end of the period. */
const CHANGES_PER_PERIOD = 4

export interface CommandSenderOptions {
  readonly send: (command: DriveCommand) => void
  /** Whether the robot may be driven from this page now. */
  readonly allowed: () => boolean
  /** The share of full speed that is allowed, 0 to 1. */
  readonly limit: () => number
  /** Told of what all inputs say together, whenever it changes. */
  readonly onAxes?: (axes: Axes) => void
}

/** Turns what the inputs say into commands on the wire. */
export interface CommandSender {
  /** An input points somewhere. Sent at once, and then 50 times a second until all are at rest. */
  steer(source: InputSource, axes: Axes): void
  /** Hands off: one zero, then silence. Every input has to come to rest before it counts again. */
  release(): void
}

export function createCommandSender({ send, allowed, limit, onAxes }: CommandSenderOptions): CommandSender {
  const inputs = new Map<InputSource, Axes>()
  const awaitingRest = new Set<InputSource>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let moving = false
  let dueMs = 0
  let changes = { sinceMs: Number.NEGATIVE_INFINITY, count: 0 }
  let currentAxes = atRest

  function changed(): void {
    const axes = combined(inputs.values())
    if (axes.forward === currentAxes.forward && axes.left === currentAxes.left) return
    currentAxes = axes
    onAxes?.(axes)
    if (!isAtRest(axes)) {
      moving = true
      if (isChangeToSendNow()) dueMs = performance.now()
      sendDue()
    } else if (moving) {
      moving = false
      clearTimeout(timer)
      send(commandOf(atRest, 0))
    }
  }

  function isChangeToSendNow(): boolean {
    const nowMs = performance.now()
    if (nowMs - changes.sinceMs >= PERIOD_MS) changes = { sinceMs: nowMs, count: 0 }
    return ++changes.count <= CHANGES_PER_PERIOD
  }

  /** Sends what is due. */
  function sendDue(): void {
    clearTimeout(timer)
    const nowMs = performance.now()
    if (nowMs >= dueMs) {
      if (!allowed()) return release()
      send(commandOf(currentAxes, limit()))
      dueMs = Math.max(dueMs + PERIOD_MS, nowMs + MIN_GAP_MS)
    }
    timer = setTimeout(sendDue, dueMs - nowMs)
  }

  function release(): void {
    for (const [source, axes] of inputs) if (!isAtRest(axes)) awaitingRest.add(source)
    inputs.clear()
    changed()
  }

  return {
    release,
    steer(source, axes) {
      if (isAtRest(axes)) awaitingRest.delete(source)
      else if (awaitingRest.has(source)) return
      else if (!allowed()) {
        awaitingRest.add(source)
        inputs.delete(source)
        return changed()
      }
      inputs.set(source, axes)
      changed()
    },
  }
}
