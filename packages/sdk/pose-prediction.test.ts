import { expect, test } from 'vitest'
import { advance, demoLimits, velocity } from './differential-drive.ts'
import { follow, type Pose, PosePredictor } from './pose-prediction.ts'

const origin: Pose = { xM: 0, yM: 0, headingRad: 0 }
const close = (actual: Pose, expected: Pose, digits = 6) => {
  expect(actual.xM).toBeCloseTo(expected.xM, digits)
  expect(actual.yM).toBeCloseTo(expected.yM, digits)
  expect(actual.headingRad).toBeCloseTo(expected.headingRad, digits)
}

test('a command leads along a line or an arc', () => {
  close(follow(origin, { linearMps: 2, angularRadps: 0 }, 0.5), { xM: 1, yM: 0, headingRad: 0 })
  // A quarter of a circle with a radius of 1 m, to the left and to the right.
  const quarter = Math.PI / 2
  close(follow(origin, { linearMps: quarter, angularRadps: quarter }, 1), {
    xM: 1,
    yM: 1,
    headingRad: quarter,
  })
  close(follow(origin, { linearMps: quarter, angularRadps: -quarter }, 1), {
    xM: 1,
    yM: -1,
    headingRad: -quarter,
  })
  close(follow(origin, { linearMps: 0, angularRadps: Math.PI * 1.5 }, 1), {
    ...origin,
    headingRad: -quarter,
  })
})

test('the prediction agrees with the physics of the simulated robot at a constant speed', () => {
  const world = { widthM: 100, heightM: 100, obstacles: [] }
  const speeds = { linearMps: 0.8, angularRadps: 0.5 }
  const spread = (speeds.angularRadps * demoLimits.trackM) / 2
  const wheels = { leftMps: speeds.linearMps - spread, rightMps: speeds.linearMps + spread }
  const begin = { xM: 50, yM: 50, headingRad: 1, battery: 1, bumped: false, ...wheels }
  expect(velocity(begin, demoLimits).angularRadps).toBeCloseTo(speeds.angularRadps)
  const driven = advance(begin, speeds, 0.4, world, demoLimits)
  close(follow(begin, speeds, 0.4), driven, 4)
})

test('the ghost is where the commands lead that the report does not show yet', () => {
  const predictor = new PosePredictor()
  // One metre per second since 0 ms, two since 900 ms, sent 20 times a second.
  for (let atMs = 0; atMs < 1_000; atMs += 50)
    predictor.command({ linearMps: atMs < 900 ? 1 : 2, angularRadps: 0 }, atMs)
  const reported = { xM: 5, yM: 1, headingRad: Math.PI / 2, atMs: 960 }
  const { inFlight, ghost, ahead } = predictor.predict({ reported, delayMs: 260, nowMs: 1_000, aheadMs: 500 })
  // The report shows the commands until 700 ms: 200 ms at 1 m/s and 100 ms at 2 m/s are missing.
  close(ghost, { xM: 5, yM: 1.4, headingRad: Math.PI / 2 })
  expect(inFlight[0]).toMatchObject({ xM: 5, yM: 1 })
  expect(inFlight.at(-1)).toEqual(ghost)
  expect(ahead[0]).toEqual(ghost)
  close(ahead.at(-1) ?? origin, { xM: 5, yM: 2.4, headingRad: Math.PI / 2 })
})

test('without a report the prediction is relative to the robot', () => {
  const predictor = new PosePredictor()
  predictor.command({ linearMps: 1, angularRadps: 0 }, 0)
  const { inFlight, ghost } = predictor.predict({ reported: null, delayMs: 200, nowMs: 100 })
  expect(inFlight[0]).toEqual(origin)
  close(ghost, { xM: 0.1, yM: 0, headingRad: 0 })
})

test('a robot without commands halts, and so does one that was commanded to', () => {
  const predictor = new PosePredictor()
  expect(predictor.predict({ reported: null, delayMs: 300, nowMs: 0 })).toEqual({
    inFlight: [origin],
    ghost: origin,
    ahead: [origin],
  })
  predictor.command({ linearMps: 1, angularRadps: 0 }, 0)
  const silent = predictor.predict({ reported: null, delayMs: 5_000, nowMs: 3_000 })
  close(silent.ghost, { xM: 0.25, yM: 0, headingRad: 0 }) // until the deadman
  expect(silent.ahead).toEqual([silent.ghost])

  predictor.command({ linearMps: 1, angularRadps: 0 }, 3_000)
  predictor.command(null, 3_100)
  close(predictor.predict({ reported: null, delayMs: 1_000, nowMs: 3_200 }).ghost, {
    xM: 0.1,
    yM: 0,
    headingRad: 0,
  })
})

test('memory and delay are bounded', () => {
  const predictor = new PosePredictor()
  for (let atMs = 0; atMs < 100_000; atMs += 10) predictor.command({ linearMps: 1, angularRadps: 0 }, atMs)
  const { inFlight, ghost } = predictor.predict({
    reported: { ...origin, atMs: 0 },
    delayMs: Number.POSITIVE_INFINITY,
    nowMs: 100_000,
  })
  expect(inFlight.length).toBeLessThanOrEqual(700)
  expect(ghost.xM).toBeLessThanOrEqual(6.2)
  expect(ghost.xM).toBeGreaterThan(4.9)
})
