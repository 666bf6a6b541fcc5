import { fieldsOf, nameOf, type TelemetryEntry } from './config.ts'
import {
  at,
  chargeOf,
  jointsOf,
  numberAt,
  poseOf,
  round,
  scanOf,
  TransformTree,
  textAt,
  transformAt,
  velocityOf,
} from './readings.ts'

/** A field whose topic is silent for this time, or for three periods if that is longer, leaves the sample. */
const VALID_MS = 2_000
/** Of a text in telemetry. */
const MAX_TEXT_LENGTH = 500
/** Where the transforms are that do not change. */
export const STATIC_TRANSFORMS = '/tf_static'

interface Field {
  readonly value: unknown
  readonly untilMs: number
}

/** Collects the newest content of the topics as samples of telemetry. */
export class Sampler {
  readonly #entries: readonly TelemetryEntry[]
  readonly #fields = new Map<string, Field>()
  readonly #transforms = new TransformTree()
  #changed = false

  constructor(entries: readonly TelemetryEntry[]) {
    this.#entries = entries
  }

  /** Handles a message of an entry's topic. */
  read(entry: TelemetryEntry, message: unknown, nowMs: number): void {
    if (entry.type === 'tf2_msgs/TFMessage') return this.#transforms.add(message, nowMs, false)
    const [name = '', second] = fieldsOf(entry)
    if (entry.type === 'nav_msgs/Odometry') {
      if (entry.pose) this.#set(entry, name, poseAt(at(message, 'pose')), nowMs)
      this.#set(entry, second ?? name, velocityOf(message), nowMs)
    } else this.#set(entry, name, contentOf(entry, message), nowMs)
  }

  /** Handles a message of the static transforms. */
  readStatic(message: unknown, nowMs: number): void {
    this.#transforms.add(message, nowMs, true)
  }

  /** Forgets everything: what ROS said before it was gone is not the present. */
  clear(): void {
    this.#fields.clear()
  }

  /** Returns the sample at `nowMs`; undefined if nothing has changed since the last one. */
  take(nowMs: number): Record<string, unknown> | undefined {
    for (const entry of this.#entries) {
      if (entry.type !== 'tf2_msgs/TFMessage') continue
      const transform = this.#transforms.find(entry.frame, entry.child, nowMs)
      if (transform) this.#set(entry, nameOf(entry), poseOf(transform), nowMs)
      else this.#fields.delete(nameOf(entry))
    }
    for (const [name, { untilMs }] of this.#fields) if (untilMs < nowMs) this.#fields.delete(name)
    if (!this.#changed || this.#fields.size === 0) return undefined
    this.#changed = false
    return Object.fromEntries([...this.#fields].map(([name, { value }]) => [name, value]))
  }

  /** Sets a field, or removes it if its value is unknown. */
  #set({ rate_hz }: TelemetryEntry, name: string, value: unknown, nowMs: number): void {
    this.#changed = true
    if (value === undefined) this.#fields.delete(name)
    else this.#fields.set(name, { value, untilMs: nowMs + Math.max(VALID_MS, 3_000 / rate_hz) })
  }
}

function contentOf(entry: TelemetryEntry, message: unknown): unknown {
  switch (entry.type) {
    case 'sensor_msgs/JointState':
      return Object.fromEntries([...jointsOf(message)].map(([name, position]) => [name, round(position)]))
    case 'sensor_msgs/LaserScan':
      return scanOf(message, { maxRays: entry.max_rays, yawRad: entry.yaw_rad })
    case 'sensor_msgs/BatteryState':
      return chargeOf(message)
    case 'geometry_msgs/PoseStamped':
      return poseAt(message)
    case 'geometry_msgs/PoseWithCovarianceStamped':
      return poseAt(at(message, 'pose'))
    case 'std_msgs/Bool':
      return at(message, 'data') === true
    case 'std_msgs/String':
      return textAt(message, 'data').slice(0, MAX_TEXT_LENGTH)
    default:
      return numberAt(message, 'data')
  }
}

/** Returns the pose in the field `pose` of a message; undefined without one. */
function poseAt(message: unknown) {
  const pose = at(message, 'pose')
  const transform = pose === undefined ? undefined : transformAt(pose)
  return transform && poseOf(transform)
}
