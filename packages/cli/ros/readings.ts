import type { RobotLogLevel } from '@wheelhouse/protocol'
import { type LogEntry, MAX_JOINTS } from './config.ts'

// Reads messages of ROS. Their content is not checked by anybody before: a field may be missing (it is then zero, as in ROS), not
// finite (null in the JSON of rosbridge), or of another type. Everything that is returned is finite.

/** A pose in a plane, in the units of telemetry. */
export interface Pose {
  readonly x_m: number
  readonly y_m: number
  readonly heading_rad: number
}
export interface Velocity {
  readonly linear_mps: number
  readonly angular_radps: number
}
/** Position, and rotation as a quaternion. */
export interface Transform {
  readonly position: readonly [x: number, y: number, z: number]
  readonly rotation: readonly [x: number, y: number, z: number, w: number]
}
export interface Scan {
  readonly angle_min_rad: number
  readonly angle_increment_rad: number
  readonly range_max_m?: number
  readonly ranges_m: readonly number[]
}

/** Returns a field of a message, at any depth. */
export function at(message: unknown, ...path: readonly string[]): unknown {
  let value = message
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

/** Returns a number of a message: 0 if it is missing; undefined if it is unknown (NaN, infinite) or no number. */
export function numberAt(message: unknown, ...path: readonly string[]): number | undefined {
  const value = at(message, ...path)
  if (value === undefined) return 0
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** Returns the items of an array of a message; it may be a typed array. */
export function itemsAt(message: unknown, ...path: readonly string[]): ArrayLike<unknown> {
  const value = at(message, ...path)
  return Array.isArray(value) || (ArrayBuffer.isView(value) && 'length' in value)
    ? (value as ArrayLike<unknown>)
    : []
}

/** Returns the bytes of a message; rosbridge encodes them in base64. */
export function bytesAt(message: unknown, name: string): Uint8Array {
  const value = at(message, name)
  if (value instanceof Uint8Array) return value
  if (typeof value === 'string') return Buffer.from(value, 'base64')
  return Array.isArray(value) ? Uint8Array.from(value) : new Uint8Array()
}

export function textAt(message: unknown, ...path: readonly string[]): string {
  const value = at(message, ...path)
  return typeof value === 'string' ? value : ''
}

/** Returns the time of a message's header in Unix milliseconds; undefined if it has none. */
export function stampMsOf(message: unknown): number | undefined {
  const stamp = at(message, 'header', 'stamp')
  // ROS 2, ROS 1, and rosbridge with ROS 1 name the parts differently.
  const seconds = numberAt(stamp, 'sec') || numberAt(stamp, 'secs')
  const nanoseconds = numberAt(stamp, 'nanosec') || numberAt(stamp, 'nsec') || numberAt(stamp, 'nsecs') || 0
  return seconds ? seconds * 1_000 + nanoseconds / 1e6 : undefined
}

/** Rounds to a tenth of a millimetre, so that frames stay small. */
export const round = (value: number): number => Math.round(value * 10_000) / 10_000

/** Reads a transform: of geometry_msgs/Pose, or with other names for its parts of geometry_msgs/Transform. */
export function transformAt(
  message: unknown,
  position = 'position',
  rotation = 'orientation',
): Transform | undefined {
  const numbers = [
    ...['x', 'y', 'z'].map((axis) => numberAt(message, position, axis)),
    ...['x', 'y', 'z', 'w'].map((axis) => numberAt(message, rotation, axis)),
  ]
  if (numbers.includes(undefined)) return undefined
  const [x = 0, y = 0, z = 0, qx = 0, qy = 0, qz = 0, qw = 0] = numbers as number[]
  const length = Math.hypot(qx, qy, qz, qw)
  // A quaternion that nobody has set turns nothing.
  const turn =
    length < 1e-6 ? ([0, 0, 0, 1] as const) : ([qx, qy, qz, qw].map((part) => part / length) as Quaternion)
  return { position: [x, y, z], rotation: turn as Quaternion }
}
type Quaternion = [number, number, number, number]

export function poseOf({ position: [x, y], rotation: [qx, qy, qz, qw] }: Transform): Pose {
  const heading = Math.atan2(2 * (qw * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz))
  return { x_m: round(x), y_m: round(y), heading_rad: round(heading) }
}

/** Returns the transform that does `inner`, then `outer`. */
function compose(outer: Transform, inner: Transform): Transform {
  const [ax, ay, az, aw] = outer.rotation
  const [bx, by, bz, bw] = inner.rotation
  const [x, y, z] = inner.position
  // v + 2w(q × v) + 2q × (q × v)
  const [tx, ty, tz] = [2 * (ay * z - az * y), 2 * (az * x - ax * z), 2 * (ax * y - ay * x)]
  const [px, py, pz] = outer.position
  return {
    position: [
      px + x + aw * tx + ay * tz - az * ty,
      py + y + aw * ty + az * tx - ax * tz,
      pz + z + aw * tz + ax * ty - ay * tx,
    ],
    rotation: [
      aw * bx + ax * bw + ay * bz - az * by,
      aw * by - ax * bz + ay * bw + az * bx,
      aw * bz + ax * by - ay * bx + az * bw,
      aw * bw - ax * bx - ay * by - az * bz,
    ],
  }
}

/** Reads the velocity of a nav_msgs/Odometry. */
export function velocityOf(message: unknown): Velocity | undefined {
  const linear = numberAt(message, 'twist', 'twist', 'linear', 'x')
  const angular = numberAt(message, 'twist', 'twist', 'angular', 'z')
  if (linear === undefined || angular === undefined) return undefined
  return { linear_mps: round(linear), angular_radps: round(angular) }
}

/** Returns the largest part of the velocity of a nav_msgs/Odometry in each unit, also sideways; undefined if unknown. */
export function speedOf(message: unknown): { linearMps: number; angularRadps: number } | undefined {
  const part = (name: string) => {
    const parts = ['x', 'y', 'z'].map((axis) => numberAt(message, 'twist', 'twist', name, axis))
    return parts.includes(undefined) ? undefined : Math.hypot(...(parts as number[]))
  }
  const [linearMps, angularRadps] = [part('linear'), part('angular')]
  if (at(message, 'twist', 'twist') === undefined || linearMps === undefined || angularRadps === undefined)
    return undefined
  return { linearMps, angularRadps }
}

/** Reads the joints of a sensor_msgs/JointState by their names. Leaves out those whose position is unknown. */
export function jointsOf(message: unknown, part: 'position' | 'velocity' = 'position'): Map<string, number> {
  const [names, values] = [itemsAt(message, 'name'), itemsAt(message, part)]
  const joints = new Map<string, number>()
  for (let index = 0; index < Math.min(names.length, values.length, MAX_JOINTS); index++) {
    const [name, value] = [names[index], values[index]]
    if (typeof name === 'string' && typeof value === 'number' && Number.isFinite(value))
      joints.set(name, value)
  }
  return joints
}

/** Reads the charge of a sensor_msgs/BatteryState, 0 to 1; undefined if the robot does not know it. */
export function chargeOf(message: unknown): number | undefined {
  const percentage = at(message, 'percentage')
  if (typeof percentage !== 'number' || !(percentage >= 0)) return undefined
  // Against the definition of the message, many drivers send per cent.
  return round(Math.min(1, percentage > 1 ? percentage / 100 : percentage))
}

/**
 * Reads a sensor_msgs/LaserScan with at most `maxRays` rays. Of neighbouring rays the nearest return remains, so that no obstacle
 * disappears. A ray without a usable range is 0, which means no return.
 * @param yawRad the direction in which the lidar is mounted
 */
export function scanOf(
  message: unknown,
  { maxRays, yawRad }: { maxRays: number; yawRad: number },
): Scan | undefined {
  const ranges = itemsAt(message, 'ranges')
  const [angleMin, increment] = [numberAt(message, 'angle_min'), numberAt(message, 'angle_increment')]
  if (ranges.length === 0 || angleMin === undefined || increment === undefined) return undefined
  const rangeMin = numberAt(message, 'range_min') ?? 0
  const rangeMax = numberAt(message, 'range_max') || Number.POSITIVE_INFINITY
  const step = Math.ceil(ranges.length / maxRays)
  const kept: number[] = []
  for (let first = 0; first < ranges.length; first += step) {
    let nearest = Number.POSITIVE_INFINITY
    for (let index = first; index < Math.min(first + step, ranges.length); index++) {
      const range = ranges[index]
      if (typeof range === 'number' && range > 0 && range >= rangeMin && range <= rangeMax && range < nearest)
        nearest = range
    }
    kept.push(Number.isFinite(nearest) ? Math.round(nearest * 1_000) / 1_000 : 0)
  }
  return {
    angle_min_rad: round(angleMin + yawRad + (increment * (step - 1)) / 2),
    angle_increment_rad: increment * step,
    ...(Number.isFinite(rangeMax) && { range_max_m: round(rangeMax) }),
    ranges_m: kept,
  }
}

/** Transforms between frames. A robot has dozens; more than this are not kept. */
const MAX_FRAMES = 512
/** From the root to a leaf. */
const MAX_DEPTH = 32
/** An older transform is not a position of the robot any more. Static transforms stay valid. */
const TRANSFORM_VALID_MS = 2_000

/** The newest transforms of tf2_msgs/TFMessage. */
export class TransformTree {
  readonly #parents = new Map<string, { parent: string; transform: Transform; untilMs: number }>()

  /** Adds the transforms of a message that arrived at `nowMs`. */
  add(message: unknown, nowMs: number, isStatic: boolean): void {
    const transforms = itemsAt(message, 'transforms')
    for (let index = 0; index < Math.min(transforms.length, MAX_FRAMES); index++) {
      const child = frameOf(textAt(transforms[index], 'child_frame_id'))
      const transform = transformAt(at(transforms[index], 'transform'), 'translation', 'rotation')
      if (!transform || (this.#parents.size >= MAX_FRAMES && !this.#parents.has(child))) continue
      const untilMs = isStatic ? Number.POSITIVE_INFINITY : nowMs + TRANSFORM_VALID_MS
      this.#parents.set(child, {
        parent: frameOf(textAt(transforms[index], 'header', 'frame_id')),
        transform,
        untilMs,
      })
    }
  }

  /** Returns where `child` is in `frame` at `nowMs`; undefined if that is unknown. */
  find(frame: string, child: string, nowMs: number): Transform | undefined {
    let found: Transform | undefined
    let current = frameOf(child)
    for (let depth = 0; depth < MAX_DEPTH; depth++) {
      const link = this.#parents.get(current)
      if (!link || link.untilMs < nowMs) return undefined
      found = found ? compose(link.transform, found) : link.transform
      current = link.parent
      if (current === frameOf(frame)) return found
    }
    return undefined
  }
}

/** Returns the name of a frame without the slash that older robots write before it. */
const frameOf = (name: string): string => name.replace(/^\//, '')

const LEVELS: readonly RobotLogLevel[] = ['debug', 'info', 'warn', 'error']
/** The levels of ROS 1 (1 to 16) and of ROS 2 (10 to 50) differ everywhere. */
const logLevels: Readonly<Record<number, RobotLogLevel>> = {
  1: 'debug',
  2: 'info',
  4: 'warn',
  8: 'error',
  16: 'error',
  10: 'debug',
  20: 'info',
  30: 'warn',
  40: 'error',
  50: 'error',
}
/** OK, WARN, ERROR, STALE. */
const diagnosticLevels: readonly RobotLogLevel[] = ['info', 'warn', 'error', 'warn']
/** Components whose level is known; of more, the oldest is forgotten. */
const MAX_COMPONENTS = 512
/** Of the name of a component. */
const MAX_NAME_LENGTH = 200

export interface LogLine {
  readonly level: RobotLogLevel
  readonly message: string
}

/** Turns messages of /rosout and /diagnostics into lines of the robot's log. */
export class LogLines {
  readonly #components = new Map<string, RobotLogLevel>()

  /** Returns the lines of a message at the level of the entry or above. A component is reported when its level changes. */
  of(entry: LogEntry, message: unknown): LogLine[] {
    const lines =
      entry.type === 'diagnostic_msgs/DiagnosticArray' ? this.#diagnostics(message) : [rosout(message)]
    // A component that is well again follows one that was reported.
    return lines.filter(
      ({ level, recovered }) => recovered || LEVELS.indexOf(level) >= LEVELS.indexOf(entry.level),
    )
  }

  #diagnostics(message: unknown): (LogLine & { recovered?: boolean })[] {
    const lines: (LogLine & { recovered?: boolean })[] = []
    for (const status of Array.from(itemsAt(message, 'status')).slice(0, MAX_COMPONENTS)) {
      const name = textAt(status, 'name').slice(0, MAX_NAME_LENGTH)
      const level = diagnosticLevels[byteAt(status, 'level')] ?? 'error'
      const before = this.#components.get(name) ?? 'info'
      this.#components.delete(name)
      this.#components.set(name, level)
      const [oldest] = this.#components.keys()
      if (this.#components.size > MAX_COMPONENTS && oldest !== undefined) this.#components.delete(oldest)
      if (level !== before)
        lines.push({ level, message: `${name}: ${textAt(status, 'message')}`, recovered: level === 'info' })
    }
    return lines
  }
}

const rosout = (message: unknown): LogLine & { recovered?: boolean } => ({
  level: logLevels[numberAt(message, 'level') ?? 0] ?? 'info',
  message: `${textAt(message, 'name')}: ${textAt(message, 'msg')}`,
})

/** Returns a byte of a message; some bridges send it as a text of one character. */
function byteAt(message: unknown, name: string): number {
  const value = at(message, name)
  return typeof value === 'string' ? value.charCodeAt(0) : (numberAt(message, name) ?? 0)
}
