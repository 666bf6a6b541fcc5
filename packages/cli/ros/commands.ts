import type { ControlEntry } from './config.ts'
import { at } from './readings.ts'
import { RateLimit, type RosMessage, type RosSource } from './source.ts'

// Turns the data of a control frame into messages of ROS, makes the messages that halt a robot, and publishes both.

/** Greater numbers are mistakes: m/s, rad/s and rad that no robot reaches. */
const MAX_VALUE = 1_000

/** A command that the robot cannot obey. */
export class MalformedCommand extends Error {}

/**
 * Returns the message for a command; undefined if the command does not concern this topic.
 * @param nowMs Unix time in milliseconds, for the header
 * @throws MalformedCommand for a field that is no usable number, and for a part of the joints
 */
export function messageOf(entry: ControlEntry, data: unknown, nowMs: number): RosMessage | undefined {
  const read = (field: string): number | undefined => numberOf(entry, data, field)
  if (entry.type === 'sensor_msgs/Joy')
    return {
      header: headerOf(entry, nowMs),
      axes: (entry.axes ?? []).map((field) => read(field) ?? 0),
      buttons: (entry.buttons ?? []).map((field) => (read(field) ? 1 : 0)),
    }
  // A command without speeds halts the base: what is not commanded does not move.
  if (entry.fields) return twist(entry, nowMs, (field) => read(field) ?? 0)
  const joints = Object.entries(entry.joints ?? {}).map(([name, field]) => [name, read(field)] as const)
  const missing = joints.filter(([, value]) => value === undefined)
  if (missing.length === joints.length) return undefined
  if (missing.length > 0) throw new MalformedCommand(`the command lacks the joint ${missing[0]?.[0]}`)
  return jointMessage(entry, new Map(joints as (readonly [string, number])[]), entry.reach_ms)
}

/**
 * Returns the message that halts what the topic drives; undefined if there is none.
 * @param measured the positions of the joints, as far as they are known
 */
export function haltOf(
  entry: ControlEntry,
  measured: ReadonlyMap<string, number>,
  nowMs: number,
): RosMessage | undefined {
  if (entry.type === 'sensor_msgs/Joy') return messageOf(entry, {}, nowMs)
  if (entry.fields) return twist(entry, nowMs, () => 0)
  const names = Object.keys(entry.joints ?? {})
  if (entry.type === 'std_msgs/Float64MultiArray' && entry.mode === 'velocity')
    return jointMessage(entry, new Map(names.map((name) => [name, 0])), 0)
  if (names.every((name) => measured.has(name)))
    return jointMessage(
      entry,
      new Map(names.map((name) => [name, measured.get(name) as number])),
      entry.reach_ms,
    )
  // An empty trajectory cancels the one that runs. A position controller without a known position keeps its last one.
  return entry.type === 'trajectory_msgs/JointTrajectory' ? { joint_names: names, points: [] } : undefined
}

/** Returns the measured positions of joints in the form of a command: where motion begins after a halt. */
export function measuredCommand(
  entries: readonly ControlEntry[],
  measured: ReadonlyMap<string, number>,
): unknown {
  const command: Record<string, unknown> = {}
  for (const [name, field] of entries.flatMap(({ joints }) => Object.entries(joints ?? {}))) {
    const position = measured.get(name)
    if (position === undefined) continue
    const path = field.split('.')
    let target = command
    for (const [index, key] of path.slice(0, -1).entries()) {
      // A number in the path is the place in an array.
      target[key] ??= /^\d+$/.test(path[index + 1] ?? '') ? [] : {}
      target = target[key] as Record<string, unknown>
    }
    target[path.at(-1) ?? ''] = position
  }
  return command
}

/** Returns a time as all dialects of ROS read it: each ignores the names of the others. */
function rosTime(ms: number): RosMessage {
  const sec = Math.floor(ms / 1_000)
  const nanosec = Math.floor((ms - sec * 1_000) * 1e6)
  return { sec, nsec: nanosec, nanosec, secs: sec, nsecs: nanosec }
}

