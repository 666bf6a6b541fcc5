/** A message that a newer one of its channel can replace. */
export interface ReplaceableMessage {
  /** Whether the message needs the ones before it, back to a keyframe. */
  readonly isVideo: boolean
  /** Whether a video message can be decoded without the ones before. */
  readonly isKeyframe: boolean
}

/**
 * Sends messages of several channels over one connection. While the connection has too many bytes to send, only the newest
 * message of each channel waits. Video continues with a keyframe after a message was left out, and begins with one.
 */
export class LatestWins<Key, Message extends ReplaceableMessage> {
  readonly #limitBytes: number
  readonly #bufferedBytes: () => number
  readonly #write: (key: Key, message: Message) => void
  readonly #onSkipped: ((key: Key) => void) | undefined
  readonly #waiting = new Map<Key, Message>()
  /** Video channels whose next message the reader can decode. */
  readonly #decodable = new Set<Key>()
  #dropped = 0

  constructor(options: {
    readonly limitBytes: number
    /** Returns the bytes that the connection has not sent yet. */
    readonly bufferedBytes: () => number
    readonly write: (key: Key, message: Message) => void
    /** Called for a video channel that has become unreadable until its next keyframe. */
    readonly onSkipped?: (key: Key) => void
  }) {
    this.#limitBytes = options.limitBytes
    this.#bufferedBytes = options.bufferedBytes
    this.#write = options.write
    this.#onSkipped = options.onSkipped
  }

  /** Messages that were replaced or skipped. */
  get dropped(): number {
    return this.#dropped
  }

  /** The number of messages that wait: at most one for each channel. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Sends a message, or lets it wait for the connection. */
  add(key: Key, message: Message): void {
    const isDelta = message.isVideo && !message.isKeyframe
    if (isDelta && !this.#decodable.has(key)) {
      this.#dropped++
      return
    }
    if (message.isVideo) this.#decodable.add(key)
    this.flush()
    if (this.#waiting.size === 0 && this.#bufferedBytes() <= this.#limitBytes) {
      this.#write(key, message)
    } else if (isDelta) {
      this.#skip(key)
    } else {
      // Deleting first makes the newest message the last in the order, so that a busy channel does not delay others.
      if (this.#waiting.delete(key)) this.#dropped++
      this.#waiting.set(key, message)
    }
  }

  /** Sends messages that wait, as far as the connection accepts them. Call it after the connection has sent something. */
  flush(): void {
    for (const [key, message] of this.#waiting) {
      if (this.#bufferedBytes() > this.#limitBytes) return
      this.#waiting.delete(key)
      this.#write(key, message)
    }
  }

  /** Forgets a channel. */
  remove(key: Key): void {
    this.#waiting.delete(key)
    this.#decodable.delete(key)
  }

  /** Forgets all channels, after a jump in time. */
  clear(): void {
    this.#waiting.clear()
    this.#decodable.clear()
  }

  #skip(key: Key): void {
    this.#dropped++
    this.#decodable.delete(key)
    this.#onSkipped?.(key)
  }
}
