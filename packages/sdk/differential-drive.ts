import { isFree, normalAngle, type World } from './world.ts'

/** What a robot of two driven wheels can do. */
export interface DriveLimits {
  /** Of the disc that the robot covers, in metres. */
  readonly radiusM: number
  /** Distance between the wheels, in metres. */
  readonly trackM: number
  readonly maxLinearMps: number
  readonly maxAngularRadps: number
  /** Largest change of a wheel's speed while driving. */
  readonly wheelAccelerationMps2: number
  /** Largest change of a wheel's speed while braking. */
  readonly brakeMps2: number
}

/** A small robot, as fast as somebody who walks. */
export const demoLimits: DriveLimits = {
  radiusM: 0.25,
  trackM: 0.4,
  maxLinearMps: 1,
  maxAngularRadps: 1.5,
  wheelAccelerationMps2: 1.2,
  brakeMps2: 3,
}

/** Where a robot of two wheels is, in metres and radians, and how its wheels turn. */
export interface DriveState {
  readonly xM: number
  readonly yM: number
  /** Counter-clockwise from the x axis, in (-π, π]. */
  readonly headingRad: number
  readonly leftMps: number
  readonly rightMps: number
  /** Charge, 0 to 1. */
  readonly battery: number
  /** Whether the last step ended against a wall or an obstacle. */
  readonly bumped: boolean
}

/** A wanted motion; `null` in its place means: brake. */
export interface DriveCommand {
  readonly linearMps: number
  readonly angularRadps: number
}

/** Fine enough that no step can jump through an obstacle. */
const MAX_STEP_S = 0.02
/** A process that slept longer than this has lost time; the robot does not catch up on it. */
const MAX_ELAPSED_S = 0.5
const DRAIN_PER_S = 1 / 3_600
const CHARGE_PER_S = 1 / 7_200

/** Forward and turning speed of a state. */
export function velocity(state: DriveState, limits: DriveLimits): DriveCommand {
  return {
    linearMps: (state.leftMps + state.rightMps) / 2,
    angularRadps: (state.rightMps - state.leftMps) / limits.trackM,
  }
}

/** Whether both wheels stand still. */
export function isHalted(state: DriveState): boolean {
  return state.leftMps === 0 && state.rightMps === 0
}

/**
 * Moves the robot on by `elapsedS` seconds. A negative or absurdly long time is cut to what one step may cover;
 * numbers that are not finite count as 0.
 */
export function advance(
  state: DriveState,
  command: DriveCommand | null,
  elapsedS: number,
  world: World,
  limits: DriveLimits,
): DriveState {
  let leftS = Number.isFinite(elapsedS) ? Math.min(Math.max(elapsedS, 0), MAX_ELAPSED_S) : 0
  let current: DriveState = state
  let bumped = false
  while (leftS > 0) {
    const stepS = Math.min(leftS, MAX_STEP_S)
    current = step(current, command, stepS, world, limits)
    bumped ||= current.bumped
    leftS -= stepS
  }
  return bumped === current.bumped ? current : { ...current, bumped }
}

function clamp(value: number, limit: number): number {
  return Number.isFinite(value) ? Math.min(Math.max(value, -limit), limit) : 0
}

/** Wheel speeds after `stepS` on the way to the command. */
function slew(state: DriveState, command: DriveCommand | null, stepS: number, limits: DriveLimits) {
  const goal = state.battery > 0 ? command : null
  const linear = clamp(goal?.linearMps ?? 0, limits.maxLinearMps)
  const spread = (clamp(goal?.angularRadps ?? 0, limits.maxAngularRadps) * limits.trackM) / 2
  const [left, right] = [linear - spread, linear + spread]
  const [deltaLeft, deltaRight] = [left - state.leftMps, right - state.rightMps]
  const allowed = (goal ? limits.wheelAccelerationMps2 : limits.brakeMps2) * stepS
  const wanted = Math.max(Math.abs(deltaLeft), Math.abs(deltaRight))
  if (wanted <= allowed) return { leftMps: left, rightMps: right }
  // Both wheels change in proportion. The allowed speeds form a convex set, so the straight line between two of
  // them never leaves it; wheels that change independently could.
  const share = allowed / wanted
  return { leftMps: state.leftMps + deltaLeft * share, rightMps: state.rightMps + deltaRight * share }
}

function step(
  state: DriveState,
  command: DriveCommand | null,
  stepS: number,
  world: World,
  limits: DriveLimits,
): DriveState {
  const wheels = slew(state, command, stepS, limits)
  const { linearMps, angularRadps } = velocity({ ...state, ...wheels }, limits)
  const middleRad = state.headingRad + (angularRadps * stepS) / 2
  const xM = state.xM + linearMps * Math.cos(middleRad) * stepS
  const yM = state.yM + linearMps * Math.sin(middleRad) * stepS
  const halted = wheels.leftMps === 0 && wheels.rightMps === 0
  const battery = state.battery + (halted ? CHARGE_PER_S : -DRAIN_PER_S) * stepS
  const next = {
    ...wheels,
    headingRad: normalAngle(state.headingRad + angularRadps * stepS),
    battery: Math.min(Math.max(battery, 0), 1),
  }
  if (isFree(world, xM, yM, limits.radiusM)) return { ...next, xM, yM, bumped: false }
  // Against an obstacle the disc can still turn on the spot, and so find its way out.
  const spread = (angularRadps * limits.trackM) / 2
  return { ...next, leftMps: 0 - spread, rightMps: spread, xM: state.xM, yM: state.yM, bumped: true }
}
