import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { charge } from './charge.ts'
import { type ChargeableInterval, splitCharge } from './split-charge.ts'

const MINUTE_MS = 60_000
const FREE = { client_rate_cents_per_minute: 0, operator_share_percent: 0 }
const PRICED = { client_rate_cents_per_minute: 50, operator_share_percent: 70 }

/** An epoch that began after this ACTIVE time and these outages. */
const from = (activeMs: number, userId: string | null, price = PRICED, outageMs = 0): ChargeableInterval => ({
  user_id: userId,
  active_ms_before: activeMs,
  outage_ms_before: outageMs,
  ...price,
})

/** Splits a session of the client `owner`; returns its minutes and cents, and those of each interval. */
function split(activeMs: number, intervals: readonly ChargeableInterval[], outageMs = 0) {
  const due = splitCharge({ clientId: 'owner', activeMs, outageMs }, intervals)
  return {
    minutes: due.billableMinutes,
    cents: due.clientChargeCents,
    earned: due.operatorEarningsCents,
    drivenMs: due.intervals.map(({ drivenMs }) => drivenMs),
    charges: due.intervals.map(({ clientChargeCents }) => clientChargeCents),
    earnings: due.intervals.map(({ operatorEarningsCents }) => operatorEarningsCents),
  }
}

describe('a charge that is split', () => {
  test('counts who costs something only, and rounds their time up once', () => {
    const intervals = [
      from(0, 'olga'),
      from(90_000, 'owner', FREE),
      from(200_000, null, FREE),
      from(200_000, 'paul'),
    ]
    expect(split(230_001, intervals)).toEqual({
      minutes: 3, // 90 s and 30.001 s
      cents: 150,
      earned: 104,
      drivenMs: [90_000, 110_000, 0, 30_001],
      charges: [75, 0, 0, 75], // the last one has the remainder
      earnings: [52, 0, 0, 52],
    })
  })

  test('is nothing while only those drove who cost nothing', () => {
    expect(split(10 * MINUTE_MS, [from(0, 'olga'), from(0, 'owner', FREE)])).toMatchObject({
      minutes: 0,
      cents: 0,
      earned: 0,
    })
  })

  test('counts the minutes of a session without a price as before', () => {
    expect(split(90_000, [from(0, 'member', FREE), from(60_000, 'supervisor', FREE)])).toMatchObject({
      minutes: 2,
      cents: 0,
      charges: [0, 0],
    })
  })

  test('has a rate for each interval, and leaves the fraction of a cent to the client', () => {
    const cheap = { client_rate_cents_per_minute: 33, operator_share_percent: 50 }
    expect(split(100_000, [from(0, 'olga', PRICED), from(40_000, 'paul', cheap)])).toEqual({
      minutes: 2,
      cents: 77, // 33 1/3 and 44: 80 s at 33 cents
      earned: 45,
      drivenMs: [40_000, 60_000],
      charges: [33, 44],
      earnings: [23, 22],
    })
  })

  test('takes an outage that was found later from the interval in which it happened', () => {
    // Silent for the last 20 s of the first interval, and for all of the second, which was 10 s long.
    expect(split(130_000, [from(0, 'olga'), from(120_000, 'paul')], 30_000).drivenMs).toEqual([100_000, 0])
    // The same, and 15 s of a third.
    expect(
      split(145_000, [from(0, 'olga'), from(120_000, 'paul'), from(130_000, 'olga', PRICED, 30_000)], 30_000)
        .drivenMs,
    ).toEqual([100_000, 0, 15_000])
  })

  test('has no time of a period that was discarded', () => {
    // 60 s counted, then a period of 40 s in which control changed hands, which is not billed.
    expect(split(60_000, [from(0, 'olga'), from(80_000, 'paul')]).drivenMs).toEqual([60_000, 0])
  })

  test('earns the owner nothing', () => {
    expect(split(MINUTE_MS, [from(0, 'owner'), from(30_000, 'paul')])).toMatchObject({
      charges: [25, 25],
      earnings: [0, 17],
    })
  })
})

