import type { DriveCommand } from './differential-drive.ts'
import { normalAngle } from './world.ts'

/** Position in metres, and heading in radians, counter-clockwise from the x axis. */
export interface Pose {
  readonly xM: number
  readonly yM: number
  readonly headingRad: number
}

/** A report of the robot about its pose, and when it arrived. */
export interface ReportedPose extends Pose {
  readonly atMs: number
}

/** Where the robot will be. All times are those of the clock that the caller uses. */
export interface PosePrediction {
  /** From the reported pose to the ghost: the effect of the commands that the report does not show yet. */
  readonly inFlight: readonly Pose[]
  /** The pose of the robot when a command that is sent now arrives. */
  readonly ghost: Pose
  /** From the ghost on: the effect of the newest command if the operator does not change it. */
  readonly ahead: readonly Pose[]
}

/** Where to predict from. */
export interface PredictionInput {
  /** The newest report; null predicts relative to the robot, from (0, 0) with heading 0. */
  readonly reported: ReportedPose | null
  /** From sending a command to the report that shows its effect, in milliseconds: the round trip of commands. */
  readonly delayMs: number
  readonly nowMs: number
  /** How far `ahead` reaches. Milliseconds, default 1,000. */
  readonly aheadMs?: number
}

/** Commands of five seconds at 100 Hz. */
const MAX_COMMANDS = 512
/** With a longer delay a prediction would be a guess. */
const MAX_DELAY_MS = 5_000
/** The longest part of a path that is drawn as a straight line. */
const MAX_STEP_MS = 50
/** A robot halts this long after its last command: the default deadman of the platform. */
const HOLD_MS = 250
const START: Pose = { xM: 0, yM: 0, headingRad: 0 }

interface SentCommand extends DriveCommand {
  readonly atMs: number
}

/**
 * Predicts the pose of a differential drive from the commands that were sent to it and have not shown an effect yet.
 * Assumes that the robot follows each command at once until the next one, and halts 250 ms after the last one.
 */
export class PosePredictor {
  #commands: SentCommand[] = []

  /** Notes a command that was sent. `null` is a command that does not drive, such as a stop: the robot halts. */
  command(command: DriveCommand | null, nowMs: number): void {
    this.#commands.push({ linearMps: 0, angularRadps: 0, ...command, atMs: nowMs })
    // Trims rarely and in bulk, to keep each command cheap.
    if (this.#commands.length > MAX_COMMANDS * 1.2) this.#commands = this.#commands.slice(-MAX_COMMANDS)
  }

  predict({ reported, delayMs, nowMs, aheadMs = 1_000 }: PredictionInput): PosePrediction {
    const delay = Math.min(Math.max(delayMs, 0), MAX_DELAY_MS)
    const fromMs = Math.max((reported?.atMs ?? nowMs) - delay, nowMs - MAX_DELAY_MS)
    const start: Pose = reported ?? START
    const inFlight = [start, ...this.#path(start, fromMs, nowMs)]
    const ghost = inFlight.at(-1) ?? start
    const newest = this.#commands.at(-1)
    const isHeld = newest !== undefined && nowMs - newest.atMs < HOLD_MS
    const ahead = isHeld ? [ghost, ...steps(ghost, newest, aheadMs)] : [ghost]
    return { inFlight, ghost, ahead }
  }

  /** Returns the poses between two times, without the first one. */
  #path(start: Pose, fromMs: number, toMs: number): Pose[] {
    const path: Pose[] = []
    for (const [index, command] of this.#commands.entries()) {
      const nextMs = this.#commands[index + 1]?.atMs ?? Number.POSITIVE_INFINITY
      const beginMs = Math.max(command.atMs, fromMs)
      const endMs = Math.min(nextMs, command.atMs + HOLD_MS, toMs)
      if (endMs > beginMs) path.push(...steps(path.at(-1) ?? start, command, endMs - beginMs))
    }
    return path
  }
}

/** Returns the poses on the way of a command, in steps that are short enough to draw. */
function steps(from: Pose, command: DriveCommand, durationMs: number): Pose[] {
  const count = Math.max(1, Math.ceil(durationMs / MAX_STEP_MS))
  const poses: Pose[] = []
  for (let step = 0; step < count; step++)
    poses.push(follow(poses.at(-1) ?? from, command, durationMs / count / 1_000))
  return poses
}

/** Returns the pose after following a command for `elapsedS` seconds: an arc, or a straight line without a turn. */
export function follow(pose: Pose, { linearMps, angularRadps }: DriveCommand, elapsedS: number): Pose {
  const turnRad = angularRadps * elapsedS
  // The chord of the arc: sin(x) / x approaches 1 for a straight line.
  const half = turnRad / 2
  const chordM = linearMps * elapsedS * (Math.abs(half) < 1e-9 ? 1 : Math.sin(half) / half)
  return {
    xM: pose.xM + chordM * Math.cos(pose.headingRad + half),
    yM: pose.yM + chordM * Math.sin(pose.headingRad + half),
    headingRad: normalAngle(pose.headingRad + turnRad),
  }
}
