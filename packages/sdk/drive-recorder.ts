import type { EpisodeReport } from './episode-outbox.ts'

/** Longest episode. A long drive therefore produces its first episode after a minute. */
const MAX_LENGTH_MS = 60_000
/** After this time without a command, the operator has released the controls. */
const RELEASE_MS = 5_000

/** Records episodes of a driven robot: from the first command until the operator releases the controls. */
export class DriveRecorder {
  #startedAtMs: number | null = null
  #drivenAtMs = 0
  #sizeBytes = 0
  #bumped = false

  /** Reports that the robot obeyed a command at `atMs`, Unix milliseconds. Starts a recording if none runs. */
  driven(atMs: number): void {
    this.#drivenAtMs = atMs
    if (this.#startedAtMs !== null) return
    this.#startedAtMs = atMs
    this.#sizeBytes = 0
    this.#bumped = false
  }

  /** Adds a telemetry sample to the recording, if one runs. */
  sample(bytes: number, bumped: boolean): void {
    this.#sizeBytes += bytes
    this.#bumped ||= bumped
  }

  /** Ends the recording if it is over at `atMs`. @returns its episode, or null */
  due(atMs: number): EpisodeReport | null {
    if (this.#startedAtMs === null) return null
    const over = atMs - this.#startedAtMs >= MAX_LENGTH_MS || atMs - this.#drivenAtMs >= RELEASE_MS
    return over ? this.end(atMs) : null
  }

  /** Ends the recording, if one runs. An episode without a bump is a success. @returns its episode, or null */
  end(atMs: number): EpisodeReport | null {
    const startedAtMs = this.#startedAtMs
    if (startedAtMs === null) return null
    this.#startedAtMs = null
    return {
      episode_id: crypto.randomUUID(),
      started_at: startedAtMs,
      ended_at: Math.max(startedAtMs, atMs), // the wall clock may have been set back
      size_bytes: this.#sizeBytes,
      success: !this.#bumped,
    }
  }
}
