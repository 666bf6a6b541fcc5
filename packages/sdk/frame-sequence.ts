/**
 * Decides which frames a robot handles when they arrive over two transports: none that a newer one has overtaken, none twice, and no
 * command before the session that it belongs to. The gateway numbers the frames of a connection once it has answered an offer; frames
 * without a number are handled as they arrive. See "Order at the robot" in docs/protocol-data-channel.md.
 */
export class FrameSequence {
  #last = 0
  #lastSession = 0
  /** The newest latched stop, or end of one. */
  #lastLatch = 0
  #lastLimits = 0

  /** Forgets the frames of the last connection. */
  reset(): void {
    this.#last = this.#lastSession = this.#lastLatch = this.#lastLimits = 0
  }

  /** Notes a session frame, which only the WebSocket carries. */
  session(order: number | undefined): void {
    if (order === undefined) return
    this.#lastSession = order
    this.#last = Math.max(this.#last, order)
  }

  /**
   * Returns whether to handle a control frame, or a stop that is not latched.
   * @param after the order of the session frame that must have arrived before
   */
  accept(order: number | undefined, after = 0): boolean {
    if (order === undefined) return true
    if (order <= this.#last || after > this.#lastSession) return false
    this.#last = order
    return true
  }

  /**
   * Returns whether to handle a latched stop, or the end of one. They are compared with each other only: the end arrives over the
   * WebSocket, perhaps after a later stop has arrived over the data channel.
   */
  acceptLatch(order: number | undefined): boolean {
    if (order === undefined) return true
    if (order <= this.#lastLatch) return false
    this.#lastLatch = order
    this.#last = Math.max(this.#last, order)
    return true
  }

  /** Returns whether to handle the allowed speed. */
  acceptLimits(order: number | undefined, after = 0): boolean {
    if (order === undefined) return true
    if (order <= this.#lastLimits || after > this.#lastSession) return false
    this.#lastLimits = order
    return true
  }
}
