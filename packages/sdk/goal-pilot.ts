import {
  type DifferentialDriveState,
  type DriveCommand,
  type DriveLimits,
  isHalted,
  velocity,
} from './differential-drive.ts'
import type { AutonomyReport, RobotGoal } from './robot-link-options.ts'
import { isFree, normalAngle, type World } from './world.ts'

/** The coordinate frame of a simulated robot: that of its pose, in its room. */
const GOAL_FRAME = 'odom'
/** How close to the place and to the heading counts as there. */
const REACHED_M = 0.05
const REACHED_RAD = 0.05
/** Above this angle to the goal the robot turns on the spot. */
const TURN_RAD = 0.3
/** Turning speed for each radian that is missing. */
const TURN_PER_S = 2
/** Share of the acceleration with which the robot slows down towards the goal, so that it follows the plan. */
const BRAKING_SHARE = 0.5
/** Distance to an obstacle at which it halts, and between the points at which it looks for one. */
const MARGIN_M = 0.1
const LOOK_M = 0.05

/** Drives a simulated robot to a goal: turns towards it, drives straight there, turns to the heading. Halts in front of obstacles. */
export class GoalPilot {
  #goal: NonNullable<AutonomyReport['goal']> | null = null
  #startM = 0
  /** Whether only the heading is missing. */
  #isThere = false

  /** Returns what the robot reports of itself. */
  get report(): AutonomyReport {
    const mode = this.#goal?.status === 'active' ? 'autonomous' : 'manual'
    return { mode, goalFrame: GOAL_FRAME, goal: this.#goal }
  }

  /** Begins to drive to a goal. One in another coordinate frame, or where the robot does not fit, fails at once. */
  begin(
    { goalId, frame, x, y, heading }: RobotGoal,
    state: DifferentialDriveState,
    world: World,
    limits: DriveLimits,
  ): void {
    const target = { goalId, x, y, heading }
    const isThis = frame === GOAL_FRAME
    if (!isThis || !isFree(world, x, y, limits.radiusM)) {
      const message = isThis ? 'an obstacle is there' : `goals are in the frame ${GOAL_FRAME}`
      this.#goal = { ...target, status: 'failed', message }
      return
    }
    this.#startM = Math.hypot(x - state.xM, y - state.yM)
    this.#isThere = false
    this.#goal = { ...target, status: 'active', progress: 0, distanceM: this.#startM }
  }

  /** Gives up the goal, if the robot drives to it. */
  cancel(goalId: string): void {
    if (this.#goal?.status === 'active' && this.#goal.goalId === goalId)
      this.#goal = { ...this.#goal, status: 'canceled' }
  }

  /** Returns the motion towards the goal, and notes the progress; undefined without an active goal, so that others decide. */
  command(state: DifferentialDriveState, world: World, limits: DriveLimits): DriveCommand | null | undefined {
    const goal = this.#goal
    if (goal?.status !== 'active') return undefined
    const [dx, dy] = [goal.x - state.xM, goal.y - state.yM]
    const distanceM = Math.hypot(dx, dy)
    this.#isThere ||= distanceM <= REACHED_M
    const towardsRad = this.#isThere ? goal.heading : Math.atan2(dy, dx)
    const missingRad = normalAngle(towardsRad - state.headingRad)
    if (this.#isThere && Math.abs(missingRad) <= REACHED_RAD) {
      if (isHalted(state)) this.#goal = { ...goal, status: 'reached', progress: 1, distanceM }
      return null
    }
    const progress = this.#isThere || this.#startM === 0 ? 1 : Math.max(0, 1 - distanceM / this.#startM)
    this.#goal = { ...goal, progress, distanceM }
    const angularRadps = TURN_PER_S * missingRad
    if (this.#isThere || Math.abs(missingRad) > TURN_RAD) return { linearMps: 0, angularRadps }
    if (state.bumped || !isWayFree(state, distanceM, world, limits)) {
      this.#goal = { ...this.#goal, status: 'failed', message: 'an obstacle is in the way' }
      return null
    }
    const slowingMps = Math.sqrt(2 * BRAKING_SHARE * limits.wheelAccelerationMps2 * distanceM)
    return { linearMps: Math.min(limits.maxLinearMps, slowingMps), angularRadps }
  }
}

/** Returns whether the robot could halt before an obstacle, or before the goal, if it braked now. */
function isWayFree(
  state: DifferentialDriveState,
  distanceM: number,
  world: World,
  limits: DriveLimits,
): boolean {
  const { linearMps } = velocity(state, limits)
  const aheadM = Math.min(distanceM, linearMps ** 2 / (2 * limits.brakeMps2) + MARGIN_M)
  for (let atM = Math.min(LOOK_M, aheadM); ; atM = Math.min(atM + LOOK_M, aheadM)) {
    const xM = state.xM + atM * Math.cos(state.headingRad)
    const yM = state.yM + atM * Math.sin(state.headingRad)
    if (!isFree(world, xM, yM, limits.radiusM)) return false
    if (atM >= aheadM) return true
  }
}
