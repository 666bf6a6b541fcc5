/** The offset between two clocks may grow this fast without any frame being late, because crystals differ. */
const CLOCK_DRIFT_PER_MS = 0.2 / 1_000
/** When all frames of this period are late by the same amount, the clock or the network path has changed. */
const RECALIBRATE_MS = 2_000
/** A longer gap between late frames starts a new run. */
const RUN_GAP_MS = 500

/** Consecutive late frames and their offsets. */
interface LateFrameRun {
  readonly sinceMs: number
  readonly lastMs: number
  readonly smallestMs: number
  readonly largestMs: number
}

/**
 * Measures the age of control frames on arrival without synchronized clocks: the offset (arrival minus `t`) minus the
 * smallest offset so far. A frame that waited in a buffer has a larger offset than others.
 *
 * The clock of another operator may be far behind the last one's, so that all frames seem late. Frames from a buffer
 * arrive in a burst, or their lateness decreases while the buffer drains. Frames that are late by the same amount for
 * two seconds therefore set a new smallest offset.
 */
export class FrameAge {
  #smallestMs: number | null = null
  /** When the frame with the smallest offset arrived. */
  #smallestAtMs = 0
  #late: LateFrameRun | null = null

  /** Resets the measurement, because the next frames have another clock. */
  forget(): void {
    this.#smallestMs = null
    this.#late = null
  }

  /**
   * Measures a frame that arrived at `nowMs` (any monotonic clock).
   * @param t the sender's clock at sending time, milliseconds
   * @returns the age in milliseconds if it exceeds `limitMs`, else null
   */
  lateMs(t: number, limitMs: number, nowMs: number): number | null {
    const offsetMs = nowMs - t
    const ageMs = this.#ageMs(offsetMs, nowMs)
    if (ageMs <= limitMs) {
      this.#late = null
      return null
    }
    const late = extendRun(this.#late, offsetMs, limitMs, nowMs)
    if (nowMs - late.sinceMs < RECALIBRATE_MS) {
      this.#late = late
      return ageMs
    }
    this.#smallestMs = late.smallestMs
    this.#smallestAtMs = nowMs
    this.#late = null
    return null
  }

  /**
   * Returns the age of a frame. The drift of clocks decides which frame is the fastest, but makes no frame younger: else a
   * command could be obeyed after its lifetime.
   */
  #ageMs(offsetMs: number, nowMs: number): number {
    const driftMs = (nowMs - this.#smallestAtMs) * CLOCK_DRIFT_PER_MS
    if (this.#smallestMs === null || offsetMs <= this.#smallestMs + driftMs) {
      this.#smallestMs = offsetMs
      this.#smallestAtMs = nowMs
    }
    return offsetMs - this.#smallestMs
  }
}

/** Returns the run with one more late frame, or a new run after a gap or for a different lateness. */
function extendRun(
  late: LateFrameRun | null,
  offsetMs: number,
  spreadMs: number,
  nowMs: number,
): LateFrameRun {
  if (late !== null && nowMs - late.lastMs <= RUN_GAP_MS) {
    const smallestMs = Math.min(late.smallestMs, offsetMs)
    const largestMs = Math.max(late.largestMs, offsetMs)
    if (largestMs - smallestMs <= spreadMs) return { ...late, lastMs: nowMs, smallestMs, largestMs }
  }
  return { sinceMs: nowMs, lastMs: nowMs, smallestMs: offsetMs, largestMs: offsetMs }
}
