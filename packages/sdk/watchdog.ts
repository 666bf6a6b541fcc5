/**
 * The robot's own deadman: from a frame that was obeyed on, silence means stop, whatever the gateway thinks. It
 * fires once, and again only after the robot has been moved again.
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

  /** Whether the robot may be moving: something was obeyed, and no stop has come since. */
  get moving(): boolean {
    return this.#moving
  }

  /** From now on, `limitMs` without a frame is silence. */
  limit(limitMs: number): void {
    this.#limitMs = limitMs
  }

  /** A control frame is obeyed. */
  feed(): void {
    this.#fedMs = performance.now()
    this.#moving = true
    // One timer in all, not one a frame: it looks at the time of the last frame when it fires.
    this.#timer ??= setTimeout(() => this.#check(), this.#limitMs)
  }

  /** The robot has been told to stop: there is nothing to watch. */
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
