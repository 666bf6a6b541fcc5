/** Crystals differ: between two clocks, the offset may creep up this much without any frame being late. */
const CLOCK_DRIFT_PER_MS = 0.2 / 1_000
/** After so long of frames that are all late by the same, it is the clock or the path that has changed. */
const RECALIBRATE_MS = 2_000
/** Frames further apart than this are not one stretch. */
const RUN_GAP_MS = 500

/** Late frames that follow closely on each other, and their offsets. */
interface LateFrameRun {
  readonly sinceMs: number
  readonly lastMs: number
  readonly smallestMs: number
  readonly largestMs: number
}

/**
 * How old control frames are when they arrive, without knowing the sender's clock: arrival minus `t`, compared with
 * the smallest such offset seen. Frames that waited in a buffer stand out, because they come later by their clock
 * than others did.
 *
 * Another operator's clock may be far behind the last one's, which looks like being late for ever. Frames from a
 * buffer come in a burst, or less and less late while it drains; frames that are late by the same for two seconds on
 * end therefore set the measure anew.
 */
export class FrameAge {
  #smallestMs: number | null = null
  #atMs = 0
  #late: LateFrameRun | null = null

  /** Forgets what it has seen: frames come from another clock now. */
  forget(): void {
    this.#smallestMs = null
    this.#late = null
  }

  /**
   * Takes note of a frame that arrived at `nowMs` (any monotonic clock).
   * @param t the sender's clock when it was sent, milliseconds
   * @returns its age in milliseconds if that is more than `limitMs`, else null
   */
  lateMs(t: number, limitMs: number, nowMs: number): number | null {
    const offsetMs = nowMs - t
    const drifted = (this.#smallestMs ?? offsetMs) + (nowMs - this.#atMs) * CLOCK_DRIFT_PER_MS
    this.#smallestMs = this.#smallestMs === null ? offsetMs : Math.min(drifted, offsetMs)
    this.#atMs = nowMs
    const ageMs = offsetMs - this.#smallestMs
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
    this.#late = null
    return null
  }
}

/** The stretch with one more late frame; a new one if that came after a pause or was not late by the same. */
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
