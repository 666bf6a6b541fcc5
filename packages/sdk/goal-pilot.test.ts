import fc from 'fast-check'
import { expect, test } from 'vitest'
import { advance, type DifferentialDriveState, demoLimits, isHalted } from './differential-drive.ts'
import { GoalPilot } from './goal-pilot.ts'
import { demoWorld, isFree, normalAngle } from './world.ts'

const STEP_S = 0.02
/** Longer than any drive through the room. */
const MAX_STEPS = 120 / STEP_S
const halted: DifferentialDriveState = {
  xM: 1,
  yM: 1,
  headingRad: 0,
  leftMps: 0,
  rightMps: 0,
  battery: 1,
  bumped: false,
}

/** Drives to a goal until the robot reports its end, and brakes. */
function drive(x: number, y: number, heading = 0, frame = 'odom', start = halted, limits = demoLimits) {
  const pilot = new GoalPilot()
  pilot.begin({ goalId: 'dock', frame, x, y, heading, seq: 1 }, start, demoWorld, limits)
  let state = start
  let [bumps, progress, fastestMps] = [0, 0, 0]
  for (let step = 0; step < MAX_STEPS; step++) {
    const command = pilot.command(state, demoWorld, limits)
    if (command === undefined && isHalted(state)) break
    state = advance(state, command ?? null, STEP_S, demoWorld, limits)
    if (state.bumped) bumps++
    fastestMps = Math.max(fastestMps, state.leftMps, state.rightMps)
    progress = Math.max(progress, pilot.report.goal?.progress ?? 0)
  }
  return { state, bumps, progress, fastestMps, report: pilot.report }
}

test('turns and drives to a goal, turns to its heading, and reports that it is there', () => {
  const { state, report, progress, fastestMps } = drive(1, 1.6, Math.PI)
  expect(report).toMatchObject({
    mode: 'manual',
    goalFrame: 'odom',
    goal: { goalId: 'dock', status: 'reached', progress: 1 },
  })
  expect(Math.hypot(state.xM - 1, state.yM - 1.6)).toBeLessThan(0.1)
  expect(Math.abs(normalAngle(state.headingRad - Math.PI))).toBeLessThan(0.1)
  expect(progress).toBe(1)
  expect(fastestMps).toBeLessThanOrEqual(demoLimits.maxLinearMps)
})

test('drives no faster than it may', () => {
  const { report, fastestMps } = drive(2, 1, 0, 'odom', halted, {
    ...demoLimits,
    maxLinearMps: 0.2,
    maxAngularRadps: 0,
  })
  expect(report.goal?.status).toBe('reached')
  expect(fastestMps).toBeLessThanOrEqual(0.2 + 1e-9)
})

test('halts in front of an obstacle, and fails', () => {
  const { report, bumps, state } = drive(4, 4.5, 0, 'odom', { ...halted, xM: 4, yM: 1 })
  expect(report).toMatchObject({
    mode: 'manual',
    goal: { status: 'failed', message: 'an obstacle is in the way' },
  })
  expect(bumps).toBe(0)
  expect(state.yM).toBeGreaterThan(1.3) // it has driven up to the rack
  expect(isHalted(state)).toBe(true)
})

test('refuses goals in obstacles, outside the room, and in other coordinate frames', () => {
  for (const [x, y, frame] of [
    [5, 2.5, 'odom'],
    [-1, 1, 'odom'],
    [1.7e308, -1.7e308, 'odom'],
    [2, 1, 'map'],
  ] as const)
    expect(drive(x, y, 0, frame)).toMatchObject({ state: halted, report: { goal: { status: 'failed' } } })
})

test('gives up a goal that is canceled, and no other', () => {
  const pilot = new GoalPilot()
  pilot.begin(
    { goalId: 'dock', frame: 'odom', x: 3, y: 1, heading: 0, seq: 1 },
    halted,
    demoWorld,
    demoLimits,
  )
  pilot.cancel('other')
  expect(pilot.command(halted, demoWorld, demoLimits)).toMatchObject({ linearMps: expect.any(Number) })
  pilot.cancel('dock')
  expect(pilot.command(halted, demoWorld, demoLimits)).toBeUndefined()
  expect(pilot.report).toMatchObject({ mode: 'manual', goal: { status: 'canceled' } })
})

test('every goal ends, without a touch', () => {
  const between = (min: number, max: number) =>
    fc.integer({ min: min * 1_000, max: max * 1_000 }).map((value) => value / 1_000)
  const place = fc.tuple(between(0, 24), between(0, 7), between(-3, 3))
  const isRoom = ([x, y]: readonly [number, number, number]) =>
    isFree(demoWorld, x, y, demoLimits.radiusM + 0.2)
  fc.assert(
    fc.property(place.filter(isRoom), place.filter(isRoom), ([xM, yM, headingRad], [x, y, heading]) => {
      const { report, bumps, progress } = drive(x, y, heading, 'odom', { ...halted, xM, yM, headingRad })
      expect(['reached', 'failed']).toContain(report.goal?.status)
      expect(bumps).toBe(0)
      expect(progress).toBeLessThanOrEqual(1)
    }),
  )
})
