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
  /** The wish is older than this connection, so that whatever it says counts. */
  #precedes = false
  /** Time of the ping behind the stop; null while none has been sent on this connection. */
  #pingT: number | null = null
  #arrived = false

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
    this.#precedes = false
    this.#pingT = null
    this.#arrived = false
    if (this.#state !== null) this.#transmit()
    return this.#wish.promise
  }

  /** A connection is being made. */
  dialling(): void {
    this.#precedes = true
  }

  state(state: DriveState): void {
    const first = this.#state === null
    this.#state = state
    if (this.#wish === null) return
    const counts = this.#arrived || (first && this.#precedes)
    if (counts && state.stop?.latched && state.stop.recorded) this.#fulfil()
    else if (first) this.#transmit()
  }

  pong(t: number): void {
    if (this.#wish === null || this.#pingT === null || t < this.#pingT) return
    this.#arrived = true
    if (this.#state?.stop?.latched && this.#state.stop.recorded) this.#fulfil()
  }

  /** Called about once a second: sends the stop again where it seems to have come to nothing. */
  tick(): void {
    if (this.#wish === null || this.#state === null) return
    if (this.#pingT === null || (this.#arrived && !this.#state.stop?.latched)) this.#transmit()
  }

  offline(): void {
    this.#state = null
    this.#precedes = false
    this.#pingT = null
    this.#arrived = false
  }

  /** The link has ended: nobody is left who could fulfil it. */
  end(error: Error): void {
    this.#wish?.reject(error)
    this.#wish = null
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