const headerOf = ({ frame_id }: ControlEntry, nowMs: number) => ({ stamp: rosTime(nowMs), frame_id })

function twist(entry: ControlEntry, nowMs: number, read: (field: string) => number): RosMessage {
  const fields = entry.fields ?? {}
  const vector = (part: 'linear' | 'angular') =>
    Object.fromEntries(
      (['x', 'y', 'z'] as const).map((axis) => {
        const field = fields[`${part}.${axis}`]
        return [axis, field === undefined ? 0 : read(field)]
      }),
    )
  const message = { linear: vector('linear'), angular: vector('angular') }
  return entry.type === 'geometry_msgs/Twist' ? message : { header: headerOf(entry, nowMs), twist: message }
}

function jointMessage(entry: ControlEntry, values: ReadonlyMap<string, number>, reachMs: number): RosMessage {
  if (entry.type === 'std_msgs/Float64MultiArray') return { data: [...values.values()] }
  const point = { positions: [...values.values()], time_from_start: rosTime(reachMs) }
  return { joint_names: [...values.keys()], points: [point] }
}

/** Returns a field of a command within its limits; undefined if it is missing. @throws MalformedCommand for another value */
function numberOf({ limits }: ControlEntry, data: unknown, field: string): number | undefined {
  // The name of a field may contain a dot.
  const value = at(data, field) ?? at(data, ...field.split('.'))
  if (value === undefined) return undefined
  const number = typeof value === 'boolean' ? Number(value) : value
  if (typeof number !== 'number' || !(Math.abs(number) <= MAX_VALUE))
    throw new MalformedCommand(`${field} is not a usable number`)
  const limit = limits[field] ?? MAX_VALUE
  return Math.min(limit, Math.max(-limit, number))
}

/** A message that waits for its turn, and what to do when it has been sent. */
interface Pending {
  readonly message: RosMessage
  readonly onSent: () => void
}

/** Publishes commands to one topic, at most at its rate. Of commands that must wait, the newest one is published. */
export class Outlet {
  readonly #entry: ControlEntry
  readonly #source: () => RosSource
  readonly #rate: RateLimit
  #pending: Pending | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(entry: ControlEntry, source: () => RosSource) {
    this.#entry = entry
    this.#source = source
    this.#rate = new RateLimit(entry.rate_hz)
  }

  /** Whether the topic gets positions: to repeat an old one could move an arm that somebody has moved. */
  get isPosition(): boolean {
    const { joints, mode, type } = this.#entry
    return joints !== undefined && (type === 'trajectory_msgs/JointTrajectory' || mode === 'position')
  }

  /** Returns the message of a command, if it concerns the topic. @throws MalformedCommand */
  messageOf(data: unknown): RosMessage | undefined {
    return messageOf(this.#entry, data, Date.now())
  }

  /** Publishes a message as soon as the rate allows it; `onSent` runs only if it was sent. */
  publish(message: RosMessage, onSent: () => void): void {
    this.#pending = { message, onSent }
    if (this.#timer === undefined) this.#flush()
  }

  /** Publishes what halts the robot at once, and forgets what waits. @returns false if it was not sent, or nothing can halt it */
  halt(measured: ReadonlyMap<string, number>): boolean {
    this.clear()
    const message = haltOf(this.#entry, measured, Date.now())
    return message !== undefined && this.#source().publish(this.#entry.topic, message)
  }

  /** Forgets the command that waits. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#pending = undefined
  }

  #flush(): void {
    this.#timer = undefined
    const pending = this.#pending
    if (!pending) return
    const waitMs = this.#rate.waitMs(performance.now())
    if (waitMs > 0) {
      this.#timer = setTimeout(() => this.#flush(), waitMs)
      return
    }
    this.#pending = undefined
    if (this.#source().publish(this.#entry.topic, pending.message)) pending.onSent()
  }
}
