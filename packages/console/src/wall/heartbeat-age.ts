import type { LinkAges } from '../freshness/freshness.ts'

/** A heartbeat older than this is late: robots send one a second, and the page polls every three seconds. */
export const LATE_HEARTBEAT_MS = 5_000

/** The age of the heartbeats of one robot, by the clock of this browser. */
interface HeartbeatAge {
  /** Notes the newest known heartbeat. Safe to call again. */
  note(at: string | null): void
  /** Returns how old the newest heartbeat is, 0 while the next one is not late. */
  ages(): LinkAges
}

interface Clocks {
  /** Milliseconds since any moment, which no correction of the clock changes. */
  readonly monotonicMs: () => number
  /** Unix milliseconds. */
  readonly unixMs: () => number
}

const browserClocks: Clocks = { monotonicMs: () => performance.now(), unixMs: () => Date.now() }

/** @param first the newest heartbeat when the page was opened, in ISO 8601; null when it is unknown */
export function createHeartbeatAge(first: string | null, clocks = browserClocks): HeartbeatAge {
  let newest = first
  // It may be long ago. Later ones arrive soon after they were sent, so that they need no clock of the platform.
  let arrivedMs =
    clocks.monotonicMs() - (first === null ? 0 : Math.max(0, clocks.unixMs() - Date.parse(first)))
  return {
    note(at) {
      if (at === null || at === newest) return
      newest = at
      arrivedMs = clocks.monotonicMs()
    },
    ages() {
      const ageMs = clocks.monotonicMs() - arrivedMs
      return { linkMs: ageMs < LATE_HEARTBEAT_MS ? 0 : ageMs, telemetryMs: undefined }
    },
  }
}
