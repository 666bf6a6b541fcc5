const DAY_MS = 86_400_000

/**
 * The clock on the wall of a time zone. Wall times are numbers too: milliseconds as `Date.UTC` makes them of
 * what the clock shows, so that calendar arithmetic on them knows no summer.
 */
export interface ZoneClock {
  /** What the clock shows at an instant, to the second. */
  wallAt(instantMs: number): number
  /** The first instant at which the clock shows this time or a later one. */
  firstAtOrAfter(wallMs: number): number
  /** The instant from which on the clock never shows an earlier time again. */
  endOfEarlier(wallMs: number): number
}

/**
 * @param zone an IANA time zone
 *
 * Clocks that are put forward skip times: what would begin or end at a skipped time does so at the change.
 * Clocks that are put back show times twice: `firstAtOrAfter` finds the first showing, `endOfEarlier` the second.
 */
export function createZoneClock(zone: string): ZoneClock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })

  const wallAt = (instantMs: number): number => {
    const shown: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(instantMs)) shown[type] = Number(value)
    const { year, month, day, hour, minute, second } = shown as Record<
      'year' | 'month' | 'day' | 'hour' | 'minute' | 'second',
      number
    >
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }
  const offsetAt = (instantMs: number): number => wallAt(instantMs) - Math.floor(instantMs / 1_000) * 1_000

  /** The offsets a day before and after; no zone changes twice within so short a time. */
  const offsetWindowAt = (wallMs: number) => {
    const [fromMs, toMs] = [wallMs - DAY_MS, wallMs + DAY_MS]
    return { fromMs, toMs, before: offsetAt(fromMs), after: offsetAt(toMs) }
  }
  type OffsetWindow = ReturnType<typeof offsetWindowAt>

  /** The first instant with the later offset. */
  const findOffsetChange = ({ fromMs, toMs, before }: OffsetWindow): number => {
    let [earlier, later] = [Math.floor(fromMs / 1_000), Math.floor(toMs / 1_000)]
    while (later - earlier > 1) {
      const middle = Math.floor((earlier + later) / 2)
      if (offsetAt(middle * 1_000) === before) earlier = middle
      else later = middle
    }
    return later * 1_000
  }

  return {
    wallAt,
    firstAtOrAfter(wallMs) {
      const offsets = offsetWindowAt(wallMs)
      const [early, late] = [wallMs - offsets.before, wallMs - offsets.after]
      if (early === late) return early
      const changeMs = findOffsetChange(offsets)
      return early < changeMs ? early : Math.max(changeMs, late)
    },
    endOfEarlier(wallMs) {
      const offsets = offsetWindowAt(wallMs)
      const [early, late] = [wallMs - offsets.before, wallMs - offsets.after]
      if (early === late) return early
      const changeMs = findOffsetChange(offsets)
      return late > changeMs ? late : Math.min(changeMs, early)
    },
  }
}