const terms = fc.oneof(
  fc.constant(FREE),
  fc.record({
    client_rate_cents_per_minute: fc.integer({ min: 0, max: 10_000 }),
    operator_share_percent: fc.integer({ min: 0, max: 100 }),
  }),
)
const counters = fc.tuple(fc.nat({ max: 4 * 3_600_000 }), fc.nat({ max: 3_600_000 }))
const interval = fc.tuple(fc.constantFrom('olga', 'paul', 'owner', null), terms, counters)
/** Counters may be anything: they are measured by clocks that are set, and outages are found late. */
const chargeable = fc
  .tuple(fc.array(interval, { minLength: 1, maxLength: 8 }), counters)
  .map(([parts, [activeMs, outageMs]]) => ({
    activeMs,
    outageMs,
    intervals: parts.map(([userId, price, [active, outage]], at) =>
      from(at === 0 ? 0 : active, userId, price, at === 0 ? 0 : outage),
    ),
  }))
const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)

describe('for any counters and prices', () => {
  test('all parts add up, and none is negative', () => {
    fc.assert(
      fc.property(chargeable, ({ activeMs, outageMs, intervals }) => {
        const due = split(activeMs, intervals, outageMs)
        const billableMs = Math.max(0, activeMs - outageMs)
        expect(sum(due.drivenMs)).toBe(billableMs)
        expect(sum(due.charges)).toBe(due.cents)
        expect(sum(due.earnings)).toBe(due.earned)
        for (const [at, cents] of due.charges.entries()) {
          const { client_rate_cents_per_minute: rate, user_id } = intervals[at] as ChargeableInterval
          expect(due.drivenMs[at]).toBeGreaterThanOrEqual(0)
          expect(due.earnings[at]).toBeGreaterThanOrEqual(0)
          expect(due.earnings[at]).toBeLessThanOrEqual(cents)
          if (rate === 0 || due.drivenMs[at] === 0) expect(cents).toBe(0)
          if (user_id === 'owner' || user_id === null) expect(due.earnings[at]).toBe(0)
        }
        const maxRate = Math.max(...intervals.map((one) => one.client_rate_cents_per_minute))
        expect(due.minutes).toBeLessThanOrEqual(Math.ceil(billableMs / MINUTE_MS))
        expect(due.cents).toBeLessThanOrEqual(due.minutes * maxRate)
      }),
    )
  })

  test('each operator earns the share of what they drove, rounded down', () => {
    fc.assert(
      fc.property(chargeable, ({ activeMs, outageMs, intervals }) => {
        const { charges, earnings } = split(activeMs, intervals, outageMs)
        for (const userId of ['olga', 'paul']) {
          const of = (values: readonly number[]) =>
            values.filter((_, at) => intervals[at]?.user_id === userId)
          const hundredths = charges.map((cents, at) => cents * (intervals[at]?.operator_share_percent ?? 0))
          expect(sum(of(earnings))).toBe(Math.floor(sum(of(hundredths)) / 100))
        }
      }),
    )
  })

  test('one operator at one price costs and earns what a session does whose control never changed hands', () => {
    fc.assert(
      fc.property(chargeable, fc.boolean(), terms, ({ activeMs, outageMs, intervals }, isOwner, price) => {
        const userId = isOwner ? 'owner' : 'olga'
        const all = intervals.map((one) => ({ ...one, user_id: userId, ...price }))
        const { minutes, cents, earned } = split(activeMs, all, outageMs)
        expect({
          billableMinutes: minutes,
          clientChargeCents: cents,
          operatorEarningsCents: earned,
        }).toEqual(
          charge({
            activeMs,
            outageMs,
            rateCentsPerMinute: price.client_rate_cents_per_minute,
            sharePercent: isOwner ? 0 : price.operator_share_percent,
          }),
        )
      }),
    )
  })

  test('it stays within what the row of a session can store', () => {
    const endless = split(1e15, [from(0, 'olga'), from(5e14, 'paul')])
    expect(endless.cents).toBe(2_147_483_647)
    expect(endless.charges).toEqual([1_073_741_823, 1_073_741_824])
  })
})
