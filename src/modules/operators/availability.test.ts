import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openingAt } from './availability.ts'
import type { Slot } from './schedule.schema.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

const slot = (weekday: number, start: string, end: string): Slot => ({ weekday, start, end })
const daily = (start: string, end: string) => [1, 2, 3, 4, 5, 6, 7].map((day) => slot(day, start, end))
/** Returns the state of a schedule at an instant: 'open', the next opening, or null for never. */
function statusAt(timezone: string, slots: Slot[], at: string): string | null {
  const { open, opensAt } = openingAt({ timezone, slots }, new Date(at))
  if (open) expect(opensAt).toBeNull()
  return open ? 'open' : (opensAt?.toISOString().replace(':00.000Z', 'Z') ?? null)
}

describe('an ordinary week', () => {
  const office = [1, 2, 3, 4, 5].map((day) => slot(day, '09:00', '17:00'))

  test.each([
    ['inside', 'Europe/Berlin', '2026-07-01T12:00Z', 'open'],
    ['at the start, which belongs to the slot', 'Europe/Berlin', '2026-07-01T07:00Z', 'open'],
    ['just before the start', 'Europe/Berlin', '2026-07-01T06:59:59.999Z', '2026-07-01T07:00Z'],
    ['just before the end', 'Europe/Berlin', '2026-07-01T14:59:59.999Z', 'open'],
    ['at the end, which does not', 'Europe/Berlin', '2026-07-01T15:00Z', '2026-07-02T07:00Z'],
    ['on Friday evening: on Monday', 'Europe/Berlin', '2026-07-03T15:00Z', '2026-07-06T07:00Z'],
    ['on Sunday', 'Europe/Berlin', '2026-07-05T12:00Z', '2026-07-06T07:00Z'],
    ['with half an hour in the offset', 'Asia/Kolkata', '2026-07-01T03:29Z', '2026-07-01T03:30Z'],
    ['where it is Monday already', 'Pacific/Auckland', '2026-07-05T20:59Z', '2026-07-05T21:00Z'],
    ['where it is Sunday still', 'Pacific/Honolulu', '2026-07-06T09:59Z', '2026-07-06T19:00Z'],
  ])('%s', (_what, zone, at, expected) => {
    expect(statusAt(zone, office, at)).toBe(expected)
  })

  test('opens again in a week when its only slot has just ended', () => {
    expect(statusAt('UTC', [slot(3, '09:00', '10:00')], '2026-07-01T10:00Z')).toBe('2026-07-08T09:00Z')
  })

  test('without slots never opens', () => {
    expect(statusAt('UTC', [], '2026-07-01T10:00Z')).toBeNull()
  })

  test('goes through midnight in two slots', () => {
    const night = [slot(1, '22:00', '24:00'), slot(2, '00:00', '06:00')]
    for (const time of ['22:00', '23:59']) expect(statusAt('UTC', night, `2026-07-06T${time}Z`)).toBe('open')
    for (const time of ['00:00', '05:59']) expect(statusAt('UTC', night, `2026-07-07T${time}Z`)).toBe('open')
    expect(statusAt('UTC', night, '2026-07-07T06:00Z')).toBe('2026-07-13T22:00Z')
  })

  test('of whole days is always open', () => {
    for (const at of [
      '2026-03-29T00:59:59Z',
      '2026-03-29T01:00Z',
      '2026-10-25T01:00Z',
      '2026-07-06T22:00Z',
    ]) {
      expect(statusAt('Europe/Berlin', daily('00:00', '24:00'), at), at).toBe('open')
    }
  })
})

