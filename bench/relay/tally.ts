import { type Distribution, Histogram } from './histogram.ts'
import type { PauseWatch } from './pauses.ts'

const MOST_LOST_CONNECTIONS_TOLD = 3

/** Counts as they go from the generator to the benchmark. */
export interface TallyReport {
  readonly tookMs: number
  readonly sent: number
  readonly delivered: number
  /** Control frames that arrived more than once, or that nobody had sent. */
  readonly strange: number
  readonly acked: number
  /** Refused aloud by the relay, by its reasons. */
  readonly dropped: Readonly<Record<string, number>>
  /** Written later than planned because the generator stood still. */
  readonly sentLate: number
  /** Left out of `latency`: the generator itself stood still while they were under way. */
  readonly doubtful: number
  /** One way, from the write at the operator's end to the read at the robot's. */
  readonly latency: Distribution
  /** The same with nothing left out. */
  readonly everything: Distribution
  readonly pauses: Distribution
  readonly closed: number
  readonly closings: readonly string[]
}

/** What has happened to the control frames of all pairs since the last reset. */
export class Tally {
  sent = 0
  delivered = 0
  strange = 0
  acked = 0
  sentLate = 0
  private doubtful = 0
  private droppedCount = 0
  private readonly dropped = new Map<string, number>()
  private readonly latency = new Histogram()
  private readonly everything = new Histogram()
  private closed = 0
  private readonly closings = new Set<string>()
  private readonly clock: PauseWatch
  private sinceMs = performance.now()

  constructor(clock: PauseWatch) {
    this.clock = clock
  }

  arrived(sentMs: number): void {
    const latencyUs = (this.clock.nowMs - sentMs) * 1_000
    this.delivered++
    this.everything.record(latencyUs)
    if (this.clock.doubtful(sentMs)) this.doubtful++
    else this.latency.record(latencyUs)
  }

  refused(why: string): void {
    this.droppedCount++
    this.dropped.set(why, (this.dropped.get(why) ?? 0) + 1)
  }

  lostConnection(why: string): void {
    this.closed++
    if (this.closings.size < MOST_LOST_CONNECTIONS_TOLD) this.closings.add(why)
  }

  /** Whether every frame has arrived or was refused aloud. */
  get settled(): boolean {
    return this.delivered + this.droppedCount >= this.sent
  }

  report(): TallyReport {
    return {
      tookMs: performance.now() - this.sinceMs,
      sent: this.sent,
      delivered: this.delivered,
      strange: this.strange,
      acked: this.acked,
      dropped: Object.fromEntries(this.dropped),
      sentLate: this.sentLate,
      doubtful: this.doubtful,
      latency: this.latency.summary(),
      everything: this.everything.summary(),
      pauses: this.clock.lengths.summary(),
      closed: this.closed,
      closings: [...this.closings],
    }
  }

  reset(): void {
    for (const counter of ['sent', 'delivered', 'strange', 'acked', 'sentLate'] as const) this[counter] = 0
    this.doubtful = 0
    this.droppedCount = 0
    this.closed = 0
    this.dropped.clear()
    this.closings.clear()
    this.latency.reset()
    this.everything.reset()
    this.clock.lengths.reset()
    this.sinceMs = performance.now()
  }
}
