import type { Control, ControlSchema, RobotSession, TelemetrySchema, Welcome } from '@wheelhouse/protocol'
import { RobotLink, type RobotLinkOptions } from '@wheelhouse/sdk'
import { ArmScene, OPEN_M } from './arm-scene.ts'
import {
  type Angles,
  type ArmPose,
  JOINTS,
  type JointName,
  jointLimits,
  length,
  poseOf,
  readyAngles,
  subtract,
  turnFor,
} from './kinematics.ts'

const STEP_MS = 20
const TELEMETRY_MS = 50
const MAX_REACH_MPS = 0.15
const MAX_TURN_RADPS = 0.8
const GRIPPER_MPS = 0.1
/** A slower tool stands still. */
const STILL_MPS = 0.001

const eachJoint = <T>(field: (name: JointName) => T) =>
  Object.fromEntries(JOINTS.map((name) => [name, field(name)])) as Record<JointName, T>
const speed = (maximum: number, unit: string, title: string) =>
  ({ type: 'number', minimum: -maximum, maximum, 'x-unit': unit, 'x-speed': true, title }) as const
const gripper = { type: 'number', minimum: 0, maximum: OPEN_M, 'x-unit': 'm', title: 'Gripper' } as const

/** Commands of the arm: keys and sticks move the tool, sliders single joints, and a leader arm sends positions of all joints. */
export const armControlSchema: ControlSchema = {
  type: 'object',
  properties: {
    linear_mps: speed(MAX_REACH_MPS, 'm/s', 'Reach'),
    angular_radps: speed(MAX_TURN_RADPS, 'rad/s', 'Turn'),
    lift_mps: speed(MAX_REACH_MPS, 'm/s', 'Lift'),
    gripper: { type: 'object', properties: { width_m: gripper } },
    joint_speeds: {
      type: 'object',
      properties: eachJoint((name) => speed(jointLimits[name].maxRate, 'rad/s', name.toUpperCase())),
    },
    clutch: { type: 'boolean', 'x-clutch': true, title: 'Clutch' },
    joints: {
      type: 'object',
      properties: eachJoint((name) => ({
        type: 'number',
        minimum: jointLimits[name].min,
        maximum: jointLimits[name].max,
        'x-unit': 'rad',
        'x-max-rate': jointLimits[name].maxRate,
        title: name.toUpperCase(),
      })),
    },
  },
}

/** What the arm sends. */
export const armTelemetrySchema: TelemetrySchema = {
  type: 'object',
  properties: {
    joints: {
      type: 'object',
      'x-kind': 'joints',
      title: 'Joints',
      properties: eachJoint((name) => ({
        type: 'number',
        minimum: jointLimits[name].min,
        maximum: jointLimits[name].max,
        'x-unit': 'rad',
        title: name.toUpperCase(),
      })),
    },
    gripper: {
      type: 'object',
      'x-kind': 'joints',
      title: 'Gripper',
      properties: { width_m: gripper },
    },
    velocity: {
      type: 'object',
      'x-kind': 'velocity',
      title: 'Speed',
      properties: { linear_mps: { type: 'number', 'x-unit': 'm/s', title: 'Tool' } },
    },
    standing: { type: 'boolean', title: 'Stands still' },
    holding: { type: 'boolean', title: 'Holds a cube' },
  },
}

/** The present state of a simulated arm. */
export interface ArmState {
  readonly angles: Angles
  readonly pose: ArmPose
  readonly openM: number
}

/**
 * Simulates an arm with six joints and a gripper at a table with cubes, driven over a RobotLink. It follows
 * `armControlSchema` and holds its position without commands.
 */
export class SimulatedArm {
  readonly link: RobotLink
  readonly scene = new ArmScene()
  #state: ArmState = { angles: readyAngles, pose: poseOf(readyAngles), openM: OPEN_M }
  #command: unknown = null
  #unanswered: string | null = null
  #speedMps = 0
  #timer: NodeJS.Timeout | undefined
  #lastStepMs = 0
  #telemetryMs = 0

