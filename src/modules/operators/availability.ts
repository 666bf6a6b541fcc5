import { DateTime } from 'luxon'
import type { Slot } from './schedule.schema.ts'
import { createZoneClock, type ZoneClock } from './zone-clock.ts'

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
  const now = DateTime.fromMillis(atMs, { zone: clock.zone })
  const today = now.setZone('utc', { keepLocalTime: true }).startOf('day')
  // From yesterday: shortly after midnight the clocks may be set back to the day before.
  for (let days = -1; days <= DAYS_AHEAD; days++) {
    const spans = spansOn(today.plus({ days }), schedule.slots, clock)
    if (spans.some(({ startMs, endMs }) => startMs <= atMs && atMs < endMs)) {
      return { open: true, opensAt: null }
    }
    const nextStarts = spans.map(({ startMs }) => startMs).filter((startMs) => startMs > atMs)
    if (nextStarts.length > 0) return { open: false, opensAt: new Date(Math.min(...nextStarts)) }
  }
  return { open: false, opensAt: null }
}

/** Returns the instants of the slots on a date. The clocks can skip a whole slot. */
function spansOn(date: DateTime, slots: readonly Slot[], clock: ZoneClock) {
  return slots
    .filter(({ weekday }) => weekday === date.weekday)
    .map(({ start, end }) => ({
      startMs: clock.firstAtOrAfter(atTime(date, start)),
      endMs: clock.endOfEarlier(atTime(date, end)),
    }))
    .filter(({ startMs, endMs }) => startMs < endMs)
}

function atTime(date: DateTime, time: string): DateTime {
  const [hours, minutes] = time.split(':').map(Number) as [number, number]
  return date.plus({ hours, minutes })
}
