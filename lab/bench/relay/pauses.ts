import { Histogram } from './histogram.ts'

/** Interval between two readings of the clock; a process that spins reads it every few microseconds. */
export const PAUSE_MS = 0.25
/**
 * Data that arrived during a pause is read in the turn of the event loop in which the pause ended, or in the next one:
 * a pause that is detected between the turns is followed by one whole turn.
 */
const TURNS_AFTER = 2

/**
 * Detects when this process paused: descheduled, collecting garbage, or busy. A frame that was in flight at such a
 * time may have waited here and not at the server. Useful only while the process spins, because waiting for events
 * looks the same.
 */
export class PauseWatch {
  /** Time of the last reading. */
  nowMs: number
  /** Lengths of the pauses. */
  readonly lengths = new Histogram()
  private lastPauseEndedMs = Number.NEGATIVE_INFINITY
  private doubtfulTurns = 0

  constructor(nowMs: number) {
    this.nowMs = nowMs
  }

  /** Reads the clock: at every read, after every write. */
  poll(nowMs: number): void {
    const gapMs = nowMs - this.nowMs
    this.nowMs = nowMs
    if (gapMs < PAUSE_MS) return
    this.lengths.record(gapMs * 1_000)
    this.lastPauseEndedMs = nowMs
    this.doubtfulTurns = TURNS_AFTER
  }

  /** Runs once in every turn of the event loop, after its reads. */
  turn(nowMs: number): void {
    if (this.doubtfulTurns > 0) this.doubtfulTurns--
    this.poll(nowMs)
  }

  /** Returns whether a frame that was sent then and is read now may have been unread while this process paused. */
  doubtful(sentMs: number): boolean {
    return this.doubtfulTurns > 0 && sentMs < this.lastPauseEndedMs
  }

  /** Discards earlier readings: spinning begins now. */
  restart(nowMs: number): void {
    this.nowMs = nowMs
    this.doubtfulTurns = 0
    this.lastPauseEndedMs = Number.NEGATIVE_INFINITY
    this.lengths.reset()
  }
}
