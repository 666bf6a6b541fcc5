/**
 * Spaces commands out. A command that comes too early waits for its turn, unless a newer one replaces it: there is never
 * more than one waiting, so no queue of old commands can build up.
 */
export class CommandPacer {
  /** The waiting command. */
  #waiting: (() => void) | null = null
  #timer: ReturnType<typeof setTimeout> | undefined
  /** When the next command may be sent. */
  #dueMs = Number.NEGATIVE_INFINITY

  /**
   * Returns whether a command may be sent now, and then replaces the waiting one.
   * @param gapMs the shortest time between two commands; 0 for no limit
   */
  mayPass(gapMs: number, nowMs: number): boolean {
    if (gapMs > 0 && nowMs < this.#dueMs) return false
    this.passed(gapMs, nowMs)
    return true
  }

  /** Notes a command that is sent now, in any case. */
  passed(gapMs: number, nowMs: number): void {
    this.discard()
    // A command that is late does not delay the next ones, so that jitter does not lower the rate.
    this.#dueMs = Math.max(this.#dueMs, nowMs - gapMs / 2) + gapMs
  }

  /** Sends a command when its turn comes, instead of the waiting one. */
  wait(send: () => void, gapMs: number, nowMs: number): void {
    this.#waiting = send
    this.#timer ??= setTimeout(() => this.#release(gapMs), Math.max(this.#dueMs - nowMs, 0))
  }

  /** Drops the waiting command. */
  discard(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#waiting = null
  }

  #release(gapMs: number): void {
    const send = this.#waiting
    this.passed(gapMs, performance.now())
    send?.()
  }
}
