import { type Axes, atRest, combined, commandOf, type DriveCommand, isAtRest } from './axes.ts'

export type InputSource = 'keyboard' | 'stick' | 'gamepad'

/** 50 commands a second. */
const PERIOD_MS = 20
/** A timer that came late is not made up for with commands closer than this. */
const LEAST_GAP_MS = 4
/** Changes that are sent at once within a period; what inputs say beyond that is said at the end of the period. */
const CHANGES_PER_PERIOD = 4

export interface PilotParts {
  readonly send: (command: DriveCommand) => void
  /** Whether the robot may be driven from this page now. */
  readonly allowed: () => boolean
  /** The share of full speed that is allowed, 0 to 1. */
  readonly limit: () => number
  /** Told of what all inputs say together, whenever it changes. */
  readonly onAxes?: (axes: Axes) => void
}

/** Turns what the inputs say into commands on the wire. */
export interface Pilot {
  /** An input points somewhere. Sent at once, and then 50 times a second until all are at rest. */
  steer(source: InputSource, axes: Axes): void
  /** Hands off: one zero, then silence. Every input has to come to rest before it counts again. */
  letGo(): void
}

export function createPilot({ send, allowed, limit, onAxes }: PilotParts): Pilot {
  const inputs = new Map<InputSource, Axes>()
  const mustRest = new Set<InputSource>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let moving = false
  let dueMs = 0
  let changes = { sinceMs: Number.NEGATIVE_INFINITY, count: 0 }
  let told = atRest

  function changed(): void {
    const axes = combined(inputs.values())
    if (axes.forward === told.forward && axes.left === told.left) return
    told = axes
    onAxes?.(axes)
    if (!isAtRest(axes)) {
      moving = true
      if (isChangeToSendNow()) dueMs = performance.now()
      go()
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
  function go(): void {
    clearTimeout(timer)
    const nowMs = performance.now()
    if (nowMs >= dueMs) {
      if (!allowed()) return letGo()
      send(commandOf(told, limit()))
      dueMs = Math.max(dueMs + PERIOD_MS, nowMs + LEAST_GAP_MS)
    }
    timer = setTimeout(go, dueMs - nowMs)
  }

  function letGo(): void {
    for (const [source, axes] of inputs) if (!isAtRest(axes)) mustRest.add(source)
    inputs.clear()
    changed()
  }

  return {
    letGo,
    steer(source, axes) {
      if (isAtRest(axes)) mustRest.delete(source)
      else if (mustRest.has(source)) return
      else if (!allowed()) {
        mustRest.add(source)
        inputs.delete(source)
        return changed()
      }
      inputs.set(source, axes)
      changed()
    },
  }
}
