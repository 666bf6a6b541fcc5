import { Histogram } from './histogram.ts'

/** Between two looks at the clock; a process that spins looks every few microseconds. */
export const PAUSE_MS = 0.25
/**
 * What lay unread during a pause is read in the turn of the event loop in which the pause ended, and in the next:
 * a pause that is noticed between the turns is followed by one whole turn.
 */
const TURNS_AFTER = 2

/**
 * Finds out when this very process stood still: descheduled, collecting garbage, or busy in one go. A frame that
 * was under way at such a time may have waited here and not at the server. Only of use while the process spins,
 * since waiting for events looks the same.
 */
export class PauseWatch {
  /** When the clock was looked at last. */
  nowMs: number
  /** Lengths of the pauses. */
  readonly lengths = new Histogram()
  private lastPauseEndedMs = Number.NEGATIVE_INFINITY
  private doubtfulTurns = 0

  constructor(nowMs: number) {
    this.nowMs = nowMs
  }

  /** Looks at the clock: at every read, after every write. */
  poll(nowMs: number): void {
    const gapMs = nowMs - this.nowMs
    this.nowMs = nowMs
    if (gapMs < PAUSE_MS) return
    this.lengths.record(gapMs * 1_000)
    this.lastPauseEndedMs = nowMs
    this.doubtfulTurns = TURNS_AFTER
  }

  /** Once in every turn of the event loop, after its reads. */
  turn(nowMs: number): void {
    if (this.doubtfulTurns > 0) this.doubtfulTurns--
    this.poll(nowMs)
  }

  /** Whether a frame that was sent then and is read now may have lain unread while this process stood still. */
  doubtful(sentMs: number): boolean {
    return this.doubtfulTurns > 0 && sentMs < this.lastPauseEndedMs
  }

  /** Forgets the past: spinning begins now. */
  restart(nowMs: number): void {
    this.nowMs = nowMs
    this.doubtfulTurns = 0
    this.lastPauseEndedMs = Number.NEGATIVE_INFINITY
    this.lengths.reset()
  }
}
