import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SpeedEnvelope, speedScaleFor } from './speed-envelope.ts'

const BUDGET_MS = 200

const commands = (commandMs: number) => ({ commandMs, pictureMs: 0 })

describe('the speed scale', () => {
  test.each([
    [0, 1],
    [200, 1],
    [200.01, 0.95],
    [211, 0.9],
    [400, 0.5],
    [401, 0.45],
    [2_000, 0.1],
    [4_000, 0.05],
    [1e9, 0.05],
  ])('of a budget of 200 ms at a latency of %d ms is %d', (latencyMs, scale) => {
    expect(speedScaleFor(BUDGET_MS, latencyMs)).toBe(scale)
  })

  test('never lets the robot drive farther blind than at full speed within the budget, above the lowest scale', () => {
    const ms = fc.double({ min: 0, max: 100_000, noNaN: true })
    fc.assert(
      fc.property(fc.integer({ min: 50, max: 10_000 }), ms, (budgetMs, latencyMs) => {
        const scale = speedScaleFor(budgetMs, latencyMs)
        expect(scale).toBeGreaterThanOrEqual(0.05)
        expect(scale).toBeLessThanOrEqual(1)
        if (scale > 0.05)
          expect(scale * latencyMs).toBeLessThanOrEqual(Math.max(budgetMs, latencyMs) * (1 + 1e-9))
        if (scale > 0.05 && latencyMs > budgetMs)
          expect(scale * latencyMs).toBeLessThanOrEqual(budgetMs * (1 + 1e-9))
        // Not slower than one step below the exact share.
        expect(scale).toBeGreaterThan(Math.min(1, budgetMs / Math.max(latencyMs, 1e-9)) - 0.05 - 1e-9)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('the envelope', () => {
  test('without a budget never limits the speed and has nothing to announce', () => {
    const speed = new SpeedEnvelope(null)
    speed.observe(undefined, 0)
    speed.observe(commands(10_000), 0)
    speed.account(true, 0)
    speed.account(true, 1_000)
    expect(speed.limits).toEqual({ speed_scale: 1, reason: null })
    expect(speed.takeChange()).toBeNull()
    expect(speed.take()).toEqual({
      budgetedMs: 0,
      scaledMs: 0,
      limitedMs: 0,
      pictureLimitedMs: 0,
      minScale: 1,
    })
  })

  test('begins with the lowest scale, until the latency is known', () => {
    const speed = new SpeedEnvelope(BUDGET_MS)
    expect(speed.takeChange()).toEqual({ speed_scale: 0.05, reason: 'latency_unknown' })
    speed.observe(undefined, 0)
    expect(speed.takeChange()).toBeNull()
    speed.observe(commands(20), 10)
    expect(speed.takeChange()).toEqual({ speed_scale: 1, reason: null })
    speed.forget()
    expect(speed.takeChange()).toEqual({ speed_scale: 0.05, reason: 'latency_unknown' })
  })

  test('falls at once and rises when the latency was lower for one to two seconds', () => {
    const speed = new SpeedEnvelope(BUDGET_MS)
    speed.observe(commands(20), 0)
    speed.observe(commands(400), 1_000)
    expect(speed.limits).toEqual({ speed_scale: 0.5, reason: 'latency' })
    speed.observe(commands(20), 1_999)
    expect(speed.scale).toBe(0.5)
    speed.observe(commands(20), 2_000)
    expect(speed.scale, 'the previous window still counts').toBe(0.5)
    speed.observe(commands(20), 3_000)
    expect(speed.scale).toBe(1)
    speed.observe(commands(800), 3_100)
    speed.observe(commands(20), 60_000)
    expect(speed.scale, 'after a pause of the measurements').toBe(1)
  })

  test('changes at most 20 times on the way down and once a second on the way up', () => {
    const latencies = fc.array(fc.record({ afterMs: fc.nat(400), latencyMs: fc.nat(5_000) }), {
      minLength: 1,
    })
    fc.assert(
      fc.property(latencies, (samples) => {
        const speed = new SpeedEnvelope(BUDGET_MS)
        let [nowMs, before, lastRiseMs] = [10_000, 0, Number.NEGATIVE_INFINITY]
        for (const { afterMs, latencyMs } of samples) {
          nowMs += afterMs
          speed.observe(commands(latencyMs), nowMs)
          expect(speed.scale).toBeLessThanOrEqual(speedScaleFor(BUDGET_MS, latencyMs))
          if (speed.scale > before && before > 0) {
            expect(nowMs - lastRiseMs).toBeGreaterThanOrEqual(1_000)
            lastRiseMs = nowMs
          }
          before = speed.scale
        }
      }),
    )
  })

  test('takes a new budget over with the next measurement', () => {
    const speed = new SpeedEnvelope(BUDGET_MS)
    speed.observe(commands(150), 0)
    speed.setBudget(100)
    expect(speed.limits).toEqual({ speed_scale: 0.05, reason: 'latency_unknown' })
    speed.observe(commands(150), 10)
    expect(speed.scale).toBe(0.65)
    speed.setBudget(null)
    expect(speed.takeChange()).toBeNull() // nothing was announced before
    expect(speed.limits).toEqual({ speed_scale: 1, reason: null })
  })

  test('records the time in which the robot could be driven, and its scale', () => {
    const speed = new SpeedEnvelope(BUDGET_MS)
    speed.account(false, 0)
    speed.account(true, 1_000)
    speed.account(true, 1_100) // the latency is unknown
    speed.observe(commands(400), 1_100)
    speed.account(true, 1_300)
    speed.observe(commands(20), 5_000)
    speed.account(true, 5_300)
    speed.account(true, 60_000) // the process was suspended
    speed.account(false, 60_100)
    const first = speed.take()
    expect(first).toEqual({
      budgetedMs: 4_200,
      scaledMs: 200 * 0.5 + 4_000 * 1,
      limitedMs: 300,
      pictureLimitedMs: 0,
      minScale: 0.5,
    })
    expect(speed.take().budgetedMs).toBe(0)
    speed.restore(first)
    expect(speed.take()).toEqual(first)
  })

  test('names the larger part of the delay as the reason, as long as the scale follows it', () => {
    const speed = new SpeedEnvelope(BUDGET_MS)
    speed.account(true, 0)
    speed.observe({ commandMs: 9, pictureMs: 600 }, 0)
    expect(speed.takeChange()).toEqual({ speed_scale: 0.3, reason: 'picture_age' })
    speed.account(true, 500)
    speed.observe({ commandMs: 300, pictureMs: 309 }, 500) // the same delay: the first one counts
    expect(speed.limits.reason).toBe('picture_age')
    speed.observe({ commandMs: 500, pictureMs: 300 }, 600)
    expect(speed.takeChange()).toEqual({ speed_scale: 0.25, reason: 'latency' })
    speed.account(true, 1_600)
    expect(speed.take()).toMatchObject({ limitedMs: 1_600, pictureLimitedMs: 500 })
    speed.observe(undefined, 1_600)
    expect(speed.limits.reason).toBe('latency_unknown')
  })
})
