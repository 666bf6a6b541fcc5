import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseConfig, type TelemetryEntry } from './config.ts'
import {
  chargeOf,
  jointsOf,
  LogLines,
  poseOf,
  scanOf,
  speedOf,
  stampMsOf,
  TransformTree,
  transformAt,
  velocityOf,
} from './readings.ts'
import { Sampler } from './sampler.ts'
import { FrameReader, frameOf, headerFrame, readHeader } from './tcpros.ts'

const half = Math.SQRT1_2

test('poses: missing fields are zero, an unset quaternion turns nothing, NaN is unknown', () => {
  const pose = (message: unknown) => {
    const transform = transformAt(message)
    return transform && poseOf(transform)
  }
  expect(pose({ position: { x: 1 }, orientation: { z: half, w: half } })).toEqual({
    x_m: 1,
    y_m: 0,
    heading_rad: 1.5708,
  })
  expect(pose({ position: { x: 1 } })).toEqual({ x_m: 1, y_m: 0, heading_rad: 0 })
  expect(pose({ position: { x: Number.NaN } })).toBeUndefined()
  expect(pose({ position: { x: null } })).toBeUndefined()
})

test('speeds: sideways motion counts, and what is unknown is not zero', () => {
  const twist = (linear: object) => ({ twist: { twist: { linear } } })
  expect(velocityOf(twist({ x: 0.5 }))).toEqual({ linear_mps: 0.5, angular_radps: 0 })
  expect(speedOf(twist({ x: 3, y: 4 }))).toEqual({ linearMps: 5, angularRadps: 0 })
  expect(speedOf(twist({ x: null }))).toBeUndefined()
  expect(speedOf({})).toBeUndefined()
})

test.each([
  [{ percentage: 0.42 }, 0.42],
  [{ percentage: 42 }, 0.42],
  [{ percentage: 250 }, 1],
  [{ percentage: Number.NaN }, undefined],
  [{ percentage: -1 }, undefined],
  [{ percentage: null }, undefined],
  [{}, undefined],
])('the charge of %j is %s', (message, charge) => expect(chargeOf(message)).toBe(charge))

test.each([
  [{ header: { stamp: { sec: 5, nanosec: 250_000_000 } } }, 5_250],
  [{ header: { stamp: { sec: 5, nsec: 250_000_000 } } }, 5_250],
  [{ header: { stamp: { secs: 5, nsecs: 250_000_000 } } }, 5_250],
  [{ header: {} }, undefined],
])('the stamp of %j is %s', (message, ms) => expect(stampMsOf(message)).toBe(ms))

test('joints without a usable position are left out', () => {
  const message = { name: ['a', 'b', 'c'], position: Float64Array.of(1, Number.NaN, 3) }
  expect([...jointsOf(message)]).toEqual([
    ['a', 1],
    ['c', 3],
  ])
  expect(jointsOf({ name: 'a', position: 7 }).size).toBe(0)
})

describe('a scan', () => {
  const scan = (ranges: unknown[], maxRays: number) =>
    scanOf(
      { angle_min: 0, angle_increment: 0.1, range_min: 0.2, range_max: 10, ranges },
      { maxRays, yawRad: 1 },
    )

  test('keeps the nearest return of rays that become one', () => {
    expect(scan([5, 1, 0.1, Number.NaN, 3, 20, 7], 4)).toEqual({
      angle_min_rad: 1.05,
      angle_increment_rad: 0.2,
      range_max_m: 10,
      ranges_m: [1, 0, 3, 7],
    })
  })

  test('has only finite numbers, and no more rays than allowed', () => {
    const ray = fc.oneof(fc.double(), fc.constantFrom(null, Number.NaN, Number.POSITIVE_INFINITY, 'x'))
    fc.assert(
      fc.property(
        fc.array(ray, { minLength: 1, maxLength: 3_000 }),
        fc.integer({ min: 1, max: 720 }),
        (rays, max) => {
          const { ranges_m = [] } = scan(rays, max) ?? {}
          expect(ranges_m.length).toBeLessThanOrEqual(max)
          expect(ranges_m.every((range) => Number.isFinite(range) && range >= 0)).toBe(true)
        },
      ),
    )
  })
})

