/** How far reports of one clock differ: by the jitter of the network, and of the sender's timers. */
const TOLERANCE_MS = 150
/** Between two frames, the time of capture cannot advance this much more than the time of arrival, unless a queue is dropped or a clock is set. */
const JUMP_MS = 250
/** Reports that agree with each other replace the clock that they contradict. */
const NEEDED = 3
/** Reports that agree prove the first clock. One report may be wrong. */
const NEEDED_AT_START = 2
/** Reports that are late as by a queue, for this time, are those of another clock. */
const LASTING_MS = 60_000
/** A round trip that is older says nothing about a queue. */
const FRESH_MS = 5_000
/** Drift between the clocks of two machines. */
const DRIFT = 200e-6
const MAX_DRIFT_MS = 5_000
/** A sender may report the time of its last frame, not the present time. */
const MAX_INTERVAL_MS = 1_000

/** The knowledge of a sender's clock between two times at which it is set. */
interface Epoch {
  /** The difference of this machine's clock and the sender's: the smallest one of all reports. */
  offsetMs: number
  /** The difference, and the fastest frame, when the epoch began. */
  readonly firstOffsetMs: number
  firstFastestMs: number | undefined
  /** The difference to another clock of the sender, by the newest report. */
  relationMs: number
  /** The part that was subtracted from the first differences, because a queue may have delayed their reports. */
  cautionMs: number
  isProven: boolean
  agreedMs: number
}

/** Reports that agree with each other, and not with the epoch. */
interface Others {
  readonly sinceMs: number
  leastMs: number
  count: number
}

/** The times of a report. */
interface TimelineReport {
  /** The time when it was sent, on the timeline. */
  readonly timeMs: number
  /** The same time by the other clock of the sender; the same for a timeline without one. */
  readonly senderMs: number
  readonly nowMs: number
}

/**
 * Converts the times of a sender's clock to those of this machine. Frames carry the times, and reports say which time it is now.
 * A report that contradicts the frames or the reports before is not believed, and no time is known if it could be right.
 */
export class Timeline {
  #epoch: Epoch | undefined
  #others: Others | undefined
  /** Time on the timeline of the newest frame, and its difference to the time of arrival. */
  #frame: { readonly timeMs: number; readonly transitMs: number } | undefined
  #intervalMs = 0
  #fastestMs: number | undefined
  /**
   * A frame has jumped ahead, so that only the next report says which time it is: how late the frame before was, compared to the
   * fastest one. The next report may be as late.
   */
  #jump: { readonly lateMs: number } | undefined
  /** By how much the time of frames has run backwards, until reports have confirmed the epoch. */
  #backwardsMs = 0
  #confirmations = 0
  /** Whether a report says that pictures are older, without a change of their arrival. */
  #isDisputed = false
  #roundTrip: { readonly ms: number; readonly atMs: number } | undefined
  /** The shortest round trip of the epoch: that of the fastest report. Undefined without any. */
  leastRoundTripMs: number | undefined

  /** Notes a frame when its first packet arrives. */
  frame(timeMs: number, nowMs: number): void {
    const before = this.#frame
    if (before?.timeMs === timeMs) return
    const transitMs = nowMs - timeMs
    this.#frame = { timeMs, transitMs }
    const fastestMs = this.#fastestMs ?? transitMs
    this.#fastestMs = Math.min(fastestMs, transitMs)
    if (!before) return
    const advanceMs = timeMs - before.timeMs
    if (advanceMs < -JUMP_MS) {
      this.#backwardsMs = this.#intervalMs - advanceMs
      this.#confirmations = 0
    } else if (transitMs < before.transitMs - JUMP_MS) this.#jump ??= { lateMs: before.transitMs - fastestMs }
    else this.#intervalMs = Math.min(Math.max(0, advanceMs), MAX_INTERVAL_MS)
  }

  /** Notes a round trip to the sender. */
  roundTrip(ms: number, atMs: number): void {
    this.#roundTrip = { ms, atMs }
    this.leastRoundTripMs = Math.min(this.leastRoundTripMs ?? ms, ms)
  }

  /** Notes a report. */
  reported(report: TimelineReport): void {
    const epoch = this.#epoch
    const offsetMs = report.nowMs - report.timeMs
    if (!epoch) return this.#begin(offsetMs, report, false)
    const toleranceMs = TOLERANCE_MS + this.#intervalMs
    epoch.firstFastestMs ??= this.#fastestMs
    // Frames arrive earlier by this than when the epoch began, so that reports may arrive earlier, too.
    const earlierMs = (epoch.firstFastestMs ?? 0) - (this.#fastestMs ?? 0)
    const isAhead = offsetMs < epoch.firstOffsetMs - earlierMs - toleranceMs
    if (!isAhead && offsetMs < epoch.offsetMs - toleranceMs) this.#begin(offsetMs, report, false)
    else if (!isAhead && offsetMs <= epoch.offsetMs + toleranceMs) this.#agree(epoch, offsetMs, report)
    else if (isAhead && !epoch.isProven) this.#begin(offsetMs, report, false)
    else this.#contradict(epoch, { ...report, offsetMs, toleranceMs, isAhead })
  }

  #begin(arrivedMs: number, { timeMs, senderMs, nowMs }: TimelineReport, isProven: boolean): void {
    const cautionMs = Math.max(this.#queueMs(nowMs), this.#jump?.lateMs ?? 0)
    const offsetMs = arrivedMs - cautionMs
    this.#epoch = {
      offsetMs,
      firstOffsetMs: offsetMs,
      firstFastestMs: this.#fastestMs,
      relationMs: senderMs - timeMs,
      cautionMs,
      isProven,
      agreedMs: nowMs,
    }
    this.#settle()
  }

