import { BUCKET_COUNT, bucketOf, type LatencyIncrement } from '../../src/modules/sessions/index.ts'

/** The round trip that is being measured, and the last one that was. */
class RoundTrip {
  /** When the ping was sent; 0 while no measurement is running. */
  sentMs = 0
  /** The last round trip; undefined before the first one. */
  lastMs: number | undefined
  #previousMs: number | undefined

  /** Begins a measurement unless one is running or the ping cannot be sent, which would never be answered. */
  begin(nowMs: number, ping: () => boolean): void {
    if (this.sentMs === 0 && ping()) this.sentMs = nowMs
  }

  end(nowMs: number): void {
    if (this.sentMs !== 0) this.measured(nowMs - this.sentMs)
  }

  /** Notes a round trip, also one that was measured elsewhere, instead of the running measurement. */
  measured(roundTripMs: number): void {
    this.#previousMs = this.lastMs
    this.lastMs = roundTripMs
    this.sentMs = 0
  }

  /** Returns the last round trip, or the running one if that takes longer already; undefined before the first. */
  current(nowMs: number): number | undefined {
    if (this.lastMs === undefined || this.sentMs === 0) return this.lastMs
    return Math.max(this.lastMs, nowMs - this.sentMs)
  }

  /**
   * Returns the shorter one of the last two round trips, or the running one if that takes longer already: a packet that
   * was lost once and sent again does not make the path longer.
   */
  shorter(nowMs: number): number | undefined {
    if (this.lastMs === undefined) return undefined
    const runningMs = this.sentMs === 0 ? 0 : nowMs - this.sentMs
    return Math.max(Math.min(this.lastMs, this.#previousMs ?? this.lastMs), runningMs)
  }
}

/**
 * Records how long the commands of one session take. Pings, which a peer's library answers, measure the round trips. The
 * age of a command is the delay of its frame on the operator's side plus half of both round trips.
 */
export function createLatencyRecorder() {
  let operator = new RoundTrip()
  let robot = new RoundTrip()
  /** The shortest round trip to the operator: a frame that meets no delay takes half of it. */
  let fastestOperatorMs = Number.POSITIVE_INFINITY
  let pathMs = 0
  let robotPathMs = 0
  let buckets: number[] | undefined
  let maxMs = 0
  let frames = 0
  let dropped = 0

  const measurePath = (nowMs: number) => {
    const toOperator = fastestOperatorMs === Number.POSITIVE_INFINITY ? 0 : fastestOperatorMs
    robotPathMs = (robot.shorter(nowMs) ?? 0) / 2
    pathMs = toOperator / 2 + robotPathMs
  }

  return {
    /** Returns the least time that a command takes, as last measured. */
    pathMs: () => pathMs,

    /** Returns the least time that a frame of the robot takes, as last measured. */
    robotPathMs: () => robotPathMs,

    /** Returns half of the newest round trips, also of running ones; undefined until both sides have answered. */
    currentPathMs(nowMs: number): number | undefined {
      const [toOperator, toRobot] = [operator.current(nowMs), robot.current(nowMs)]
      return toOperator === undefined || toRobot === undefined ? undefined : (toOperator + toRobot) / 2
    },

    /** Begins a measurement on each side, unless one is running or no ping can be sent. */
    measure(nowMs: number, pings: { operator: () => boolean; robot: () => boolean }): void {
      measurePath(nowMs)
      operator.begin(nowMs, pings.operator)
      robot.begin(nowMs, pings.robot)
    },
    /** Begins a measurement on each side that has not answered yet. */
    measureUnknown(nowMs: number, pings: { operator: () => boolean; robot: () => boolean }): void {
      if (operator.lastMs === undefined) operator.begin(nowMs, pings.operator)
      if (robot.lastMs === undefined) robot.begin(nowMs, pings.robot)
    },
    operatorAnswered(nowMs: number): void {
      operator.end(nowMs)
      fastestOperatorMs = Math.min(fastestOperatorMs, operator.lastMs ?? fastestOperatorMs)
      measurePath(nowMs)
    },
    /** Notes a round trip to the operator over the data channel. */
    operatorMeasured(roundTripMs: number, nowMs: number): void {
      operator.measured(roundTripMs)
      fastestOperatorMs = Math.min(fastestOperatorMs, roundTripMs)
      measurePath(nowMs)
    },
    /** Notes a round trip to the robot over the data channel. */
    robotMeasured(roundTripMs: number, nowMs: number): void {
      robot.measured(roundTripMs)
      measurePath(nowMs)
    },
    robotAnswered(nowMs: number): void {
      robot.end(nowMs)
      measurePath(nowMs)
    },
    forgetOperator(): void {
      operator = new RoundTrip()
      fastestOperatorMs = Number.POSITIVE_INFINITY
    },
    forgetRobot(): void {
      robot = new RoundTrip()
      pathMs = 0
    },
    frame(nowMs: number): string {
      const shown = (trip: RoundTrip) => {
        const ms = trip.current(nowMs)
        return ms === undefined ? null : Math.round(ms * 100) / 100
      }
      return JSON.stringify({ type: 'latency', operator_ms: shown(operator), robot_ms: shown(robot) })
    },

    /** Counts a command that was sent to the robot, with its age on arrival. */
    passed(ageMs: number): void {
      const commandMs = ageMs + pathMs
      buckets ??= new Array<number>(BUCKET_COUNT).fill(0)
      const bucket = bucketOf(commandMs)
      buckets[bucket] = (buckets[bucket] as number) + 1
      frames++
      if (commandMs > maxMs) maxMs = commandMs
    },
    dropped(): void {
      dropped++
    },

    /** Returns the counts since the last call; undefined if there are none. `restore` them if writing fails. */
    take(): Omit<LatencyIncrement, 'speed' | 'video'> | undefined {
      if (frames === 0 && dropped === 0) return undefined
      const latencySummary = {
        buckets: buckets ?? new Array<number>(BUCKET_COUNT).fill(0),
        maxMs,
        frames,
        dropped,
      }
      buckets = undefined
      maxMs = frames = dropped = 0
      return latencySummary
    },
    restore(latencySummary: Omit<LatencyIncrement, 'speed' | 'video'>): void {
      buckets ??= new Array<number>(BUCKET_COUNT).fill(0)
      for (const [bucket, count] of latencySummary.buckets.entries())
        buckets[bucket] = (buckets[bucket] ?? 0) + count
      maxMs = Math.max(maxMs, latencySummary.maxMs)
      frames += latencySummary.frames
      dropped += latencySummary.dropped
    },
  }
}
export type LatencyRecorder = ReturnType<typeof createLatencyRecorder>
