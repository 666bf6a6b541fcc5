import type { EpisodeReport } from './episode-outbox.ts'

/** A recording is cut after this long, so that nobody waits for hours for the first one. */
const MAX_LENGTH_MS = 60_000
/** Who does not drive for this long has let go. */
const RELEASE_MS = 5_000

/** Cuts what a driven robot senses into episodes: from the first command until the driver lets go. */
export class DriveRecorder {
  #startedAtMs: number | null = null
  #drivenAtMs = 0
  #sizeBytes = 0
  #bumped = false

  /** A command was obeyed at `atMs`, Unix milliseconds. */
  driven(atMs: number): void {
    this.#drivenAtMs = atMs
    if (this.#startedAtMs !== null) return
    this.#startedAtMs = atMs
    this.#sizeBytes = 0
    this.#bumped = false
  }

  /** Adds a sample to the recording, if one runs. */
  sample(bytes: number, bumped: boolean): void {
    this.#sizeBytes += bytes
    this.#bumped ||= bumped
  }

  /** The episode that is over by `atMs`, if any. */
  due(atMs: number): EpisodeReport | null {
    if (this.#startedAtMs === null) return null
    const over = atMs - this.#startedAtMs >= MAX_LENGTH_MS || atMs - this.#drivenAtMs >= RELEASE_MS
    return over ? this.end(atMs) : null
  }

  /** Ends the recording, if one runs. An episode without a bump is a success. */
  end(atMs: number): EpisodeReport | null {
    const startedAtMs = this.#startedAtMs
    if (startedAtMs === null) return null
    this.#startedAtMs = null
    return {
      episode_id: crypto.randomUUID(),
      started_at: startedAtMs,
      ended_at: Math.max(startedAtMs, atMs), // the clock may have been set back
      size_bytes: this.#sizeBytes,
      success: !this.#bumped,
    }
  }
}
