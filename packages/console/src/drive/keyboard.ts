import type { Axes } from './axes.ts'
import { isTyping, usesArrows } from './focus.ts'

/** What each key adds, by its place on the keyboard: W A S D are there on every layout. */
const DRIVE_KEYS: Readonly<Record<string, Axes>> = {
  ArrowUp: { forward: 1, left: 0 },
  KeyW: { forward: 1, left: 0 },
  ArrowDown: { forward: -1, left: 0 },
  KeyS: { forward: -1, left: 0 },
  ArrowLeft: { forward: 0, left: 1 },
  KeyA: { forward: 0, left: 1 },
  ArrowRight: { forward: 0, left: -1 },
  KeyD: { forward: 0, left: -1 },
}
const STOP_KEYS: ReadonlySet<string> = new Set(['Space', 'Escape'])

export interface KeyboardOptions {
  readonly steer: (axes: Axes) => void
  /** Whether a stop would change anything; if not, the keys do what they do elsewhere. */
  readonly canStop: () => boolean
  readonly stop: () => void
}

export interface Keyboard {
  /** Counts no key as held any more. */
  release(): void
  close(): void
}

/** Drives with the keys that are held, wherever the focus is, unless what has it needs them. */
export function createKeyboard({ steer, canStop, stop }: KeyboardOptions): Keyboard {
  const held = new Map<string, Axes>()
  const listening = new AbortController()
  /** Stop keys that are down: their letting go must not press the button that has the focus. */
  const stopping = new Set<string>()
  const emitAxes = () => {
    let [forward, left] = [0, 0]
    for (const axes of held.values()) {
      forward += axes.forward
      left += axes.left
    }
    steer({ forward: Math.sign(forward), left: Math.sign(left) })
  }

  function onKeyDown(event: KeyboardEvent): void {
    const modified = event.ctrlKey || event.metaKey || event.altKey
    if (STOP_KEYS.has(event.code) && !modified && !isTyping()) return onStopKey(event)
    const axes = DRIVE_KEYS[event.code]
    if (!axes || modified || usesArrows()) return
    event.preventDefault()
    if (event.repeat || held.has(event.code)) return
    held.set(event.code, axes)
    emitAxes()
  }

  function onStopKey(event: KeyboardEvent): void {
    if (!canStop() && !stopping.has(event.code)) return
    event.preventDefault()
    if (event.repeat) return
    stopping.add(event.code)
    stop()
  }

  function onKeyUp(event: KeyboardEvent): void {
    if (stopping.delete(event.code)) event.preventDefault()
    if (held.delete(event.code)) emitAxes()
  }

  // Before anybody else: a stop is no one else's to swallow.
  const options = { capture: true, signal: listening.signal }
  window.addEventListener('keydown', onKeyDown, options)
  window.addEventListener('keyup', onKeyUp, options)
  const release = () => {
    if (held.size === 0) return
    held.clear()
    emitAxes()
  }
  return { release, close: () => listening.abort() }
}
