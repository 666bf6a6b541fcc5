import type { DropReason } from '@wheelhouse/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ageOf,
  ageOffsetMs,
  type DriveState,
  decide,
  decideGoal,
  type Gate,
  isFastest,
  type Stamp,
} from './gate.ts'

/** The clock drift that the protocol tolerates: 0.2 ms in a second. */
const CLOCK_DRIFT = 0.0002
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Rounding of sums of doubles around a day. */
const ROUNDING_MS = 1e-3

type Verdict = 'pass' | DropReason
/** All that decides over a frame, from the session and from its stream. */
type AnyGate = DriveState & Gate

/** The operator's clock is this far behind the gateway's. */
const OFFSET_MS = 5_000
const nowMs = 1_000_000

/** Creates a picture of this age; null if the age is unknown, undefined without a report. */
const pictureOf = (ageMs: number | null | undefined, tooOld = false): Gate['picture'] => ({
  tooOld,
  at: () => ageMs,
})

function gateWith(change: Partial<AnyGate> = {}): AnyGate {
  return {
    connected: true,
    active: true,
    latched: false,
    lastSeq: 10,
    tooLate: false,
    offsetMs: OFFSET_MS,
    offsetSeenMs: nowMs,
    pathMs: 10,
    latencyLimitMs: 400,
    videoLimitMs: null,
    picture: pictureOf(undefined),
    ...change,
  }
}
/** Creates a frame of this age for `gateWith`. */
const frame = (ageMs: number, change: Partial<Stamp> = {}): Stamp => ({
  seq: 11,
  t: nowMs - OFFSET_MS - ageMs,
  ttlMs: 250,
  ...change,
})

/** Implements the rules a second time, independently: returns all reasons why a frame must not pass. */
function forbidden(gate: AnyGate, { seq, ttlMs }: Stamp, ageMs: number): Set<DropReason> {
  const reasons = new Set<DropReason>()
  if (!gate.connected) reasons.add('robot_offline')
  if (!gate.active) reasons.add('session_paused')
  if (gate.latched) reasons.add('stopped')
  if (seq <= gate.lastSeq) reasons.add('out_of_order')
  if (ageMs > ttlMs) reasons.add('expired')
  const limitMs = gate.tooLate ? gate.latencyLimitMs * 0.8 : gate.latencyLimitMs
  if (ageMs + gate.pathMs > limitMs) reasons.add('latency')
  const reportedMs = gate.picture.at(nowMs)
  const pictureMs = reportedMs === null ? Number.MAX_VALUE : (reportedMs ?? 0)
  const videoLimitMs = gate.videoLimitMs ?? Number.POSITIVE_INFINITY
  if (pictureMs > (gate.picture.tooOld ? videoLimitMs * 0.8 : videoLimitMs)) reasons.add('video_stale')
  return reasons
}

/** Yields every combination of these values. */
function* combinations<T extends Record<string, readonly unknown[]>>(
  axes: T,
): Generator<{ [K in keyof T]: T[K][number] }> {
  const [[name, values] = [], ...rest] = Object.entries(axes)
  if (name === undefined || values === undefined) return yield {} as { [K in keyof T]: T[K][number] }
  for (const combination of combinations(Object.fromEntries(rest))) {
    for (const value of values) yield { [name]: value, ...combination } as { [K in keyof T]: T[K][number] }
  }
}

