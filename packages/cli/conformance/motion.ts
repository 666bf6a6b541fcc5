/** Fields of telemetry that say whether a robot moves, unless the caller names others. `*` stands for every entry. */
export const DEFAULT_MOTION = [
  'velocity.*',
  'standing',
  'joint_velocities.*',
  'joints.velocity.*',
  'joints.*.velocity',
]

/** What a sample of telemetry says about the motion of the robot. */
export interface MotionSample {
  readonly moving: boolean
  /** The largest of its speeds, in their own unit; undefined if it reports none. */
  readonly speed: number | undefined
}

/** A slower speed counts as noise of a sensor. */
const MOVING_FROM = 0.02
const HALTED_NAMES = new Set(['standing', 'halted', 'stopped', 'still'])
/** Entries of a sample that are read. */
const MAX_VALUES = 256

/**
 * Returns what a sample says about motion; undefined if it has none of the fields. A number is a speed. A boolean is true while the
 * robot moves, or with a name such as `standing` while it does not.
 */
export function readMotion(data: unknown, paths: readonly string[]): MotionSample | undefined {
  let moving: boolean | undefined
  let speed: number | undefined
  for (const path of paths) {
    const names = path.split('.')
    for (const value of valuesAt(data, names)) {
      if (typeof value === 'boolean')
        moving = value !== HALTED_NAMES.has(names.at(-1) ?? '') || moving === true
      if (typeof value !== 'number') continue
      speed = Math.max(speed ?? 0, Math.abs(value))
      moving = speed > MOVING_FROM || moving === true
    }
  }
  return moving === undefined ? undefined : { moving, speed }
}

/** Returns the pose of a robot that drives: metres and radians, counter-clockwise from x; undefined without one in the sample. */
export function readPose(data: unknown): { x: number; y: number; heading: number } | undefined {
  const [x, y, heading] = ['x_m', 'y_m', 'heading_rad'].map((name) => valuesAt(data, ['pose', name])[0])
  if (typeof x !== 'number' || typeof y !== 'number' || typeof heading !== 'number') return undefined
  return { x, y, heading }
}

function valuesAt(data: unknown, names: readonly string[]): unknown[] {
  let values = [data]
  for (const name of names) {
    const objects = values.filter((value): value is object => typeof value === 'object' && value !== null)
    values = objects.flatMap((value) => (name === '*' ? Object.values(value) : [Reflect.get(value, name)]))
    if (values.length > MAX_VALUES) values.length = MAX_VALUES
  }
  return values
}

/** Returns a copy of a command in which `change` has replaced the first number; undefined if it has none. */
export function changeFirstNumber(data: unknown, change: unknown): unknown {
  if (typeof data !== 'object' || data === null) return undefined
  for (const [name, value] of Object.entries(data)) {
    const changed = typeof value === 'number' ? change : changeFirstNumber(value, change)
    if (changed === undefined) continue
    const copy = Array.isArray(data) ? [...data] : { ...data }
    return Object.assign(copy, { [name]: changed })
  }
  return undefined
}
