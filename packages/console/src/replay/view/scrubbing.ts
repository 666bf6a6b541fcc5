import type { Replay } from '../player/replay.ts'
import { axisOf } from './tracks.ts'

const ZOOM_PER_PX = 0.0022
const LARGEST_WHEEL_PX = 120
const PINCH_PX = 10

interface Options {
  readonly replay: Replay
  /** Called while the pointer is over the axis. */
  readonly onHover: (event: PointerEvent) => void
  readonly onLeave: () => void
}

/** Moves the position by dragging, and zooms with the wheel or two fingers, on the whole time axis. */
export function createScrubbing(element: HTMLElement, { replay, onHover, onLeave }: Options) {
  const { clock, view } = replay
  const listening = new AbortController()
  const pointers = new Map<number, PointerEvent>()
  let pinch: { span: number; atMs: number } | undefined
  let resumes = false

  const axis = () => axisOf(view.range.get(), element.clientWidth)
  const timeAt = ({ clientX }: { clientX: number }) =>
    axis().timeAt(clientX - element.getBoundingClientRect().left)
  const isOnAxis = (event: PointerEvent) =>
    event.target instanceof Element && event.target.closest('[data-tracks], [data-plot]') !== null

  function onDown(event: PointerEvent): void {
    if (event.button !== 0 || !isOnAxis(event)) return
    pointers.set(event.pointerId, event)
    if (pointers.size === 2) return beginPinch()
    resumes = clock.isPlaying.get()
    clock.pause()
    element.setPointerCapture(event.pointerId)
    if (event.pointerType !== 'mouse') event.preventDefault()
    clock.seek(timeAt(event))
  }

  function beginPinch(): void {
    const [one, other] = [...pointers.values()]
    if (!one || !other) return
    const span = Math.max(PINCH_PX, Math.abs(one.clientX - other.clientX))
    pinch = { span, atMs: timeAt({ clientX: (one.clientX + other.clientX) / 2 }) }
  }

  function onDrag(event: PointerEvent): void {
    if (!pointers.has(event.pointerId)) return isOnAxis(event) ? onHover(event) : onLeave()
    pointers.set(event.pointerId, event)
    const [one, other] = [...pointers.values()]
    if (pinch && one && other) {
      const span = Math.max(PINCH_PX, Math.abs(one.clientX - other.clientX))
      view.zoom(pinch.span / span, pinch.atMs)
      pinch = { ...pinch, span }
    } else {
      clock.seek(timeAt(event))
      onHover(event)
    }
  }

  function onUp(event: PointerEvent): void {
    if (!pointers.delete(event.pointerId)) return
    if (pointers.size < 2) pinch = undefined
    if (pointers.size === 0 && resumes) clock.play()
  }

  function onWheel(event: WheelEvent): void {
    const isOnTracks = event.target instanceof Element && event.target.closest('[data-tracks]') !== null
    const isZoom =
      event.ctrlKey || event.metaKey || (isOnTracks && Math.abs(event.deltaY) >= Math.abs(event.deltaX))
    const isPan = !isZoom && Math.abs(event.deltaX) > Math.abs(event.deltaY)
    if (!isZoom && !isPan) return
    event.preventDefault()
    if (isPan) return view.pan(event.deltaX * axis().msPerPx)
    const delta = Math.max(-LARGEST_WHEEL_PX, Math.min(LARGEST_WHEEL_PX, event.deltaY))
    view.zoom(Math.exp(delta * ZOOM_PER_PX), timeAt(event))
  }

  const { signal } = listening
  element.addEventListener('pointerdown', onDown, { signal })
  element.addEventListener('pointermove', onDrag, { signal })
  element.addEventListener('pointerup', onUp, { signal })
  element.addEventListener('pointercancel', onUp, { signal })
  element.addEventListener('pointerleave', onLeave, { signal })
  element.addEventListener('wheel', onWheel, { signal, passive: false })
  return { close: () => listening.abort() }
}
