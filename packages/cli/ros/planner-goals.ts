import type { AutonomyReport, RobotGoal } from '@wheelhouse/sdk'
import type { GoalSettings } from './config.ts'
import { type GoalEnd, GoalStatuses } from './goal-statuses.ts'
import type { RosMessage, RosSource } from './source.ts'

const CANCEL_GOAL = 'action_msgs/CancelGoal'

interface PlannerGoalsOptions {
  readonly settings: GoalSettings
  readonly source: () => RosSource
  /** Receives what the robot does by itself, with every change. */
  readonly onAutonomy: (report: AutonomyReport) => void
  readonly onProblem: (problem: string) => void
}

/** Passes goals to the planner of a robot, tells how they go, and cancels them. */
export class PlannerGoals {
  readonly #options: PlannerGoalsOptions
  readonly #statuses = new GoalStatuses()
  #isUp = false
  /** The present goal, or how the last one ended. */
  #goal: AutonomyReport['goal'] = null
  /** Whether the planner has got a goal that nobody has cancelled: what it says about its end is not trusted with that. */
  #mayPursue = false

  constructor(options: PlannerGoalsOptions) {
    this.#options = options
  }

  /** Tells what the robot does by itself. */
  report(): void {
    this.#options.onAutonomy({
      mode: this.#goal?.status === 'active' ? 'autonomous' : 'manual',
      goalFrame: this.#isUp ? this.#options.settings.frame : null,
      goal: this.#goal ?? null,
    })
  }

  /** Accepts goals from now on: ROS is connected. */
  up(): void {
    this.#isUp = true
    this.report()
  }

  /** Accepts no goals: ROS is gone. */
  down(): void {
    this.#isUp = false
    this.#statuses.interrupted()
    if (this.#goal?.status === 'active') this.end({ status: 'failed', message: 'ROS is not reachable' })
    else this.report()
  }

  /** Sends a goal to the planner, which gives up the one before for it. @returns false if it was not sent; it is then reported as failed */
  begin({ goalId, frame, x, y, heading }: RobotGoal): boolean {
    const { settings, source } = this.#options
    this.#goal = { goalId, x, y, heading, status: 'active' }
    const problem = this.#isUp
      ? frame === settings.frame
        ? undefined
        : `the robot takes goals in ${settings.frame}`
      : 'ROS is not reachable'
    if (problem !== undefined || !source().publish(settings.topic, poseMessage({ frame, x, y, heading }))) {
      this.end({ status: 'failed', message: problem ?? `nobody takes the goal at ${settings.topic}` })
      return false
    }
    this.#mayPursue = true
    this.#statuses.expect(performance.now())
    this.report()
    return true
  }

  /** Notes how the present goal has ended, if there is one. */
  end(end: GoalEnd): void {
    this.#statuses.forget()
    if (this.#goal?.status !== 'active') return
    this.#goal = { ...this.#goal, ...end }
    this.report()
  }

  /** Reads an array of statuses of the planner. */
  read(message: unknown): void {
    const end = this.#statuses.read(message, performance.now())
    if (end) this.end(end)
  }

  /** Cancels what the planner may pursue. @returns false if that was not possible: try it again */
  cancel(): boolean {
    if (!this.#mayPursue) return true
    const { cancel_service, cancel_topic } = this.#options.settings
    const source = this.#options.source()
    // An empty request means all goals.
    const isSent = cancel_service
      ? source.call(cancel_service, CANCEL_GOAL, {})
      : cancel_topic !== undefined && source.publish(cancel_topic, {})
    if (isSent) this.#mayPursue = false
    else this.#options.onProblem('the goal of the robot could not be cancelled')
    return isSent
  }
}

/** Returns a geometry_msgs/PoseStamped. A zero stamp means "now" to planners. */
function poseMessage({ frame, x, y, heading }: Pick<RobotGoal, 'frame' | 'x' | 'y' | 'heading'>): RosMessage {
  return {
    header: { frame_id: frame },
    pose: {
      position: { x, y, z: 0 },
      orientation: { x: 0, y: 0, z: Math.sin(heading / 2), w: Math.cos(heading / 2) },
    },
  }
}
