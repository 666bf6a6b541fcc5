import { createStore } from '../../ui/store.ts'
import type { ReplayClock, TimeRange } from './clock.ts'

const SHORTEST_MS = 500
/** Where the position is in the view after it was moved on. */
const LEAD = 0.08

/** Creates the part of the time axis that is shown. */
export function createTimeView({ limits, position }: ReplayClock) {
  const range = createStore<TimeRange>(limits.get())
  let isFitted = true
  /** While the user looks elsewhere, playing does not move the view back. */
  let isDetached = false

  function show(fromMs: number, spanMs: number): void {
    const all = limits.get()
    const whole = all.toMs - all.fromMs
    const span = Math.min(whole, Math.max(Math.min(SHORTEST_MS, whole), spanMs))
    isFitted = span >= whole
    const from = Math.min(all.toMs - span, Math.max(all.fromMs, fromMs))
    const old = range.get()
    if (old.fromMs !== from || old.toMs !== from + span) range.set({ fromMs: from, toMs: from + span })
  }

  const isInside = (atMs: number) => atMs >= range.get().fromMs && atMs <= range.get().toMs

  return {
    range,
    isZoomed: () => !isFitted,
    /** Zooms about a time. A factor below 1 shows less. */
    zoom(factor: number, aboutMs: number): void {
      const { fromMs, toMs } = range.get()
      const span = (toMs - fromMs) * factor
      show(aboutMs - (aboutMs - fromMs) * factor, span)
      isDetached = !isInside(position.get())
    },
    pan(ms: number): void {
      const { fromMs, toMs } = range.get()
      show(fromMs + ms, toMs - fromMs)
      isDetached = !isInside(position.get())
    },
    fit(): void {
      const { fromMs, toMs } = limits.get()
      isDetached = false
      show(fromMs, toMs - fromMs)
    },
    /** Shows a range. */
    show: (fromMs: number, toMs: number) => show(fromMs, toMs - fromMs),
    /** Extends the view to a new end, unless it shows only a part of the recording. */
    grow(): void {
      const { fromMs, toMs } = limits.get()
      if (isFitted) show(fromMs, toMs - fromMs)
    },
    /** Moves the view on when playing leaves it, or the user jumps. */
    keepInView(atMs: number): void {
      if (isInside(atMs)) isDetached = false
      else if (!isDetached) {
        const { fromMs, toMs } = range.get()
        show(atMs - (toMs - fromMs) * LEAD, toMs - fromMs)
      }
    },
    /** A jump shows its target. */
    attach(): void {
      isDetached = false
    },
  }
}
