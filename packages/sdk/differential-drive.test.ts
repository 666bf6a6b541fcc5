import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  advance,
  type DifferentialDriveState,
  type DriveCommand,
  demoLimits,
  isHalted,
  velocity,
} from './differential-drive.ts'
import { DrivePilot, readBinaryDriveCommand, readDriveCommand } from './drive-pilot.ts'
import { demoWorld, isFree, nearestSurface, normalAngle } from './world.ts'

const halted: DifferentialDriveState = {
  xM: 1,
  yM: 1,
  headingRad: 0,
  leftMps: 0,
  rightMps: 0,
  battery: 0.9,
  bumped: false,
}
// Thousandths, because fast-check draws doubles evenly over their bit patterns: nearly all of them are close to 0.
const between = (min: number, max: number) =>
  fc.integer({ min: Math.ceil(min * 1_000), max: Math.floor(max * 1_000) }).map((value) => value / 1_000)
const wild = fc.oneof(
  { weight: 9, arbitrary: between(-3, 3) },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1e308, 5e-324, -0) },
)
const command: fc.Arbitrary<DriveCommand | null> = fc.option(
  fc.record({ linearMps: wild, angularRadps: wild }),
)
const drive = fc.array(fc.record({ command, elapsedS: between(0, 0.4) }), { minLength: 1, maxLength: 120 })
const start = fc
  .record({
    xM: between(0, demoWorld.widthM),
    yM: between(0, demoWorld.heightM),
    headingRad: between(-3.1, 3.1),
    battery: between(0, 1),
  })
  .filter(({ xM, yM }) => isFree(demoWorld, xM, yM, demoLimits.radiusM))

/** Returns the rules that a state violates. Assertions inside a step loop would cost more than the physics. */
function violations(state: DifferentialDriveState): string[] {
  const { linearMps, angularRadps } = velocity(state, demoLimits)
  const rules: [string, boolean][] = [
    ['position', isFree(demoWorld, state.xM, state.yM, demoLimits.radiusM)],
    ['linear speed', Math.abs(linearMps) <= demoLimits.maxLinearMps + 1e-9],
    ['angular speed', Math.abs(angularRadps) <= demoLimits.maxAngularRadps + 1e-9],
    ['heading', Math.abs(state.headingRad) <= Math.PI],
    ['battery', state.battery >= 0 && state.battery <= 1],
  ]
  return rules.filter(([, predicate]) => !predicate).map(([rule]) => rule)
}

test('no drive leaves the room, enters an obstacle or breaks a speed limit', () => {
  fc.assert(
    fc.property(start, drive, (from, steps) => {
      let state: DifferentialDriveState = { ...halted, ...from }
      const broken = new Set<string>()
      for (const transition of steps) {
        state = advance(state, transition.command, transition.elapsedS, demoWorld, demoLimits)
        for (const rule of violations(state)) broken.add(rule)
      }
      expect([...broken]).toEqual([])
    }),
    { seed: 20_261_102, numRuns: 200 },
  )
})

test('wheels keep their acceleration limits unless an obstacle stops them', () => {
  fc.assert(
    fc.property(start, drive, (from, steps) => {
      let state: DifferentialDriveState = { ...halted, ...from }
      let worstMps = 0
      for (const transition of steps) {
        const next = advance(state, transition.command, transition.elapsedS, demoWorld, demoLimits)
        const limit = transition.command ? demoLimits.wheelAccelerationMps2 : demoLimits.brakeMps2
        // With an empty battery, every command brakes.
        const allowedMps = (state.battery > 0.001 ? limit : demoLimits.brakeMps2) * transition.elapsedS
        const change = Math.max(
          Math.abs(next.leftMps - state.leftMps),
          Math.abs(next.rightMps - state.rightMps),
        )
        if (!next.bumped) worstMps = Math.max(worstMps, change - allowedMps)
        state = next
      }
      expect(worstMps).toBeLessThan(1e-9)
    }),
    { seed: 20_261_103, numRuns: 200 },
  )
})

test('braking halts every motion within the braking time, and the robot stays halted', () => {
  fc.assert(
    fc.property(start, drive, (from, steps) => {
      let state: DifferentialDriveState = { ...halted, ...from }
      for (const transition of steps)
        state = advance(state, transition.command, transition.elapsedS, demoWorld, demoLimits)
      const fastestMps = demoLimits.maxLinearMps + (demoLimits.maxAngularRadps * demoLimits.trackM) / 2
      const brakingS = fastestMps / demoLimits.brakeMps2 + 0.02
      state = advance(state, null, brakingS, demoWorld, demoLimits)
      expect(isHalted(state)).toBe(true)
      const later = advance(state, null, 0.5, demoWorld, demoLimits)
      expect([later.xM, later.yM, later.headingRad]).toEqual([state.xM, state.yM, state.headingRad])
    }),
    { seed: 20_261_104, numRuns: 100 },
  )
})

