import type { GoalStatus } from '@wheelhouse/protocol'
import { at, bytesAt, itemsAt, numberAt, textAt } from './readings.ts'

/** Goals in one array of statuses. A longer array is not read: an id that is not kept would seem to be new. */
const MAX_STATUSES = 1_024
/** Characters of the id of a planner's goal. A goal with a longer one is not recognized. */
const MAX_PLANNER_ID = 256
const UUID_BYTES = 16
/** A goal that no array has by then, in milliseconds, never comes: it was rejected, or no planner runs. */
const LISTED_WITHIN_MS = 5_000
/** Goals that were sent and are in no array yet; of more, the oldest are forgotten. */
const MAX_UNLISTED = 64

/** How a planner says that a goal has ended. */
export interface GoalEnd {
  readonly status: Exclude<GoalStatus, 'active'>
  readonly message?: string
}

const REACHED: GoalEnd = { status: 'reached' }
const CANCELED: GoalEnd = { status: 'canceled', message: 'the planner was told to cancel it' }
const ABORTED: GoalEnd = { status: 'failed', message: 'the planner has given up' }
const REJECTED: GoalEnd = { status: 'failed', message: 'the planner has rejected it' }
/** The final statuses of actionlib_msgs/GoalStatus: PREEMPTED, SUCCEEDED, ABORTED, REJECTED, RECALLED, LOST. */
const ros1Ends: Readonly<Record<number, GoalEnd>> = {
  2: CANCELED,
  3: REACHED,
  4: ABORTED,
  5: REJECTED,
  8: CANCELED,
  9: ABORTED,
}
/** The final statuses of action_msgs/GoalStatus: SUCCEEDED, CANCELED, ABORTED. */
const ros2Ends: Readonly<Record<number, GoalEnd>> = { 4: REACHED, 5: CANCELED, 6: ABORTED }

/**
 * Finds the goal of this program in the statuses of a planner, which gives it an id of its own: it is the first id that appears after
 * the goal was published, and after those of goals before it that had not appeared by then. Statuses of other ids never end it.
 */
export class GoalStatuses {
  /** Ids of all arrays, those of the newest one last; the oldest are forgotten. */
  readonly #known = new Set<string>()
  /** Whether an array has come since ROS is connected. Before, an id may be new here and old to the planner. */
  #hasArray = false
  /** When the goals were sent whose ids have not appeared, also those that were replaced or canceled since. */
  #unlisted: number[] = []
  /** Whether the newest of them is the present goal. */
  #isExpected = false
  #id: string | undefined

  /** Begins to look for a goal that was published at `nowMs`. */
  expect(nowMs: number): void {
    this.#unlisted = [...this.#unlisted, nowMs].slice(-MAX_UNLISTED)
    this.#isExpected = true
    this.#id = undefined
  }

  /** Ends the search: the goal has ended otherwise. */
  forget(): void {
    this.#isExpected = false
    this.#id = undefined
  }

  /** Notes that arrays may have been missed: ROS was gone. */
  interrupted(): void {
    this.forget()
    this.#unlisted = []
    this.#hasArray = false
  }

  /** Reads an array of either version of ROS that arrived at `nowMs`. Returns how the goal has ended; undefined if it has not. */
  read(message: unknown, nowMs: number): GoalEnd | undefined {
    const statuses = itemsAt(message, 'status_list')
    if (statuses.length > MAX_STATUSES) return undefined
    let found: GoalEnd | undefined
    const present = this.#isExpected ? 1 : 0
    while (this.#unlisted.length > present && (this.#unlisted[0] ?? nowMs) < nowMs - LISTED_WITHIN_MS)
      this.#unlisted.shift()
    for (let index = 0; index < statuses.length; index++) {
      const id = idOf(statuses[index])
      if (id === undefined) continue
      const end = endOf(statuses[index])
      const isNew = !this.#known.delete(id)
      this.#known.add(id)
      // An id of the first array that has ended was there before.
      if (isNew && (this.#hasArray || !end)) this.#appeared(id)
      if (id === this.#id) found = end
    }
    this.#hasArray = true
    for (const id of this.#known) {
      if (this.#known.size <= MAX_STATUSES) break
      this.#known.delete(id)
    }
    if (found) this.forget()
    return found
  }

  /** Assigns a new id to the oldest goal without one. */
  #appeared(id: string): void {
    this.#unlisted.shift()
    if (!this.#isExpected || this.#unlisted.length > 0) return
    this.#id = id
    this.#isExpected = false
  }
}

function idOf(status: unknown): string | undefined {
  const uuid = bytesAt(at(status, 'goal_info', 'goal_id'), 'uuid')
  const id = uuid.length === UUID_BYTES ? Buffer.from(uuid).toString('hex') : textAt(status, 'goal_id', 'id')
  return id === '' || id.length > MAX_PLANNER_ID ? undefined : id
}

function endOf(status: unknown): GoalEnd | undefined {
  const ends = at(status, 'goal_info') === undefined ? ros1Ends : ros2Ends
  const end = ends[numberAt(status, 'status') ?? 0]
  const text = textAt(status, 'text')
  return end && text !== '' ? { ...end, message: text } : end
}