describe('the decision over a control frame', () => {
  test('a frame passes exactly if no rule forbids it, for every combination of states and boundaries', () => {
    const booleans = [true, false]
    const verdicts = new Map<Verdict, number>()
    for (const item of combinations({
      connected: booleans,
      active: booleans,
      latched: booleans,
      tooLate: booleans,
      lastSeq: [-1, 0, 10, 2 ** 32 - 1, Number.MAX_SAFE_INTEGER],
      seqAbove: [-1, 0, 1, 1_000],
      ttlMs: [1, 250, 65_535],
      // Around each ttl and each limit.
      ageMs: [0, 1, 1.5, 249, 250, 251, 310, 311, 390, 391, 65_535, 65_536],
      video: [
        { videoLimitMs: null, picture: pictureOf(1e9) },
        { videoLimitMs: null, picture: pictureOf(null) },
        { videoLimitMs: 700, picture: pictureOf(undefined, true) },
        { videoLimitMs: 700, picture: pictureOf(null) },
        { videoLimitMs: 700, picture: pictureOf(700) },
        { videoLimitMs: 700, picture: pictureOf(701) },
        { videoLimitMs: 700, picture: pictureOf(561, true) },
      ],
      pathMs: [0, 10],
      latencyLimitMs: [400, 80_000],
    })) {
      const { seqAbove, ttlMs, ageMs, video, ...known } = item
      const gate = { ...known, ...video }
      const seq = gate.lastSeq + seqAbove
      if (seq < 0 || seq > Number.MAX_SAFE_INTEGER) continue
      const stamp = frame(ageMs, { seq, ttlMs })
      const verdict = decide(gateWith(gate), gateWith(gate), stamp, nowMs)
      // Neither the latency nor the picture holds up a goal.
      const goal = decideGoal(gateWith(gate), gateWith(gate), stamp, true, nowMs)
      if (goal !== (verdict === 'latency' || verdict === 'video_stale' ? 'pass' : verdict))
        expect.fail(JSON.stringify({ ...item, verdict, goal }))
      const reasons = forbidden(gateWith(gate), stamp, ageMs)
      if (reasons.size === 0 ? verdict !== 'pass' : !reasons.has(verdict as DropReason)) {
        expect.fail(JSON.stringify({ ...item, verdict, reasons: [...reasons] }))
      }
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1)
    }
    // Every verdict must occur, or the combinations prove nothing.
    expect([...verdicts.keys()].toSorted()).toEqual(
      [
        'pass',
        'robot_offline',
        'stopped',
        'session_paused',
        'out_of_order',
        'expired',
        'latency',
        'video_stale',
      ].toSorted(),
    )
  })

  test.each<[string, Partial<AnyGate>, Partial<Stamp>, number, Verdict]>([
    [
      'a disconnected robot takes precedence over a stop',
      { connected: false, latched: true },
      {},
      0,
      'robot_offline',
    ],
    [
      'a stop takes precedence over the pause that it causes',
      { latched: true, active: false },
      {},
      0,
      'stopped',
    ],
    ['a pause takes precedence over the number', { active: false }, { seq: 1 }, 0, 'session_paused'],
    ['the number takes precedence over the age', {}, { seq: 10 }, 900, 'out_of_order'],
    ['the age takes precedence over the latency', {}, {}, 900, 'expired'],
    ['a frame that is as old as its ttl passes', { latencyLimitMs: 5_000 }, {}, 250, 'pass'],
    ['a frame that is older than its ttl is dropped', { latencyLimitMs: 5_000 }, {}, 250.01, 'expired'],
    ['a command that takes as long as the limit passes', {}, { ttlMs: 1_000 }, 390, 'pass'],
    ['a command that takes longer than the limit is dropped', {}, { ttlMs: 1_000 }, 390.01, 'latency'],
    ['after a late command, four fifths of the limit pass', { tooLate: true }, { ttlMs: 1_000 }, 310, 'pass'],
    [
      'after a late command, more than four fifths of the limit are dropped',
      { tooLate: true },
      { ttlMs: 1_000 },
      310.01,
      'latency',
    ],
    [
      'the latency takes precedence over the picture',
      { videoLimitMs: 700, picture: pictureOf(900), pathMs: 401 },
      {},
      0,
      'latency',
    ],
    ['a path over the limit drops every frame', { pathMs: 401 }, {}, 0, 'latency'],
    [
      'the first frame of a connection passes',
      { lastSeq: -1, offsetMs: Infinity },
      { seq: 0, t: -1e15 },
      0,
      'pass',
    ],
  ])('%s', (_name, gate, stamp, ageMs, verdict) => {
    expect(decide(gateWith(gate), gateWith(gate), frame(ageMs, stamp), nowMs)).toBe(verdict)
  })
})

