import { BUCKET_COUNT, bucketOf, type VideoIncrement } from '../../src/modules/sessions/index.ts'

/** A report older than this says nothing about the present delay of the picture: its operator may not drive at present. */
const RECENT_MS = 1_000

/**
 * The age of the picture by which an operator drives, as the frames of its connection report it. Times are in the relay's
 * clock.
 */
export class PictureAge {
  /** The last reported age; null for a picture of unknown age, undefined before the first report of the connection. */
  #reportedMs: number | null | undefined
  #seenMs = 0
  #tooOld = false

  /** Whether the picture exceeded the limit and has not been well below it since. */
  get tooOld(): boolean {
    return this.#tooOld
  }

  /** Notes a report; null if the operator sees a picture of unknown age. */
  report(ageMs: number | null, nowMs: number): void {
    this.#reportedMs = ageMs
    this.#seenMs = nowMs
  }

  /**
   * Returns the age of the picture, which grows until the next report; null while it is unknown, undefined without a report.
   */
  at(nowMs: number): number | null | undefined {
    return this.#reportedMs == null ? this.#reportedMs : this.#reportedMs + nowMs - this.#seenMs
  }

  /** Returns the age of the last report if it is recent, otherwise 0. */
  recentMs(nowMs: number): number {
    return this.#reportedMs == null || nowMs - this.#seenMs > RECENT_MS ? 0 : this.#reportedMs
  }

  /** Requires the picture to be well below the limit before the next command passes. */
  exceedLimit(): void {
    this.#tooOld = true
  }

  accept(): void {
    this.#tooOld = false
  }

  /** Forgets the operator's connection. */
  reset(): void {
    this.#reportedMs = undefined
    this.#tooOld = false
  }
}

/** Counts how old the picture was by which the commands of one session were given. */
export class PictureAgeCounts {
  #buckets: number[] | undefined
  #maxMs = 0
  #dropped = 0

  /** Counts a command that was sent to the robot, with the age of the picture. */
  passed(ageMs: number): void {
    this.#buckets ??= new Array<number>(BUCKET_COUNT).fill(0)
    const bucket = bucketOf(ageMs)
    this.#buckets[bucket] = (this.#buckets[bucket] as number) + 1
    this.#maxMs = Math.max(this.#maxMs, ageMs)
  }

  /** Counts a command that was dropped because the picture was too old. */
  dropped(): void {
    this.#dropped++
  }

  /** Returns the record since the last call. `restore` it if writing fails. */
  take(): VideoIncrement {
    const taken = { buckets: this.#buckets ?? null, maxMs: this.#maxMs, dropped: this.#dropped }
    this.#buckets = undefined
    this.#maxMs = this.#dropped = 0
    return taken
  }

  restore({ buckets, maxMs, dropped }: VideoIncrement): void {
    this.#maxMs = Math.max(this.#maxMs, maxMs)
    this.#dropped += dropped
    if (buckets === null) return
    const current = this.#buckets
    this.#buckets = buckets.map((count, bucket) => count + (current?.[bucket] ?? 0))
  }
}
