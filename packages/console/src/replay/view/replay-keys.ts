import { useEffect, useRef } from 'react'
import { isTyping, latinKey } from '../../ui/keys.ts'
import { RATES } from '../player/clock.ts'
import type { Replay, ReplayCamera } from '../player/replay.ts'

const SECOND_MS = 1_000
const LONG_STEP = 10
const ZOOM_STEP = 2
/** Keys that choose in lists and tabs. */
const NAVIGATION_KEY = /^(Arrow|Home$|End$)/

interface KeyActions {
  readonly replay: Replay
  readonly isGrowing: boolean
  readonly onSelect: (camera: ReplayCamera) => void
  /** Undefined for a viewer who cannot. */
  readonly onBookmark: (() => void) | undefined
  readonly onCopyLink: () => void
  readonly onKeys: () => void
}

/** Returns what a key does; undefined for other keys. */
function actionOf(event: KeyboardEvent, actions: KeyActions): (() => void) | undefined {
  const { replay, isGrowing, onSelect, onBookmark, onCopyLink, onKeys } = actions
  const { clock, view, cameras } = replay
  const step = (seconds: number) => () =>
    replay.jump(clock.position.get() + seconds * (event.shiftKey ? LONG_STEP : 1) * SECOND_MS)
  const zoom = (factor: number) => () => view.zoom(factor, clock.position.get())
  const seekTo = (end: 'fromMs' | 'toMs') => () => replay.jump(clock.limits.get()[end])
  const byKey: Readonly<Record<string, (() => void) | undefined>> = {
    ' ': () => (clock.isPlaying.get() ? clock.pause() : clock.play()),
    ',': () => void replay.step(-1),
    '.': () => void replay.step(1),
    ArrowLeft: step(-1),
    ArrowRight: step(1),
    Home: seekTo('fromMs'),
    End: seekTo('toMs'),
    '[': () => stepRate(replay, -1),
    ']': () => stepRate(replay, 1),
    '+': zoom(1 / ZOOM_STEP),
    '=': zoom(1 / ZOOM_STEP),
    '-': zoom(ZOOM_STEP),
    '0': view.fit,
    b: onBookmark,
    c: onCopyLink,
    l: isGrowing ? clock.followEnd : undefined,
    '?': onKeys,
  }
  const camera = cameras.get()[Number(event.key) - 1]
  if (camera) return () => onSelect(camera)
  return byKey[event.key.length === 1 ? latinKey(event) : event.key]
}

function stepRate({ clock: { rate } }: Replay, step: number): void {
  const index = RATES.indexOf(rate.get())
  rate.set(RATES[Math.min(RATES.length - 1, Math.max(0, index + step))] ?? 1)
}

/** Returns whether the focused element uses the key itself. */
function usesKey({ key }: KeyboardEvent): boolean {
  const focused = document.activeElement
  if (key === ' ') return focused?.closest('button, a, select, [role=tab]') != null
  return NAVIGATION_KEY.test(key) && focused?.closest('select, [role=tab], [role=menu]') != null
}

/** Controls a replay by keys while the component is mounted. */
export function useReplayKeys(actions: KeyActions): void {
  const latest = useRef(actions)
  useEffect(() => {
    latest.current = actions
  })
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || isTyping()) return
      if (event.ctrlKey || event.metaKey || event.altKey || usesKey(event)) return
      if (document.querySelector('[role=dialog], [role=menu]') !== null) return
      const action = actionOf(event, latest.current)
      if (!action) return
      event.preventDefault()
      action()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [])
}
