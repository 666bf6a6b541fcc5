import { MAX_JOINTS, type RobotConfig, type TelemetryEntry } from './config.ts'
import { itemsAt, jointsOf, speedOf } from './readings.ts'

/** Before the robot counts as halted, all measurements must say so for this time: a command may still take effect. */
const HALTED_FOR_MS = 100
/** Older measurements say nothing about the present. */
const FRESH_MS = 1_000

type MeasuredType = 'nav_msgs/Odometry' | 'sensor_msgs/JointState'

interface Measured {
  /** Since when all measurements say that it has halted; undefined while it moves or is unknown. */
  haltedSinceMs: number | undefined
  atMs: number
  positions: ReadonlyMap<string, number>
}

/** Returns the topics that say whether the robot has halted: those of the settings, or the ones that fit what is driven. */
function measuredTopics({ control, goal, telemetry, stop }: RobotConfig): TelemetryEntry[] {
  if (stop.halted_by) return telemetry.filter(({ topic }) => stop.halted_by?.includes(topic))
  const drivesJoints = control.some(({ joints }) => joints !== undefined)
  const drivesBase = goal !== undefined || control.some(({ joints }) => joints === undefined)
  return telemetry.filter(
    ({ type }) =>
      (type === 'nav_msgs/Odometry' && drivesBase) || (type === 'sensor_msgs/JointState' && drivesJoints),
  )
}

/** Knows from measurements whether the robot has halted, and where its joints are. */
export class MotionWatch {
  readonly #limits: RobotConfig['stop']
  readonly #topics: ReadonlyMap<string, Measured>
  /** The joints that commands drive: of others no position is needed. */
  readonly #driven: ReadonlySet<string>
  readonly #joints = new Map<string, { readonly position: number; readonly atMs: number }>()

  constructor(config: RobotConfig) {
    this.#limits = config.stop
    this.#topics = new Map(
      measuredTopics(config).map(({ topic }) => [
        topic,
        { haltedSinceMs: undefined, atMs: Number.NEGATIVE_INFINITY, positions: new Map() },
      ]),
    )
    this.#driven = new Set(config.control.flatMap(({ joints }) => Object.keys(joints ?? {})))
  }

  /** Whether any measurement tells when the robot has halted. */
  get isPossible(): boolean {
    return this.#topics.size > 0
  }

  /** Handles a message of odometry or joints that arrived at `nowMs`. */
  read(topic: string, type: MeasuredType, message: unknown, nowMs: number): void {
    const positions = type === 'sensor_msgs/JointState' ? jointsOf(message) : new Map<string, number>()
    for (const [name, position] of positions)
      if (this.#driven.has(name)) this.#joints.set(name, { position, atMs: nowMs })
    const known = this.#topics.get(topic)
    if (!known) return
    const halted =
      type === 'nav_msgs/Odometry'
        ? this.#baseHalted(message)
        : this.#jointsHalted(message, positions, known, nowMs)
    known.haltedSinceMs = halted ? (known.haltedSinceMs ?? nowMs) : undefined
    known.atMs = nowMs
    known.positions = positions
  }

  /** Forgets what was measured before a stop. */
  restart(): void {
    for (const known of this.#topics.values()) known.haltedSinceMs = undefined
  }

  /** Whether all measurements since `restart` say that the robot has halted, and none of them is old at `nowMs`. */
  hasHalted(nowMs: number): boolean {
    return [...this.#topics.values()].every(
      ({ haltedSinceMs = Number.POSITIVE_INFINITY, atMs }) =>
        atMs - haltedSinceMs >= HALTED_FOR_MS && nowMs - atMs <= FRESH_MS,
    )
  }

  /** Returns whether the robot stands still at `nowMs`; undefined if that is unknown. */
  standing(nowMs: number): boolean | undefined {
    const topics = [...this.#topics.values()]
    if (topics.length === 0 || topics.some(({ atMs }) => nowMs - atMs > FRESH_MS)) return undefined
    return topics.every(({ haltedSinceMs }) => haltedSinceMs !== undefined)
  }

  /** Returns the positions of the joints that were measured within the last second. */
  jointPositions(nowMs: number): Map<string, number> {
    const fresh = [...this.#joints].filter(([, { atMs }]) => nowMs - atMs <= FRESH_MS)
    return new Map(fresh.map(([name, { position }]) => [name, position]))
  }

  #baseHalted(message: unknown): boolean {
    const speed = speedOf(message)
    return (
      speed !== undefined &&
      speed.linearMps <= this.#limits.linear_mps &&
      speed.angularRadps <= this.#limits.angular_radps
    )
  }

  /** By the measured speeds, or by the positions where a robot does not send speeds. */
  #jointsHalted(
    message: unknown,
    positions: ReadonlyMap<string, number>,
    before: Measured,
    nowMs: number,
  ): boolean {
    const speeds = jointsOf(message, 'velocity')
    const elapsedS = (nowMs - before.atMs) / 1_000
    return (
      positions.size > 0 &&
      // A joint without a position may be moving.
      positions.size === Math.min(itemsAt(message, 'name').length, MAX_JOINTS) &&
      [...positions].every(([name, position]) => {
        const last = before.positions.get(name)
        const speed = speeds.get(name) ?? (last === undefined ? Number.NaN : (position - last) / elapsedS)
        return Math.abs(speed) <= this.#limits.joint_radps
      })
    )
  }
}
