import type { Slot } from './schedule.schema.ts'
import { createZoneClock } from './zone-clock.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
/** The weekday of 1 January 1970, a Thursday. */
const EPOCH_WEEKDAY = 4
/** Two weeks: a slot that the change to summer time swallows comes again in the next. */
const DAYS_AHEAD = 14

/** What a schedule says about an instant. */
export interface Opening {
  readonly open: boolean
  /** When it opens next; null while it is open, and when it never opens. */
  readonly opensAt: Date | null
}

/**
 * Reads a weekly schedule at an instant. Slots are times on the wall of the zone, so their lengths follow the
 * clocks: a start or end that clocks skip moves to the change; of one that they show twice, a slot begins with
 * the first and ends with the second.
 */
export function openingAt(schedule: { timezone: string; slots: readonly Slot[] }, at: Date): Opening {
  const clock = createZoneClock(schedule.timezone)
  const atMs = at.getTime()
  const today = Math.floor(clock.wallAt(atMs) / DAY_MS)
  let opensMs = Number.POSITIVE_INFINITY
  // From yesterday: shortly after midnight, clocks may be put back into it.
  for (let day = today - 1; day <= today + DAYS_AHEAD; day++) {
    for (const slot of schedule.slots) {
      if (slot.weekday !== weekdayOf(day)) continue
      const startMs = clock.firstAtOrAfter(day * DAY_MS + minutesOf(slot.start) * MINUTE_MS)
      const endMs = clock.endOfEarlier(day * DAY_MS + minutesOf(slot.end) * MINUTE_MS)
      if (startMs <= atMs && atMs < endMs) return { open: true, opensAt: null }
      if (startMs > atMs && startMs < endMs) opensMs = Math.min(opensMs, startMs)
    }
  }
  return { open: false, opensAt: Number.isFinite(opensMs) ? new Date(opensMs) : null }
}

/** ISO weekday, 1 is Monday, of a day counted from 1 January 1970. */
function weekdayOf(day: number): number {
  return ((((day + EPOCH_WEEKDAY - 1) % 7) + 7) % 7) + 1
}

function minutesOf(time: string): number {
  const [hours, minutes] = time.split(':').map(Number) as [number, number]
  return hours * 60 + minutes
}