  /** Returns how much longer the round trip is than the shortest one; 0 if that is unknown. */
  #queueMs(nowMs: number): number {
    const trip = this.#roundTrip
    return trip && this.#knowsQueue(nowMs) ? trip.ms - (this.leastRoundTripMs ?? trip.ms) : 0
  }

  #knowsQueue(nowMs: number): boolean {
    return this.#roundTrip !== undefined && nowMs - this.#roundTrip.atMs <= FRESH_MS
  }

  #agree(epoch: Epoch, offsetMs: number, { timeMs, senderMs, nowMs }: TimelineReport): void {
    const driftMs = DRIFT * Math.min(nowMs - epoch.agreedMs, MAX_DRIFT_MS)
    if (!epoch.isProven) epoch.cautionMs = Math.max(epoch.cautionMs, this.#queueMs(nowMs))
    const cautiousMs = epoch.isProven ? offsetMs : offsetMs - epoch.cautionMs
    epoch.offsetMs = Math.min(cautiousMs, epoch.offsetMs + driftMs)
    epoch.relationMs = senderMs - timeMs
    epoch.agreedMs = nowMs
    if (++this.#confirmations >= NEEDED) this.#backwardsMs = 0
    epoch.isProven = this.#jump === undefined // a queue may hide that the clock was set
    this.#settle()
  }

  #settle(): void {
    this.#others = undefined
    this.#jump = undefined
    this.#isDisputed = false
  }

  #contradict(
    epoch: Epoch,
    report: TimelineReport & { offsetMs: number; toleranceMs: number; isAhead: boolean },
  ): void {
    const { offsetMs, toleranceMs, isAhead, nowMs } = report
    if (isAhead) this.#isDisputed = true
    const before = this.#others
    const agrees = before !== undefined && Math.abs(offsetMs - before.leastMs) <= toleranceMs
    const others = agrees ? before : { sinceMs: nowMs, leastMs: offsetMs, count: 0 }
    others.leastMs = Math.min(others.leastMs, offsetMs)
    others.count++
    this.#others = others
    if (others.count < (epoch.isProven ? NEEDED : NEEDED_AT_START)) return
    // Older pictures are believed at once. Fresher ones only if the reports are not late because of a queue.
    const isLasting = nowMs - others.sinceMs >= LASTING_MS
    if (!isAhead && !isLasting && !this.#isAnotherClock(epoch, report)) return
    this.#fastestMs = this.#frame?.transitMs
    if (isLasting) this.leastRoundTripMs = this.#roundTrip?.ms // the path is another one
    this.#begin(others.leastMs, report, true)
  }

  /** Returns whether reports that are later than those of the epoch are so because of a clock, not of a queue. */
  #isAnotherClock(
    epoch: Epoch,
    {
      offsetMs,
      toleranceMs,
      timeMs,
      senderMs,
      nowMs,
    }: TimelineReport & { offsetMs: number; toleranceMs: number },
  ): boolean {
    const laterMs = offsetMs - epoch.offsetMs
    if (Math.abs(laterMs - this.#backwardsMs) <= toleranceMs) return true
    const framesLaterMs = this.#frame ? this.#frame.transitMs - (this.#fastestMs as number) : 0
    // Frames arrive as before: the first reports were wrong. If only the sender's clock was set, its frames are still to come.
    if (framesLaterMs < laterMs / 2)
      return (
        !epoch.isProven ||
        laterMs <= epoch.cautionMs + toleranceMs ||
        Math.abs(senderMs - timeMs - epoch.relationMs - laterMs) <= toleranceMs
      )
    return this.#knowsQueue(nowMs) && this.#queueMs(nowMs) < laterMs / 2
  }

  /**
   * Returns the time by this machine's clock; undefined before two reports agree, after a jump of the frames until a report
   * confirms them, and while reports contradict each other.
   */
  unixMs(timeMs: number): number | undefined {
    if (!this.#epoch?.isProven || this.#jump || this.#isDisputed) return undefined
    return timeMs + this.#epoch.offsetMs - (this.leastRoundTripMs ?? 0) / 2
  }
}
