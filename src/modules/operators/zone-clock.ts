import { type DateTime, IANAZone } from 'luxon'

const DAY_MS = 86_400_000
const SECOND_MS = 1_000
const MINUTE_MS = 60_000

/**
 * The clock of a time zone. A local time is a UTC `DateTime` that displays the same date and time, so that calendar
 * arithmetic on it is free of daylight saving time. Only this file turns the local times of schedules into instants.
 */
export interface ZoneClock {
  readonly zone: IANAZone
  /** Returns the first instant, in milliseconds, with this local time or a later one. */
  firstAtOrAfter(local: DateTime): number
  /** Returns the instant, in milliseconds, after which no earlier local time occurs again. */
  endOfEarlier(local: DateTime): number
}

/**
 * @param name an IANA time zone
 * @throws RangeError for an unknown zone
 *
 * Clocks set forward skip local times: a skipped time maps to the change. Clocks set back repeat local times:
 * `firstAtOrAfter` returns the first occurrence, `endOfEarlier` the second. `DateTime` with a zone cannot answer this:
 * its choice between two occurrences depends on the current date, and it shifts skipped times by the length of the gap.
 */
export function createZoneClock(name: string): ZoneClock {
  const zone = zoneOf(name)
  const offsetAt = (instantMs: number): number => zone.offset(instantMs) * MINUTE_MS

  /** Resolves a local time with the offsets one day before and after. No zone changes twice within that time. */
  const resolve = (local: DateTime, atChange: (early: number, late: number, changeMs: number) => number) => {
    const wallMs = local.toMillis()
    const [fromMs, toMs] = [wallMs - DAY_MS, wallMs + DAY_MS]
    const [early, late] = [wallMs - offsetAt(fromMs), wallMs - offsetAt(toMs)]
    return early === late ? early : atChange(early, late, findOffsetChange(zone, fromMs, toMs))
  }

  return {
    zone,
    firstAtOrAfter: (local) =>
      resolve(local, (early, late, changeMs) => (early < changeMs ? early : Math.max(changeMs, late))),
    endOfEarlier: (local) =>
      resolve(local, (early, late, changeMs) => (late > changeMs ? late : Math.min(changeMs, early))),
  }
}

/**
 * Returns a zone by its canonical name. luxon keeps every zone that it has created, and users may write the same alias
 * in many ways.
 */
function zoneOf(name: string): IANAZone {
  return IANAZone.create(new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone)
}

/** Returns the first instant between two instants, to the second, that has the offset of the later one. */
function findOffsetChange(zone: IANAZone, fromMs: number, toMs: number): number {
  const before = zone.offset(fromMs)
  let [earlier, later] = [Math.floor(fromMs / SECOND_MS), Math.floor(toMs / SECOND_MS)]
  while (later - earlier > 1) {
    const middle = Math.floor((earlier + later) / 2)
    if (zone.offset(middle * SECOND_MS) === before) earlier = middle
    else later = middle
  }
  return later * SECOND_MS
}
