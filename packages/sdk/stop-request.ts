import type { DriveState } from '@wheelhouse/protocol'

/**
 * The wish that the robot stop, kept until the platform has recorded it.
 *
 * A state may have been on its way when the stop was pressed, and tell of an earlier stop that somebody has
 * cleared since. So a state counts only once the gateway has said something that it can have said only after it
 * had the stop: the pong of a ping sent right behind it. Frames of a connection are handled in order.
 */
export class StopRequest {
  readonly #send: (reason: string | undefined) => number | null
  #completion: PromiseWithResolvers<void> | null = null
  #reason: string | undefined
  /** What this connection has said last; null before its first state. */
  #state: DriveState | null = null
  /** Time of the ping behind the stop; null while none has been sent on this connection. */
  #pingT: number | null = null
  /** What arrives from now on was said after the stop was pressed. */
  #confirmed = false

  /** @param send sends a stop and a ping behind it; answers with the ping's time, or null if it cannot now */
  constructor(send: (reason: string | undefined) => number | null) {
    this.#send = send
  }

  /** Whether a stop is wished for that is not known to be recorded. */
  get pending(): boolean {
    return this.#completion !== null
  }

  /** The stop is pressed. To ignore the promise is safe. @returns resolves once it is recorded */
  request(reason?: string): Promise<void> {
    this.#completion ??= createCompletion()
    this.#reason = reason
    this.#pingT = null
    this.#confirmed = false
    if (this.#state !== null) this.#transmit()
    return this.#completion.promise
  }

  /** A connection is being made. All that it will say is younger than any wish there is by now. */
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

  /** Called about once a second: sends the stop again where it seems to have come to nothing. */
  tick(): void {
    if (this.#completion === null || this.#state === null) return
    if (this.#pingT === null || (this.#confirmed && !this.#state.stop?.latched)) this.#transmit()
  }

  offline(): void {
    this.#state = null
    this.#pingT = null
  }

  /** The link has ended: nobody is left who could fulfil it. */
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

  /** From now on somebody may clear the stop, and this link does not stand in the way. */
  #complete(): void {
    this.#completion?.resolve()
    this.#completion = null
  }
}

function createCompletion(): PromiseWithResolvers<void> {
  const completion = Promise.withResolvers<void>()
  // Whoever does not look at the promise learns from onClosed that the link has ended.
  completion.promise.catch(() => {})
  return completion
}