describe('when clocks in Berlin are put forward from 02:00 to 03:00 on 29 March 2026, a Sunday', () => {
  const berlin = (start: string, end: string, at: string) =>
    statusAt('Europe/Berlin', [slot(7, start, end)], at)

  test('a start that is skipped moves to the change', () => {
    expect(berlin('02:30', '05:00', '2026-03-29T00:59Z')).toBe('2026-03-29T01:00Z')
    expect(berlin('02:30', '05:00', '2026-03-29T01:00Z')).toBe('open')
  })
  test('an end that is skipped is the change', () => {
    expect(berlin('01:00', '02:30', '2026-03-29T00:59Z')).toBe('open')
    expect(berlin('01:00', '02:30', '2026-03-29T01:00Z')).toBe('2026-04-04T23:00Z')
  })
  test('a slot that is skipped comes a week later', () => {
    expect(berlin('02:10', '02:50', '2026-03-28T12:00Z')).toBe('2026-04-05T00:10Z')
  })
  test('a slot over the change is an hour shorter', () => {
    expect(berlin('00:00', '24:00', '2026-03-28T22:59Z')).toBe('2026-03-28T23:00Z')
    expect(berlin('00:00', '24:00', '2026-03-29T21:59Z')).toBe('open')
    expect(berlin('00:00', '24:00', '2026-03-29T22:00Z')).toBe('2026-04-04T22:00Z')
  })
})

describe('when clocks in Berlin are put back from 03:00 to 02:00 on 25 October 2026, a Sunday', () => {
  const berlin = (start: string, end: string, at: string) =>
    statusAt('Europe/Berlin', [slot(7, start, end)], at)

  test('a start that comes twice is the first', () => {
    expect(berlin('02:30', '05:00', '2026-10-25T00:29Z')).toBe('2026-10-25T00:30Z')
    expect(berlin('02:30', '05:00', '2026-10-25T01:15Z'), '02:15 again, within the slot').toBe('open')
  })
  test('an end that comes twice is the second', () => {
    expect(berlin('01:00', '02:30', '2026-10-25T01:29Z')).toBe('open')
    expect(berlin('01:00', '02:30', '2026-10-25T01:30Z')).toBe('2026-11-01T00:00Z')
  })
  test('a slot that is over when the clocks are put back is not reopened by it', () => {
    expect(berlin('01:00', '02:00', '2026-10-24T23:59Z')).toBe('open')
    expect(berlin('01:00', '02:00', '2026-10-25T00:00Z')).toBe('2026-11-01T00:00Z')
  })
})

test('Lord Howe’s clocks change by half an hour', () => {
  const lordHowe = (start: string, end: string, at: string) =>
    statusAt('Australia/Lord_Howe', [slot(7, start, end)], at)
  expect(lordHowe('02:15', '04:00', '2026-10-03T15:29Z'), 'forward from 02:00 to 02:30').toBe(
    '2026-10-03T15:30Z',
  )
  expect(lordHowe('01:45', '04:00', '2026-04-04T14:44Z'), 'back from 02:00 to 01:30').toBe(
    '2026-04-04T14:45Z',
  )
  expect(lordHowe('01:00', '01:45', '2026-04-04T15:14Z')).toBe('open')
  expect(lordHowe('01:00', '01:45', '2026-04-04T15:15Z')).toBe('2026-04-11T14:30Z')
})

test('St John’s clocks went back from Sunday 00:01 to Saturday 23:01 in 2010', () => {
  const saturdayNight = [slot(6, '23:30', '24:00')]
  expect(statusAt('America/St_Johns', saturdayNight, '2010-11-07T02:30:30Z'), 'on Sunday').toBe('open')
  expect(statusAt('America/St_Johns', saturdayNight, '2010-11-07T03:29Z'), 'before the second midnight').toBe(
    'open',
  )
  expect(statusAt('America/St_Johns', saturdayNight, '2010-11-07T03:30Z')).toBe('2010-11-14T03:00Z')
})

test('Samoa had no Friday in the last week of 2011', () => {
  const fridays = [slot(5, '09:00', '17:00')]
  expect(statusAt('Pacific/Apia', fridays, '2011-12-30T09:59Z')).toBe('2012-01-05T19:00Z')
})

