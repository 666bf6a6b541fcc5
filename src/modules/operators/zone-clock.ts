const DAY_MS = 86_400_000

/**
 * The local clock of a time zone. Local times are numbers: the milliseconds that `Date.UTC` returns for the displayed
 * date and time, so that calendar arithmetic on them is free of daylight saving time.
 */
export interface ZoneClock {
  /** Returns the local time at an instant, to the second. */
  wallAt(instantMs: number): number
  /** Returns the first instant with this local time or a later one. */
  firstAtOrAfter(wallMs: number): number
  /** Returns the instant after which no earlier local time occurs again. */
  endOfEarlier(wallMs: number): number
}

/**
 * @param zone an IANA time zone
 *
 * Clocks set forward skip local times: a skipped time maps to the change. Clocks set back repeat local times:
 * `firstAtOrAfter` returns the first occurrence, `endOfEarlier` the second.
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

  /** Returns the offsets one day before and after. No zone changes twice within that time. */
  const offsetWindowAt = (wallMs: number) => {
    const [fromMs, toMs] = [wallMs - DAY_MS, wallMs + DAY_MS]
    return { fromMs, toMs, before: offsetAt(fromMs), after: offsetAt(toMs) }
  }
  type OffsetWindow = ReturnType<typeof offsetWindowAt>

  /** Returns the first instant with the later offset. */
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