/** Simulates the clock of a connection in the relay; returns a function that computes the age of each frame. */
function createConnectionClock() {
  const clock = { offsetMs: Number.POSITIVE_INFINITY, offsetSeenMs: 0 }
  return (t: number, atMs: number): number => {
    if (isFastest(clock, t, atMs)) Object.assign(clock, { offsetMs: atMs - t, offsetSeenMs: atMs })
    return ageOf(clock, t, atMs)
  }
}

describe('the age of a frame', () => {
  test('is the delay beyond the fastest frame, for any clock offset', () => {
    for (const offsetMs of [-1e12, -1, 0, 1, 1e12]) {
      const age = createConnectionClock()
      const sent = (madeMs: number, delayMs: number) => age(madeMs - offsetMs, madeMs + delayMs)
      expect(sent(0, 30)).toBe(0)
      expect(sent(20, 50)).toBeCloseTo(20, 1)
      expect(sent(40, 10)).toBe(0) // faster: later frames are compared with this one
      expect(sent(60, 30)).toBeCloseTo(20, 1)
    }
  })

  test('of a burst after a stall includes the stall', () => {
    const age = createConnectionClock()
    for (let madeMs = 0; madeMs < 1_000; madeMs += 20) expect(age(madeMs, madeMs + 15)).toBeLessThan(0.01)
    for (let madeMs = 1_000; madeMs < 6_000; madeMs += 20) {
      expect(age(madeMs, 6_015)).toBeCloseTo(6_000 - madeMs, -1) // all at once, five seconds late
    }
    expect(age(6_000, 6_016)).toBeLessThan(1.1)
  })

  test('of stalled frames does not shrink after many bursts', () => {
    const age = createConnectionClock()
    age(0, 10)
    for (let round = 1; round <= 100; round++) {
      const madeMs = round * 1_000
      expect(age(madeMs, madeMs + 510)).toBeGreaterThan(500 - CLOCK_DRIFT * (madeMs + 1_000))
    }
  })

  test.each([
    ['slow by 50 ppm, as quartz clocks do', -50, 0.1],
    ['fast by 50 ppm', 50, 0.1],
    ['slow by the tolerated drift', -200, 0.1],
    ['fast by a thousandth', 1_000, 0.1],
  ])('stays near 0 for a day with a clock that runs %s', (_name, ppm, limitMs) => {
    const age = createConnectionClock()
    for (let atMs = 0; atMs <= DAY_MS; atMs += 20_000) {
      const t = atMs * (1 + ppm / 1e6)
      expect(age(t, atMs + 30)).toBeLessThan(limitMs)
    }
  })

  test('grows by the difference with a clock that drifts more than tolerated', () => {
    const age = createConnectionClock()
    const ppm = 700
    for (let atMs = 0; atMs <= HOUR_MS; atMs += 1_000) {
      expect(age(atMs * (1 - ppm / 1e6), atMs)).toBeCloseTo((ppm / 1e6 - CLOCK_DRIFT) * atMs, 3)
    }
  })

  test.each([50, -50, 200])(
    'of a late frame includes the delay after a day of clock drift of %i ppm',
    (ppm) => {
      const age = createConnectionClock()
      for (let atMs = 0; atMs <= DAY_MS; atMs += 20_000) {
        const clock = (ms: number) => ms * (1 + ppm / 1e6)
        age(clock(atMs), atMs + 30)
        // A frame made a moment later arrives 300 ms late.
        expect(age(clock(atMs + 20), atMs + 20 + 330)).toBeGreaterThan(300 - 0.5)
      }
    },
  )

  test('after a rest of the operator excludes only the tolerated drift', () => {
    const age = createConnectionClock()
    age(0, 0)
    const restMs = 600_000
    expect(age(restMs, restMs + 500)).toBeCloseTo(500 - CLOCK_DRIFT * (restMs + 500), 6)
  })
})

test('a command whose age is 0 exists since the way of the fastest frame and the drift tolerated twice', () => {
  const after = (restMs: number, offsetMs: number) =>
    ageOffsetMs({ pathMs: 30, offsetMs, offsetSeenMs: nowMs }, nowMs + restMs)
  expect(after(0, OFFSET_MS)).toBe(30)
  expect(after(60_000, OFFSET_MS)).toBeCloseTo(30 + 2 * CLOCK_DRIFT * 60_000, 6)
  expect(after(60_000, Number.POSITIVE_INFINITY)).toBe(30)
})