/** Yields the local time of a zone for each minute, from some days before an instant until weeks after. */
function weekOf(zone: string, around: string) {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
  const firstMs = Date.parse(around) - 5 * DAY_MS
  const shown = Array.from({ length: 24 * 24 * 60 }, (_, index) =>
    format.format(firstMs + index * MINUTE_MS).replace(' ', 'T'),
  )
  const dates = [...new Set(shown.map((text) => text.slice(0, 10)))].slice(1, -1)
  // The latest time shown so far, and the earliest still to come: both only grow, so they can be searched.
  const latest = [...shown]
  for (let i = 1; i < latest.length; i++) if (latest[i]! < latest[i - 1]!) latest[i] = latest[i - 1]!
  const earliest = [...shown]
  for (let i = earliest.length - 2; i >= 0; i--)
    if (earliest[i]! > earliest[i + 1]!) earliest[i] = earliest[i + 1]!
  const firstNotBelow = (times: string[], limit: string) => {
    let [low, high] = [0, times.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (times[middle]! < limit) low = middle + 1
      else high = middle
    }
    return firstMs + low * MINUTE_MS
  }
  return (slots: readonly Slot[]) =>
    dates.flatMap((date) => {
      const weekday = new Date(`${date}T12:00Z`).getUTCDay() || 7
      return slots
        .filter((item) => item.weekday === weekday)
        .map(({ start, end }) => ({
          startMs: firstNotBelow(latest, `${date}T${start}`),
          endMs: firstNotBelow(earliest, `${date}T${end}`),
        }))
        .filter(({ startMs, endMs }) => startMs < endMs)
    })
}

const changes: [zone: string, around: string][] = [
  ['Europe/Berlin', '2026-03-29T01:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00Z'],
  ['America/New_York', '2026-03-08T07:00Z'],
  ['America/New_York', '2026-11-01T06:00Z'],
  ['America/Havana', '2026-03-08T05:00Z'],
  ['America/Havana', '2026-11-01T05:00Z'],
  ['America/Asuncion', '2024-03-24T03:00Z'],
  ['America/St_Johns', '2010-11-07T02:31Z'],
  ['Asia/Kolkata', '2026-06-15T00:00Z'],
  ['Asia/Beirut', '2026-03-28T22:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30Z'],
  ['Africa/Casablanca', '2026-02-15T02:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00Z'],
  ['UTC', '2026-01-01T00:00Z'],
]

const clockTime = fc
  .integer({ min: 0, max: 24 * 60 })
  .map((minutes) =>
    [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':'),
  )
/** Around midnight and the small hours, where clocks change, more often than elsewhere. */
const riskyTime = fc
  .integer({ min: 0, max: 20 })
  .map((quarters) => `0${Math.floor(quarters / 4)}:${String((quarters % 4) * 15).padStart(2, '0')}`)
const anySlot = fc
  .record({
    weekday: fc.integer({ min: 1, max: 7 }),
    times: fc.tuple(fc.oneof(clockTime, riskyTime), fc.oneof(clockTime, riskyTime)),
  })
  .filter(({ times: [item, other] }) => item !== other)
  .map(({ weekday, times }) => ({ weekday, start: times.toSorted()[0]!, end: times.toSorted()[1]! }))

test.each(changes)('%s around %s: agrees with a clock that is read minute by minute', (zone, around) => {
  const openIntervals = weekOf(zone, around)
  const nearMs = fc
    .integer({ min: -2 * 24 * 60 * 2, max: 2 * 24 * 60 * 2 })
    .map((half) => half * (MINUTE_MS / 2))
  fc.assert(
    fc.property(fc.array(anySlot, { minLength: 1, maxLength: 6 }), nearMs, (slots, offsetMs) => {
      const at = new Date(Date.parse(around) + offsetMs)
      const intervals = openIntervals(slots)
      const open = intervals.some(({ startMs, endMs }) => startMs <= at.getTime() && at.getTime() < endMs)
      const next = Math.min(...intervals.map(({ startMs }) => startMs).filter((ms) => ms > at.getTime()))
      const opensAt = open ? null : new Date(next).toISOString()
      const opening = openingAt({ timezone: zone, slots }, at)
      expect({ open: opening.open, opensAt: opening.opensAt?.toISOString() ?? null }).toEqual({
        open,
        opensAt,
      })
    }),
    { numRuns: 400 },
  )
})
