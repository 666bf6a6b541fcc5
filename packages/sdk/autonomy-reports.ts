import { Autonomy, GOAL_MESSAGE_MAX, type GoalState } from '@wheelhouse/protocol'
import type { AutonomyReport } from './robot-link-options.ts'

/** The shortest time between two reports of mere progress, in milliseconds. */
const PROGRESS_MS = 200

/**
 * Sends what a robot does by itself: a change of the mode, the goal or its status at once, mere progress at most five times a second,
 * and the newest report again over each new connection.
 */
export class AutonomyReports {
  readonly #transmit: (frame: Autonomy) => boolean
  #newest: Autonomy | null = null
  #sent: Autonomy | null = null
  #sentMs = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(transmit: (frame: Autonomy) => boolean) {
    this.#transmit = transmit
  }

  /** Returns the frame. @throws ZodError for an invalid report, which is not sent */
  report(report: AutonomyReport): Autonomy {
    const frame = Autonomy.parse(frameOf(report))
    this.#newest = frame
    const waitMs = this.#sentMs + PROGRESS_MS - performance.now()
    if (waitMs <= 0 || isChange(this.#sent, frame)) this.send()
    else this.#timer ??= setTimeout(() => this.send(), waitMs)
    return frame
  }

  /** Sends the newest report, if there is one. Call it after each welcome. */
  send(): void {
    this.pause()
    if (!this.#newest || !this.#transmit(this.#newest)) return
    this.#sent = this.#newest
    this.#sentMs = performance.now()
  }

  /** Ends the wait of a report: the link is offline. */
  pause(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

const isChange = (before: Autonomy | null, after: Autonomy): boolean =>
  before === null ||
  before.mode !== after.mode ||
  before.goal_frame !== after.goal_frame ||
  before.goal?.goal_id !== after.goal?.goal_id ||
  before.goal?.status !== after.goal?.status

function frameOf({ mode, goalFrame, goal }: AutonomyReport): Autonomy {
  return { type: 'autonomy', mode, goal_frame: goalFrame ?? null, goal: goal ? goalOf(goal) : null }
}

function goalOf({ goalId, distanceM, message, ...goal }: NonNullable<AutonomyReport['goal']>): GoalState {
  return {
    goal_id: goalId,
    ...goal,
    ...(distanceM !== undefined && { distance_m: distanceM }),
    ...(message !== undefined && { message: message.slice(0, GOAL_MESSAGE_MAX) }),
  }
}
