import { BUCKET_COUNT, bucketOf, type VideoIncrement } from '../../src/modules/sessions/index.ts'

/** Records how old the picture was by which the commands of one session were given. */
export class VideoRecorder {
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