test('the robot drives forward along its heading, and its battery drains', () => {
  let state = halted
  for (let step = 0; step < 50; step += 1)
    state = advance(state, { linearMps: 0.5, angularRadps: 0 }, 0.02, demoWorld, demoLimits)
  expect(state.xM).toBeGreaterThan(1.3)
  expect(state.yM).toBe(1)
  expect(state.battery).toBeLessThan(0.9)
  const rested = advance(advance(state, null, 0.5, demoWorld, demoLimits), null, 0.5, demoWorld, demoLimits)
  expect(advance(rested, null, 0.5, demoWorld, demoLimits).battery).toBeGreaterThan(rested.battery)
})

test('a robot with an empty battery does not move', () => {
  const flat = { ...halted, battery: 0 }
  expect(isHalted(advance(flat, { linearMps: 1, angularRadps: 1 }, 0.02, demoWorld, demoLimits))).toBe(true)
})

test('the nearest surface has a distance and a bearing', () => {
  const hit = nearestSurface(demoWorld, { xM: 1, yM: 3, headingRad: 0 }, 0.25)
  expect(hit.distanceM).toBeCloseTo(0.75)
  expect(hit.bearingRad).toBeCloseTo(Math.PI)
  fc.assert(
    fc.property(fc.double({ min: -100, max: 100, noNaN: true }), (angle) => {
      const turned = normalAngle(angle)
      expect(Math.cos(turned)).toBeCloseTo(Math.cos(angle))
      expect(Math.sin(turned)).toBeCloseTo(Math.sin(angle))
    }),
  )
})

test('control data is two finite numbers or nothing', () => {
  expect(readDriveCommand({ linear_mps: 0.5 })).toEqual({ linearMps: 0.5, angularRadps: 0 })
  for (const bad of [null, 1, 'go', { linear_mps: '1' }, { angular_radps: Number.NaN }])
    expect(readDriveCommand(bad)).toBeNull()
})

test('binary control data is two big-endian floats or nothing', () => {
  // 0.5 and -1.25 in IEEE 754, after a byte outside the payload.
  const bytes = Uint8Array.of(9, 0x3f, 0, 0, 0, 0xbf, 0xa0, 0, 0)
  expect(readBinaryDriveCommand(bytes.subarray(1))).toEqual({ linearMps: 0.5, angularRadps: -1.25 })
  expect(readBinaryDriveCommand(Uint8Array.of(0x7f, 0xc0, 0, 0, 0, 0, 0, 0)), 'not a number').toBeNull()
  for (const length of [0, 7, 9, 16]) expect(readBinaryDriveCommand(new Uint8Array(length))).toBeNull()
})

const sessionId = '2c1f0a52-6d5c-4a87-9a0e-0f6c5d1b7e11'
const active = { session_id: sessionId, status: 'ACTIVE', operator_name: 'Ada' } as const
const go = { linearMps: 0.5, angularRadps: 0 }

function drivingPilot(): DrivePilot {
  const pilot = new DrivePilot()
  pilot.linkUp()
  pilot.session(active)
  expect(pilot.control(go, sessionId)).toBe(true)
  expect(pilot.command).toEqual(go)
  return pilot
}

test('a pilot drives only on a command of an ACTIVE session over an open link', () => {
  const offline = drivingPilot()
  offline.linkDown()
  expect(offline.command).toBeNull()
  expect(offline.control(go, sessionId)).toBe(false)
  offline.linkUp()
  expect(offline.command).toBeNull()
  expect(offline.control(go)).toBe(true)

  for (const session of [
    null,
    { ...active, status: 'PAUSED' },
    { ...active, status: 'COMPLETED' },
  ] as const) {
    const pilot = drivingPilot()
    pilot.session(session)
    expect(pilot.command).toBeNull()
    expect(pilot.control(go, sessionId)).toBe(false)
    expect(pilot.control(go)).toBe(false)
  }
})

test('a command that a pilot does not obey brakes it', () => {
  const foreign = drivingPilot()
  expect(foreign.control(go, '8d0f42a7-38a3-4f5b-b1a2-5b1f6a4ce7a1')).toBe(false)
  expect(foreign.command).toBeNull()

  const garbled = drivingPilot()
  expect(garbled.control(readDriveCommand({ linear_mps: 'fast' }), sessionId)).toBe(false)
  expect(garbled.command).toBeNull()
})

test('an unlatched stop lasts until the next control frame, a latched stop until it is cleared', () => {
  const deadman = drivingPilot()
  deadman.stop({ reason: 'deadman', latched: false })
  expect(deadman.command).toBeNull()
  expect(deadman.takeAnswer()).toBe('deadman')
  expect(deadman.takeAnswer()).toBeNull()
  expect(deadman.control(go)).toBe(true)

  const latched = drivingPilot()
  latched.stop({ reason: 'emergency', latched: true })
  expect(latched.control(go)).toBe(false)
  expect(latched.takeAnswer()).toBe('emergency')
  latched.stopCleared()
  expect(latched.command).toBeNull()
  expect(latched.control(go)).toBe(true)
})