  constructor(options: Pick<RobotLinkOptions, 'url' | 'token' | 'onError' | 'onClosed'>) {
    this.link = new RobotLink({
      ...options,
      controlSchema: armControlSchema,
      telemetrySchema: armTelemetrySchema,
      measured: () => ({ joints: this.#state.angles }),
      onSession: (session) => this.#onSession(session),
      onControl: (control) => this.#onControl(control),
      onStop: ({ reason }) => {
        this.#command = null
        this.#unanswered = reason
      },
      onConnection: (state) => {
        if (state !== 'online') this.#command = this.#unanswered = null
      },
    })
  }

  get state(): ArmState {
    return this.#state
  }

  /** Starts the physics and the link; resolves with the first welcome, rejects if the link gives up before. */
  start(): Promise<Welcome> {
    this.#lastStepMs = performance.now()
    this.#timer ??= setInterval(() => this.#step(), STEP_MS)
    return this.link.connect()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.link.close()
  }

  #onSession(session: RobotSession | null): void {
    if (session?.status !== 'ACTIVE') this.#command = null
  }

  #onControl({ seq, session_id, data }: Control): void {
    const { session } = this.link
    if (session?.status !== 'ACTIVE' || session.session_id !== session_id) return
    this.#command = data
    this.#unanswered = null
    this.link.ack(seq)
  }

  #step(): void {
    const nowMs = performance.now()
    // A process that stood still must not let the arm jump.
    const seconds = Math.min(0.1, (nowMs - this.#lastStepMs) / 1_000)
    this.#lastStepMs = nowMs
    const before = this.#state
    const angles = this.#turn(before.angles, seconds)
    const pose = poseOf(angles)
    // Without a command the gripper holds as well.
    const targetM = numberAt(this.#command, 'gripper', 'width_m') ?? before.openM
    const wantedM = towards(before.openM, targetM, GRIPPER_MPS * seconds)
    this.#state = { angles, pose, openM: this.scene.step(pose, wantedM, seconds) }
    this.#speedMps = seconds > 0 ? length(subtract(pose.tool, before.pose.tool)) / seconds : 0
    if (this.#unanswered !== null && this.#speedMps < STILL_MPS) {
      if (this.link.stopped(this.#unanswered)) this.#unanswered = null
    }
    if (this.link.session && nowMs >= this.#telemetryMs) {
      this.#telemetryMs = Math.max(this.#telemetryMs + TELEMETRY_MS, nowMs)
      this.link.telemetry(this.#sample(), nowMs)
    }
  }

  /** Returns the angles after the command was followed for a time. Without one, the arm holds. */
  #turn(angles: Angles, seconds: number): Angles {
    const command = this.#command
    if (command === null) return angles
    const rate = (name: string) => (numberAt(command, name) ?? 0) * seconds
    const tool = turnFor(angles, rate('linear_mps'), rate('lift_mps'))
    const turns: Partial<Record<JointName, number>> = { ...tool, j1: rate('angular_radps') }
    return eachJoint((name) => {
      const { min, max, maxRate } = jointLimits[name]
      const target = numberAt(command, 'joints', name)
      const jog = (numberAt(command, 'joint_speeds', name) ?? 0) * seconds
      const limit = maxRate * seconds * this.link.limits.speed_scale
      const wanted = target ?? angles[name] + (turns[name] ?? 0) + jog
      return Math.min(Math.max(towards(angles[name], wanted, limit), min), max)
    })
  }

  #sample(): Record<string, unknown> {
    const { angles, openM } = this.#state
    return {
      joints: eachJoint((name) => rounded(angles[name])),
      gripper: { width_m: rounded(openM) },
      velocity: { linear_mps: rounded(this.#speedMps) },
      standing: this.#speedMps < STILL_MPS,
      holding: this.scene.isHolding,
    }
  }
}

const towards = (value: number, target: number, step: number): number =>
  value + Math.min(Math.max(target - value, -step), step)

const rounded = (value: number): number => Math.round(value * 10_000) / 10_000

/** Returns a number of a command that its schema allows; undefined without it. */
function numberAt(data: unknown, ...path: readonly string[]): number | undefined {
  let value = data
  for (const name of path)
    value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
  return typeof value === 'number' ? value : undefined
}
