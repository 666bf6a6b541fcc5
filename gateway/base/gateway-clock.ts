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
