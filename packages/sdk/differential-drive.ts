import { isFree, normalAngle, type World } from './world.ts'

/** Dimensions and limits of a robot with two driven wheels. */
export interface DriveLimits {
  /** Radius of the disc that the robot covers, in metres. */
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

/** Limits of a small robot at walking speed. */
export const demoLimits: DriveLimits = {
  radiusM: 0.25,
  trackM: 0.4,
  maxLinearMps: 1,
  maxAngularRadps: 1.5,
  wheelAccelerationMps2: 1.2,
  brakeMps2: 3,
}

/** Pose of the robot in metres and radians, and the speeds of its wheels. */
export interface DifferentialDriveState {
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

/** A motion command. Functions that accept `null` instead brake the robot. */
export interface DriveCommand {
  readonly linearMps: number
  readonly angularRadps: number
}

/** Small enough that no step passes through an obstacle. */
const MAX_STEP_S = 0.02
/** After a longer interruption of the process, the robot does not catch up on the lost time. */
const MAX_ELAPSED_S = 0.5
const DRAIN_PER_S = 1 / 3_600
const CHARGE_PER_S = 1 / 7_200

/** Returns the forward and the turning speed of a state. */
export function velocity(state: DifferentialDriveState, limits: DriveLimits): DriveCommand {
  return {
    linearMps: (state.leftMps + state.rightMps) / 2,
    angularRadps: (state.rightMps - state.leftMps) / limits.trackM,
  }
}

/** Returns whether both wheels have stopped. */
export function isHalted(state: DifferentialDriveState): boolean {
  return state.leftMps === 0 && state.rightMps === 0
}

/**
 * Returns the state after `elapsedS` seconds. Clamps the time to between 0 and 0.5 seconds; a number that is not
 * finite counts as 0.
 */
export function advance(
  state: DifferentialDriveState,
  command: DriveCommand | null,
  elapsedS: number,
  world: World,
  limits: DriveLimits,
): DifferentialDriveState {
  let leftS = Number.isFinite(elapsedS) ? Math.min(Math.max(elapsedS, 0), MAX_ELAPSED_S) : 0
  let current: DifferentialDriveState = state
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

/** Returns the wheel speeds after `stepS`, on the way to the command. */
function slew(
  state: DifferentialDriveState,
  command: DriveCommand | null,
  stepS: number,
  limits: DriveLimits,
) {
  const goal = state.battery > 0 ? command : null
  const linear = clamp(goal?.linearMps ?? 0, limits.maxLinearMps)
  const spread = (clamp(goal?.angularRadps ?? 0, limits.maxAngularRadps) * limits.trackM) / 2
  const [left, right] = [linear - spread, linear + spread]
  const [deltaLeft, deltaRight] = [left - state.leftMps, right - state.rightMps]
  const allowed = (goal ? limits.wheelAccelerationMps2 : limits.brakeMps2) * stepS
  const wanted = Math.max(Math.abs(deltaLeft), Math.abs(deltaRight))
  if (wanted <= allowed) return { leftMps: left, rightMps: right }
  // Both wheels change in proportion. The allowed speeds form a convex set, so the straight line between two of
  // them stays inside it. Wheels that change independently could leave it.
  const share = allowed / wanted
  return { leftMps: state.leftMps + deltaLeft * share, rightMps: state.rightMps + deltaRight * share }
}

function step(
  state: DifferentialDriveState,
  command: DriveCommand | null,
  stepS: number,
  world: World,
  limits: DriveLimits,
): DifferentialDriveState {
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
  // Against an obstacle the disc can still turn on the spot, and so leave it.
  const spread = (angularRadps * limits.trackM) / 2
  return { ...next, leftMps: 0 - spread, rightMps: spread, xM: state.xM, yM: state.yM, bumped: true }
}
