import { isTyping, leaveField, usesArrows } from '../base/keys.ts'
import { type StopKey, stopKeyOf } from '../stop/stop.ts'
import { type Axes, combined } from './control-plan.ts'

/** The direction of each key, by physical position, so that W A S D works on every layout. */
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

/** Returns the direction of a pressed key; undefined for other keys, and with a modifier. */
export const driveKeyOf = ({ code, ctrlKey, metaKey, altKey }: KeyboardEvent): Axes | undefined =>
  ctrlKey || metaKey || altKey ? undefined : DRIVE_KEYS[code]

interface KeyboardOptions {
  readonly steer: (axes: Axes) => void
  /** Returns whether a stop would have an effect. If not, the stop keys keep their default action. */
  readonly canStop: () => boolean
  readonly stop: () => void
}

/** Drives with the held keys, unless the focused element uses them. */
export function createKeyboard({ steer, canStop, stop }: KeyboardOptions) {
  const held = new Map<string, Axes>()
  const listening = new AbortController()
  /** Stop keys that are down. Their keyup must not click the focused button. */
  const heldStopKeys = new Set<StopKey>()
  const emitAxes = () => steer(combined(held.values()))

  function onKeyDown(event: KeyboardEvent): void {
    const stopKey = stopKeyOf(event)
    if (stopKey && stops(stopKey, event)) return onStopKey(stopKey, event)
    const axes = driveKeyOf(event)
    if (!axes || usesArrows()) return
    event.preventDefault()
    if (event.repeat || held.has(event.code)) return
    held.set(event.code, axes)
    emitAxes()
  }

  /** Returns whether a stop key stops, and does not belong to the focused element. */
  function stops(stopKey: StopKey, event: KeyboardEvent): boolean {
    if (isTyping()) return stopKey === 'Escape' && leavesByEscape(event)
    return stopKey === 'Escape' || !hasSwitchFocus()
  }

  /** Returns whether Space changes a switch or a choice of a dialog. The dialog takes the keys that drive as well. */
  const hasSwitchFocus = () =>
    document.activeElement?.closest('[role=dialog] :is([type=checkbox], [type=radio])') != null

  /** Leaves the text field, so that the next key is no text. Returns false if Escape belongs to the field. */
  function leavesByEscape(event: KeyboardEvent): boolean {
    const field = document.activeElement
    if (event.isComposing || field?.getAttribute('aria-expanded') === 'true') return false
    leaveField()
    return true
  }

  function onStopKey(stopKey: StopKey, event: KeyboardEvent): void {
    if (!canStop() && !heldStopKeys.has(stopKey)) return
    event.preventDefault()
    if (event.repeat) return
    heldStopKeys.add(stopKey)
    stop()
  }

  function onKeyUp(event: KeyboardEvent): void {
    const stopKey = stopKeyOf(event)
    if (stopKey && heldStopKeys.delete(stopKey)) event.preventDefault()
    if (held.delete(event.code)) emitAxes()
  }

  // Captures the event first, so that no other handler can swallow a stop.
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