test('transforms: the way through several frames, and none through an old one', () => {
  const tree = new TransformTree()
  const link = (frame: string, child: string, x: number, z = 0, w = 1) => ({
    header: { frame_id: frame },
    child_frame_id: child,
    transform: { translation: { x }, rotation: { z, w } },
  })
  tree.add({ transforms: [link('map', 'odom', 1, half, half)] }, 0, false)
  tree.add({ transforms: [link('/odom', '/base_footprint', 2)] }, 0, false)
  tree.add({ transforms: [link('base_footprint', 'base_link', 3)] }, 0, true)
  const found = tree.find('map', 'base_link', 100)
  expect(found && poseOf(found)).toEqual({ x_m: 1, y_m: 5, heading_rad: 1.5708 })
  expect(tree.find('map', 'base_link', 5_000), 'the dynamic transforms are old').toBeUndefined()
  expect(tree.find('map', 'lidar', 100)).toBeUndefined()
  tree.add({ transforms: [link('b', 'a', 1), link('a', 'b', 1)] }, 0, false)
  expect(tree.find('map', 'a', 0), 'a circle').toBeUndefined()
})

test('a sample has only values of its types, and no pose whose transform is old', () => {
  const entries = parseConfig(
    `source: { type: ros1, url: http://localhost:11311 }
telemetry:
  - { topic: /tf, type: tf2_msgs/TFMessage }
  - { topic: /door, type: std_msgs/Bool, rate_hz: 0.1 }`,
    'robot.yaml',
  ).telemetry
  const [tf, door] = entries as [TelemetryEntry, TelemetryEntry]
  const sampler = new Sampler(entries)
  sampler.read(door, { data: 1n }, 0)
  sampler.read(
    tf,
    { transforms: [{ header: { frame_id: 'map' }, child_frame_id: 'base_link', transform: {} }] },
    0,
  )
  expect(sampler.take(1_900)).toEqual({ door: false, pose: { x_m: 0, y_m: 0, heading_rad: 0 } })
  sampler.read(door, { data: true }, 2_000)
  expect(sampler.take(2_100)).toEqual({ door: true })
})

test('a component is reported when its level changes', () => {
  const lines = new LogLines()
  const entry = { topic: '/diagnostics', type: 'diagnostic_msgs/DiagnosticArray', level: 'warn' } as const
  const say = (level: unknown) => lines.of(entry, { status: [{ name: 'motor', level, message: 'm' }] })
  expect(say(0)).toEqual([])
  expect(say(2)).toMatchObject([{ level: 'error', message: 'motor: m' }])
  expect(say('\u0002')).toEqual([])
  expect(say(0)).toMatchObject([{ level: 'info' }])
})

describe('TCPROS', () => {
  test('frames arrive whole, however the stream is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 50 })),
        fc.integer({ min: 1, max: 9 }),
        (payloads, size) => {
          const stream = Buffer.concat(payloads.map((payload) => frameOf(payload)))
          const frames: number[][] = []
          const reader = new FrameReader(100, (frame) => void frames.push([...frame]))
          for (let at = 0; at < stream.length; at += size) reader.push(stream.subarray(at, at + size))
          expect(frames).toEqual(payloads.map((payload) => [...payload]))
        },
      ),
    )
  })

  test('a frame that is too large is refused before it is stored', () => {
    expect(() => new FrameReader(100, () => {}).push(Buffer.from([0, 0, 0, 0x7f]))).toThrow('too large')
  })

  test('headers', () => {
    const header = headerFrame({ topic: '/a', text: 'x = y' }).subarray(4)
    expect(Object.fromEntries(readHeader(header))).toEqual({ topic: '/a', text: 'x = y' })
  })
})
