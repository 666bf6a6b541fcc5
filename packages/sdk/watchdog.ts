/**
 * The robot's own deadman: stops the robot when no control frame follows an obeyed one in time, independently of the
 * gateway. Fires once, and again only after the robot has obeyed another frame.
 */
export class Watchdog {
  readonly #onSilence: () => void
  #limitMs = 0
  #fedMs = 0
  #moving = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(onSilence: () => void) {
    this.#onSilence = onSilence
  }

  /** Whether the robot may be moving: it has obeyed a frame since the last stop. */
  get moving(): boolean {
    return this.#moving
  }

  /** Sets the longest time between two frames. */
  limit(limitMs: number): void {
    this.#limitMs = limitMs
  }

  /** Reports an obeyed control frame. */
  feed(): void {
    this.#fedMs = performance.now()
    this.#moving = true
    // One timer for all frames: it checks the time of the last frame when it fires.
    this.#timer ??= setTimeout(() => this.#check(), this.#limitMs)
  }

  /** Reports a stop: the watchdog waits for the next obeyed frame. */
  disarm(): void {
    this.#moving = false
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #check(): void {
    const leftMs = this.#fedMs + this.#limitMs - performance.now()
    if (leftMs > 0) {
      this.#timer = setTimeout(() => this.#check(), leftMs)
      return
    }
    this.disarm()
    this.#onSilence()
  }
}
