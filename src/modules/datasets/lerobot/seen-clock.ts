import { MAX_WAY_MS } from './episode-scan.ts'

/** What the time of a command is: when the robot got it, or when the picture that its operator saw was captured. */
export type Align = 'time' | 'seen'

/**
 * Dates commands back to the pictures that they answer, so that a row has the action that its operator took on seeing the row's
 * picture. All commands by one picture are earlier by the same time, which is that from its capture to the first of them: while a
 * picture is shown for long, its commands keep their distances. Times are from the start of the episode.
 */
export class SeenClock {
  readonly #camera: string | undefined
  #pictureMs = Number.NaN
  #delayMs = 0
  #lastMs = Number.NEGATIVE_INFINITY

  /** @param camera whose pictures count; undefined for the newest of any camera, which also counts for commands without this one */
  constructor(camera: string | undefined) {
    this.#camera = camera
  }

  /**
   * Returns the time of the next command, which is never before that of the last one. A command that names no picture, or one that
   * cannot be, has the time of its arrival.
   * @param seen the times of the pictures of each camera
   */
  commandMs(seen: ReadonlyMap<string, number>, arrivedMs: number): number {
    const pictureMs = this.#pictureOf(seen)
    if (pictureMs !== this.#pictureMs) {
      const delayMs = arrivedMs - pictureMs
      this.#pictureMs = pictureMs
      this.#delayMs = delayMs >= 0 && delayMs <= MAX_WAY_MS ? delayMs : 0
    }
    this.#lastMs = Math.max(this.#lastMs, arrivedMs - this.#delayMs)
    return this.#lastMs
  }

  #pictureOf(seen: ReadonlyMap<string, number>): number {
    const own = this.#camera === undefined ? undefined : seen.get(this.#camera)
    return own ?? Math.max(...seen.values())
  }
}
