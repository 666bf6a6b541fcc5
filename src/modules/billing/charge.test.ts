import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addMonths, monthOf, startOf } from '../../core/time/month.ts'
import { type Chargeable, charge, earnedShare } from './charge.ts'

const MINUTE_MS = 60_000
const DAYS_30_MS = 30 * 24 * 60 * MINUTE_MS

const durationMs = fc.integer({ min: 0, max: DAYS_30_MS })
const terms = fc.record({
  rateCentsPerMinute: fc.integer({ min: 0, max: 10_000 }),
  sharePercent: fc.integer({ min: 0, max: 100 }),
})
const chargeable: fc.Arbitrary<Chargeable> = fc
  .tuple(terms, durationMs, durationMs)
  .map(([price, activeMs, outageMs]) => ({ ...price, activeMs, outageMs: Math.min(outageMs, activeMs) }))

describe('a charge', () => {
  test.each([
    ['nothing', { activeMs: 0, outageMs: 0 }, { minutes: 0, client: 0, operator: 0 }],
    ['a millisecond', { activeMs: 1, outageMs: 0 }, { minutes: 1, client: 50, operator: 35 }],
    ['a minute', { activeMs: MINUTE_MS, outageMs: 0 }, { minutes: 1, client: 50, operator: 35 }],
    ['and a bit', { activeMs: MINUTE_MS + 1, outageMs: 0 }, { minutes: 2, client: 100, operator: 70 }],
    ['but the bit', { activeMs: MINUTE_MS + 1, outageMs: 1 }, { minutes: 1, client: 50, operator: 35 }],
    ['silence only', { activeMs: 5_000, outageMs: 5_000 }, { minutes: 0, client: 0, operator: 0 }],
  ])('of %s counts begun minutes', (_what, time, expected) => {
    const { billableMinutes, clientChargeCents, operatorEarningsCents } = charge({
      ...time,
      rateCentsPerMinute: 50,
      sharePercent: 70,
    })
    expect(billableMinutes).toBe(expected.minutes)
    expect(clientChargeCents).toBe(expected.client)
    expect(operatorEarningsCents).toBe(expected.operator)
  })

  test('leaves the fraction of a cent to the platform', () => {
    const { clientChargeCents, operatorEarningsCents } = charge({
      activeMs: MINUTE_MS,
      outageMs: 0,
      rateCentsPerMinute: 33,
      sharePercent: 50,
    })
    expect([clientChargeCents, operatorEarningsCents]).toEqual([33, 16])
  })

  test('stays within what the row of a session can store', () => {
    const endless = charge({ activeMs: 1e15, outageMs: 0, rateCentsPerMinute: 10_000, sharePercent: 70 })
    expect(endless).toMatchObject({ clientChargeCents: 2_147_483_647, operatorEarningsCents: 1_503_238_552 })
  })

  test.each([
    ['another robot', 'owner', 70],
    ['the operator’s own robot', 'operator', 0],
  ])('on %s earns the operator the share of the plan', (_whose, owner, share) => {
    const session = { operator_id: 'operator', client_id: owner, operator_share_percent: 70 }
    expect(earnedShare(session)).toBe(share)
  })

  test('is whole cents, never negative, and earns the operator no more than it costs the client', () => {
    fc.assert(
      fc.property(chargeable, (input) => {
        const { billableMinutes, clientChargeCents, operatorEarningsCents } = charge(input)
        for (const value of [billableMinutes, clientChargeCents, operatorEarningsCents]) {
          expect(Number.isSafeInteger(value)).toBe(true)
          expect(value).toBeGreaterThanOrEqual(0)
        }
        expect(operatorEarningsCents).toBeLessThanOrEqual(clientChargeCents)
        expect(clientChargeCents).toBeLessThan(2 ** 31) // what its column holds
      }),
    )
  })

  test('never falls as active time, the rate or the share grows', () => {
    fc.assert(
      fc.property(chargeable, durationMs, terms, (input, moreMs, more) => {
        const before = charge(input)
        const grown = [
          charge({ ...input, activeMs: input.activeMs + moreMs }),
          charge({ ...input, rateCentsPerMinute: input.rateCentsPerMinute + more.rateCentsPerMinute }),
          charge({ ...input, sharePercent: Math.max(input.sharePercent, more.sharePercent) }),
        ]
        for (const after of grown) {
          expect(after.clientChargeCents).toBeGreaterThanOrEqual(before.clientChargeCents)
          expect(after.operatorEarningsCents).toBeGreaterThanOrEqual(before.operatorEarningsCents)
        }
      }),
    )
  })

  test('is the same with an outage of any length as without the time it lasted', () => {
    fc.assert(
      fc.property(chargeable, durationMs, (input, outageMs) => {
        const longer = {
          ...input,
          activeMs: input.activeMs + outageMs,
          outageMs: input.outageMs + outageMs,
        }
        expect(charge(longer)).toEqual(charge(input))
        expect(charge({ ...input, activeMs: input.activeMs - input.outageMs, outageMs: 0 })).toEqual(
          charge(input),
        )
      }),
    )
  })

  test('adds up to less than a minute too much, and never to less than the time', () => {
    fc.assert(
      fc.property(chargeable, (input) => {
        const overMs = charge(input).billableMinutes * MINUTE_MS - (input.activeMs - input.outageMs)
        expect(overMs).toBeGreaterThanOrEqual(0)
        expect(overMs).toBeLessThan(MINUTE_MS)
      }),
    )
  })
})

describe('months', () => {
  test.each([
    ['2026-01-31T23:59:59.999Z', '2026-01'],
    ['2026-02-01T00:00:00.000Z', '2026-02'],
    ['2026-03-29T01:30:00.000Z', '2026-03'], // clocks change in Europe
    ['2026-12-31T23:59:59.999Z', '2026-12'],
    ['2027-01-01T00:00:00.000Z', '2027-01'],
  ])('are those of UTC: %s lies in %s', (at, month) => {
    expect(monthOf(new Date(at))).toBe(month)
  })

  test('follow one another without gaps', () => {
    expect(addMonths('2026-12', 1)).toBe('2027-01')
    expect(addMonths('2026-01', -1)).toBe('2025-12')
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('2999-12-31'), noInvalidDate: true }), (at) => {
        const month = monthOf(at)
        const next = startOf(addMonths(month, 1))
        expect(startOf(month).getTime()).toBeLessThanOrEqual(at.getTime())
        expect(at.getTime()).toBeLessThan(next.getTime())
        expect(monthOf(new Date(next.getTime() - 1))).toBe(month)
        expect(addMonths(addMonths(month, 1), -1)).toBe(month)
      }),
    )
  })
})
