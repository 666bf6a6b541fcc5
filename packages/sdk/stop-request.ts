import type { DriveState } from '@wheelhouse/protocol'

/**
 * Repeats a stop until the platform has recorded it.
 *
 * A state that the gateway sent before it received the stop may describe an earlier stop that a participant has cleared
 * since. A state therefore counts only after the pong of a ping that this link sent right after the stop. The gateway
 * handles the frames of a connection in order.
 */
export class StopRequest {
  readonly #send: (reason: string | undefined) => number | null
  #completion: PromiseWithResolvers<void> | null = null
  #reason: string | undefined
  /** The last state of this connection; null before the first one. */
  #state: DriveState | null = null
  /** Time of the ping after the stop; null before the link has sent it on this connection. */
  #pingT: number | null = null
  /** The gateway has sent all later frames after it received the stop. */
  #confirmed = false

  /** @param send sends a stop and then a ping; returns the ping's time, or null if it cannot send now */
  constructor(send: (reason: string | undefined) => number | null) {
    this.#send = send
  }

  /** Whether a stop is requested and its recording is not confirmed. */
  get pending(): boolean {
    return this.#completion !== null
  }

  /** Requests a stop. The caller can ignore the promise. @returns resolves when the stop is recorded */
  request(reason?: string): Promise<void> {
    this.#completion ??= createCompletion()
    this.#reason = reason
    this.#pingT = null
    this.#confirmed = false
    if (this.#state !== null) this.#transmit()
    return this.#completion.promise
  }

  /** Reports a new connection. All of its states are newer than the current request. */
  dialling(): void {
    this.#confirmed = true
  }

  state(state: DriveState): void {
    const first = this.#state === null
    this.#state = state
    if (this.#completion === null) return
    if (this.#isDone()) this.#complete()
    else if (first) this.#transmit()
  }

  pong(t: number): void {
    if (this.#completion === null || this.#pingT === null || t < this.#pingT) return
    this.#confirmed = true
    if (this.#isDone()) this.#complete()
  }

  /** Sends the stop again if it had no effect. Called about once a second. */
  tick(): void {
    if (this.#completion === null || this.#state === null) return
    if (this.#pingT === null || (this.#confirmed && !this.#state.stop?.latched)) this.#transmit()
  }

  offline(): void {
    this.#state = null
    this.#pingT = null
  }

  /** Rejects the request, because the link has ended. */
  end(error: Error): void {
    this.#completion?.reject(error)
    this.#completion = null
  }

  #isDone(): boolean {
    const stop = this.#state?.stop
    return this.#confirmed && stop?.latched === true && stop.recorded
  }

  #transmit(): void {
    const pingT = this.#send(this.#reason)
    this.#pingT ??= pingT
  }

  /** Resolves the request. The link does not repeat the stop afterwards, so that a participant can clear it. */
  #complete(): void {
    this.#completion?.resolve()
    this.#completion = null
  }
}

function createCompletion(): PromiseWithResolvers<void> {
  const completion = Promise.withResolvers<void>()
  // A caller that ignores the promise receives the end of the link through onClosed.
  completion.promise.catch(() => {})
  return completion
}