const booleans = fc.boolean()
const anyGate: fc.Arbitrary<AnyGate> = fc.record({
  connected: booleans,
  active: booleans,
  latched: booleans,
  tooLate: booleans,
  lastSeq: fc.oneof(fc.constant(-1), fc.nat({ max: 20 }), fc.maxSafeNat()),
  offsetMs: fc.oneof(
    fc.constant(Number.POSITIVE_INFINITY),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.double({ noNaN: true, min: -1_000, max: 1_000 }),
  ),
  offsetSeenMs: fc.double({ noNaN: true, min: 0, max: DAY_MS }),
  pathMs: fc.double({ noNaN: true, min: 0, max: 1_000 }),
  latencyLimitMs: fc.integer({ min: 1, max: 5_000 }),
  videoLimitMs: fc.option(fc.integer({ min: 100, max: 2_000 })),
  picture: fc
    .record({
      ageMs: fc.oneof(fc.constantFrom(null, undefined), fc.double({ noNaN: true, min: 0, max: 4_000 })),
      tooOld: booleans,
    })
    .map(({ ageMs, tooOld }) => pictureOf(ageMs, tooOld)),
})
const anyStamp: fc.Arbitrary<Stamp> = fc.record({
  seq: fc.oneof(fc.nat({ max: 20 }), fc.maxSafeNat()),
  t: fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.double({ noNaN: true, min: -2_000, max: DAY_MS }),
  ),
  ttlMs: fc.integer({ min: 1, max: 65_535 }),
})

describe('for any values', () => {
  test('a frame passes exactly if no rule forbids it', () => {
    fc.assert(
      fc.property(anyGate, anyStamp, fc.double({ noNaN: true, min: 0, max: DAY_MS }), (gate, stamp, atMs) => {
        const verdict = decide(gate, gate, stamp, atMs)
        const reasons = forbidden(gate, stamp, ageOf(gate, stamp.t, atMs))
        return reasons.size === 0 ? verdict === 'pass' : reasons.has(verdict as DropReason)
      }),
      { numRuns: 20_000 },
    )
  })

  test('an age is a number of at least 0', () => {
    fc.assert(
      fc.property(anyGate, anyStamp, fc.double({ noNaN: true, min: 0, max: DAY_MS }), (gate, { t }, atMs) => {
        expect(ageOf(gate, t, atMs)).toBeGreaterThanOrEqual(0)
      }),
      { numRuns: 5_000 },
    )
  })

  const frameTiming = fc.record({
    gapMs: fc.double({ noNaN: true, min: 0, max: 10_000 }),
    delayMs: fc.double({ noNaN: true, min: 0, max: 5_000 }),
  })
  test('the age of a frame is its delay beyond the fastest frame, within the tolerated drift', () => {
    fc.assert(
      fc.property(
        fc.array(frameTiming, { minLength: 1, maxLength: 60 }),
        fc.double({ noNaN: true, min: -1e9, max: 1e9 }),
        fc.integer({ min: -200, max: 200 }),
        (frameTimings, offsetMs, ppm) => {
          const age = createConnectionClock()
          const seen: { atMs: number; delayMs: number }[] = []
          let atMs = 0
          for (const { gapMs, delayMs } of frameTimings) {
            atMs += gapMs
            const drift = (ms: number) => (ms * ppm) / 1e6
            const madeMs = atMs - delayMs
            const found = age(madeMs + drift(madeMs) - offsetMs, atMs)
            seen.push({ atMs, delayMs })
            const fastest = Math.min(...seen.map((item) => item.delayMs))
            const first = seen[0] as { atMs: number }
            // The drift of the clocks since the first frame, and the tolerated drift.
            const slackMs = (atMs - first.atMs + 5_000) * (CLOCK_DRIFT + Math.abs(ppm) / 1e6) + ROUNDING_MS
            expect(found).toBeGreaterThanOrEqual(delayMs - fastest - slackMs)
            expect(found).toBeLessThanOrEqual(delayMs - fastest + slackMs)
          }
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
