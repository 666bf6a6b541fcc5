/** The monotonic time of this process. An object, so that tests can stop it. */
export const monotonic = { nowMs: (): number => performance.now() }

/** Differences of the wall clock that are no step of it. Below this, stamps of one moment are always equal. */
const TOLERANCE_MS = 20

/**
 * Creates the clock of a gateway. Its readings are whole milliseconds since its start. They never jump, so that a step of the wall
 * clock neither triggers nor delays a deadman, a timeout or an expiry. They are above 0, because 0 means "never".
 */
export function createGatewayClock() {
  const startedMs = monotonic.nowMs()
  const clockMs = () => Math.floor(monotonic.nowMs() - startedMs) + 1
  let originMs = Date.now() - clockMs()

  return {
    clockMs,

    /** Returns a reading as Unix time by the present wall clock, for the database and for peers. */
    unixMs(readingMs: number): number {
      const aheadMs = Date.now() - clockMs() - originMs
      if (Math.abs(aheadMs) > TOLERANCE_MS) originMs += aheadMs
      return originMs + readingMs
    },
  }
}
export type GatewayClock = ReturnType<typeof createGatewayClock>

/** A tick that is later than this follows a stall of the process. */
const STALL_MS = 150
/** How long after a stall the frames that arrived during it may be read. */
const CATCH_UP_MS = 1_000

/**
 * Detects stalls of this process: it was suspended, or busy. Frames that arrived during a stall are read afterwards, all at once. Until
 * then every peer seems silent, and afterwards every peer seems to send too fast.
 */
export class StallClock {
  readonly #tickMs: number
  #lastTickMs: number
  #stalledMs = 0
  #endedMs = Number.NEGATIVE_INFINITY

  constructor(tickMs: number, nowMs: number) {
    this.#tickMs = tickMs
    this.#lastTickMs = nowMs
  }

  /**
   * Notes that this process works. Call it every `tickMs`. Returns whether a stall has ended; false for the next tick, however late it
   * is, because a process that is always late must still find silent peers.
   */
  tick(nowMs: number): boolean {
    const lateMs = this.#lateMs(nowMs)
    const stallEnded = lateMs > STALL_MS && this.#endedMs !== this.#lastTickMs
    this.#lastTickMs = nowMs
    if (lateMs > STALL_MS) this.#stalledMs = lateMs
    if (stallEnded) this.#endedMs = nowMs
    return stallEnded
  }

  /** Returns whether a stall has ended, or nearly, whose end no tick has noted yet. */
  isLate(nowMs: number): boolean {
    return this.#lateMs(nowMs) > STALL_MS
  }

  /** Returns the length of a stall whose frames may be read now, in milliseconds; 0 without one. */
  backlogMs(nowMs: number): number {
    const lateMs = this.#lateMs(nowMs)
    if (lateMs > STALL_MS) return lateMs // read in the turn that follows the stall, before the tick
    return nowMs - this.#endedMs < CATCH_UP_MS ? this.#stalledMs : 0
  }

  #lateMs(nowMs: number): number {
    return nowMs - this.#lastTickMs - this.#tickMs
  }
}
