import type { DriveState } from '@wheelhouse/protocol'

/**
 * The wish that the robot stop, kept until the platform has recorded it.
 *
 * A state may have been on its way when the stop was pressed, and tell of an earlier stop that somebody has
 * cleared since. So a state counts only once the gateway has said something that it can have said only after it
 * had the stop: the pong of a ping sent right behind it. Frames of a connection are handled in order.
 */
export class StopWish {
  readonly #send: (reason: string | undefined) => number | null
  #wish: PromiseWithResolvers<void> | null = null
  #reason: string | undefined
  /** What this connection has said last; null before its first state. */
  #state: DriveState | null = null
  /** Time of the ping behind the stop; null while none has been sent on this connection. */
  #pingT: number | null = null
  /** What arrives from now on was said after the stop was pressed. */
  #counts = false

  /** @param send sends a stop and a ping behind it; answers with the ping's time, or null if it cannot now */
  constructor(send: (reason: string | undefined) => number | null) {
    this.#send = send
  }

  /** Whether a stop is wished for that is not known to be recorded. */
  get pending(): boolean {
    return this.#wish !== null
  }

  /** The stop is pressed. To ignore the promise is safe. @returns resolves once it is recorded */
  press(reason?: string): Promise<void> {
    this.#wish ??= newWish()
    this.#reason = reason
    this.#pingT = null
    this.#counts = false
    if (this.#state !== null) this.#transmit()
    return this.#wish.promise
  }

  /** A connection is being made. All that it will say is younger than any wish there is by now. */
  dialling(): void {
    this.#counts = true
  }

  state(state: DriveState): void {
    const first = this.#state === null
    this.#state = state
    if (this.#wish === null) return
    if (this.#isDone()) this.#fulfil()
    else if (first) this.#transmit()
  }

  pong(t: number): void {
    if (this.#wish === null || this.#pingT === null || t < this.#pingT) return
    this.#counts = true
    if (this.#isDone()) this.#fulfil()
  }

  /** Called about once a second: sends the stop again where it seems to have come to nothing. */
  tick(): void {
    if (this.#wish === null || this.#state === null) return
    if (this.#pingT === null || (this.#counts && !this.#state.stop?.latched)) this.#transmit()
  }

  offline(): void {
    this.#state = null
    this.#pingT = null
  }

  /** The link has ended: nobody is left who could fulfil it. */
  end(error: Error): void {
    this.#wish?.reject(error)
    this.#wish = null
  }

  #isDone(): boolean {
    const stop = this.#state?.stop
    return this.#counts && stop?.latched === true && stop.recorded
  }

  #transmit(): void {
    const pingT = this.#send(this.#reason)
    this.#pingT ??= pingT
  }

  /** From now on somebody may clear the stop, and this link does not stand in the way. */
  #fulfil(): void {
    this.#wish?.resolve()
    this.#wish = null
  }
}

function newWish(): PromiseWithResolvers<void> {
  const wish = Promise.withResolvers<void>()
  // Whoever does not look at the promise learns from onClosed that the link has ended.
  wish.promise.catch(() => {})
  return wish
}
