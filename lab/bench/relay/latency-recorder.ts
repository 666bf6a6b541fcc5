import { type Distribution, Histogram } from './histogram.ts'
import type { PauseWatch } from './pauses.ts'

const MAX_REPORTED_CONNECTION_LOSSES = 3

/** Counts that the generator sends to the benchmark. */
export interface RecorderReport {
  readonly tookMs: number
  readonly sent: number
  readonly delivered: number
  /** Control frames that arrived more than once, or that no operator had sent. */
  readonly strange: number
  readonly acked: number
  /** Frames that the relay refused explicitly, by reason. */
  readonly dropped: Readonly<Record<string, number>>
  /** Frames that were written late because the generator paused. */
  readonly sentLate: number
  /** Frames excluded from `latency`: the generator paused while they were in flight. */
  readonly doubtful: number
  /** One way, from the write at the operator's end to the read at the robot's. */
  readonly latency: Distribution
  /** The same, including all frames. */
  readonly everything: Distribution
  readonly pauses: Distribution
  readonly closed: number
  readonly closings: readonly string[]
}

/** Counts the control frames of all pairs: since control began, and since the last mark. */
export class LatencyRecorder {
  acked = 0
  sentLate = 0
  private sent = 0
  private delivered = 0
  private strange = 0
  private doubtful = 0
  private closed = 0
  private readonly dropped = new Map<string, number>()
  private readonly latency = new Histogram()
  private readonly everything = new Histogram()
  private readonly closings = new Set<string>()
  private readonly clock: PauseWatch
  private markedMs = performance.now()
  /** Counts of the whole run. */
  private whole = { sent: 0, arrived: 0, refused: 0 }

  constructor(clock: PauseWatch) {
    this.clock = clock
  }

  wrote(frames: number): void {
    this.sent += frames
    this.whole.sent += frames
  }

  arrived(sentMs: number): void {
    const latencyUs = (this.clock.nowMs - sentMs) * 1_000
    this.delivered++
    this.whole.arrived++
    this.everything.record(latencyUs)
    if (this.clock.doubtful(sentMs)) this.doubtful++
    else this.latency.record(latencyUs)
  }

  /** Counts a frame that arrived twice, or that no operator sent. */
  arrivedStrangely(): void {
    this.strange++
  }

  refused(why: string): void {
    this.whole.refused++
    this.dropped.set(why, (this.dropped.get(why) ?? 0) + 1)
  }

  lostConnection(why: string): void {
    this.closed++
    if (this.closings.size < MAX_REPORTED_CONNECTION_LOSSES) this.closings.add(why)
  }

  /** Returns control frames of the whole run that have neither arrived nor been refused explicitly. */
  get missing(): number {
    return this.whole.sent - this.whole.arrived - this.whole.refused
  }

  /** Returns counts since the last mark. */
  report(): RecorderReport {
    return {
      tookMs: performance.now() - this.markedMs,
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

  /** Begins a run. */
  begin(): void {
    this.whole = { sent: 0, arrived: 0, refused: 0 }
    this.mark()
  }

  /** Ends the warm-up. */
  mark(): void {
    this.sent = this.delivered = this.strange = this.acked = this.sentLate = this.doubtful = this.closed = 0
    this.dropped.clear()
    this.closings.clear()
    this.latency.reset()
    this.everything.reset()
    this.clock.lengths.reset()
    this.markedMs = performance.now()
  }
}
