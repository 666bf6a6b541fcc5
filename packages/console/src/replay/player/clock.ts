import { createStore } from '../../base/store.ts'

export const RATES: readonly number[] = [0.25, 0.5, 1, 2, 4, 8]
/** After a longer pause of the page, such as one in the background, playback continues from the position before the pause. */
const LONGEST_TICK_MS = 250
/** The longest wait for pictures. A camera that does not arrive does not hold up the rest for ever. */
const LONGEST_WAIT_MS = 4_000

export interface TimeRange {
  readonly fromMs: number
  readonly toMs: number
}

/** Creates the clock of a replay. @param isReady whether everything of the present position is shown */
export function createClock(range: TimeRange, startMs: number, isReady: () => boolean) {
  const limits = createStore(range)
  const position = createStore(clamp(startMs, range))
  const isPlaying = createStore(false)
  const rate = createStore(1)
  /** Whether playing waits for data. */
  const isWaiting = createStore(false)
  /** Whether the position stays at the end of a recording that grows. */
  const isFollowing = createStore(false)
  let lastMs: number | undefined
  let waitingSinceMs: number | undefined

  function seek(atMs: number): void {
    isFollowing.set(false)
    position.set(clamp(atMs, limits.get()))
  }

  return {
    limits,
    position,
    isPlaying,
    rate,
    isWaiting,
    isFollowing,
    seek,
    play(): void {
      const { fromMs, toMs } = limits.get()
      if (position.get() >= toMs && !isFollowing.get()) position.set(fromMs)
      isPlaying.set(true)
    },
    pause(): void {
      isPlaying.set(false)
      isFollowing.set(false)
    },
    /** Goes to the end and plays on as the recording grows. */
    followEnd(): void {
      position.set(limits.get().toMs)
      rate.set(1)
      isFollowing.set(true)
      isPlaying.set(true)
    },
    /** Advances the position. Call it on each animation frame. @param isGrowing whether more may follow the end */
    tick(nowMs: number, isGrowing: boolean): void {
      const passedMs = Math.min(LONGEST_TICK_MS, nowMs - (lastMs ?? nowMs))
      lastMs = nowMs
      if (!isPlaying.get()) return isWaiting.set(false)
      const { toMs } = limits.get()
      const isAtEnd = position.get() >= toMs
      if (isAtEnd && !isGrowing) {
        isPlaying.set(false)
        isFollowing.set(false)
        return isWaiting.set(false)
      }
      const isHeld = isAtEnd || !isReady()
      waitingSinceMs = isHeld ? (waitingSinceMs ?? nowMs) : undefined
      const isOverdue = !isAtEnd && waitingSinceMs !== undefined && nowMs - waitingSinceMs > LONGEST_WAIT_MS
      isWaiting.set(isHeld && !isOverdue && nowMs - (waitingSinceMs ?? nowMs) > LONGEST_TICK_MS)
      if (!isHeld || isOverdue) position.set(clamp(position.get() + passedMs * rate.get(), limits.get()))
    },
  }
}
type ReplayClock = ReturnType<typeof createClock>

const clamp = (atMs: number, { fromMs, toMs }: TimeRange): number => Math.min(toMs, Math.max(fromMs, atMs))

const SHORTEST_MS = 500
/** Where the position is in the view after it was moved on. */
const LEAD = 0.08

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
    attach(): void {
      isDetached = false
    },
  }
}
