import type { Slot } from './schedule.schema.ts'
import { createZoneClock } from './zone-clock.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
/** The weekday of 1 January 1970, a Thursday. */
const EPOCH_WEEKDAY = 4
/** Two weeks, because the change to summer time can remove a slot from one week. */
const DAYS_AHEAD = 14

/** The state of a schedule at an instant. */
export interface Opening {
  readonly open: boolean
  /** When the schedule opens next; null while it is open, and when it never opens. */
  readonly opensAt: Date | null
}

/**
 * Returns the state of a weekly schedule at an instant. Slots are local times of the zone, so their lengths change with
 * the clocks. A start or end that the clocks skip moves to the change. For a local time that occurs twice, a slot begins
 * at the first occurrence and ends at the second.
 */
export function openingAt(schedule: { timezone: string; slots: readonly Slot[] }, at: Date): Opening {
  const clock = createZoneClock(schedule.timezone)
  const atMs = at.getTime()
  const today = Math.floor(clock.wallAt(atMs) / DAY_MS)
  let opensMs = Number.POSITIVE_INFINITY
  // From yesterday: shortly after midnight the clocks may be set back to the day before.
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

/** Returns the ISO weekday (1 is Monday) of a day counted from 1 January 1970. */
function weekdayOf(day: number): number {
  return ((((day + EPOCH_WEEKDAY - 1) % 7) + 7) % 7) + 1
}

function minutesOf(time: string): number {
  const [hours, minutes] = time.split(':').map(Number) as [number, number]
  return hours * 60 + minutes
}
