import { Backoff, type BackoffOptions } from './backoff.ts'
import { isFinalRefusal } from './errors.ts'
import { safeCallback } from './safe-callback.ts'

/** One page of a log: entries after the requested number, oldest first, and the number of the newest entry. */
export interface FeedPage<T> {
  readonly items: readonly T[]
  readonly head: number
}

export interface OrderedFeedOptions<T> {
  /** Number of the last entry that the caller already has; 0 for none. */
  readonly after: number
  readonly numberOf: (item: T) => number
  /** Requests entries after `after` from the server, and subscribes to live entries. */
  readonly fetchPage: (after: number) => Promise<FeedPage<T>>
  readonly deliver: (item: T) => void
  /** Returns whether the client is connected. After an outage, the client calls `resync()`. */
  readonly isOnline: () => boolean
  /** Called when the server's log is shorter than the delivered part. Delivery then starts over at 1. */
  readonly onReset?: () => void
  /** Called when the server refuses this log. The feed has closed itself and also calls `onError`. */
  readonly onRefused?: () => void
  readonly onError?: (cause: unknown) => void
  readonly retry?: BackoffOptions
  /** Largest number of live entries in the buffer while earlier ones are missing. Default 1,000. */
  readonly bufferLimit?: number
}

/**
 * Delivers every entry of a log exactly once, in order, from pages of the log and from live entries that may be lost,
 * repeated or out of order. Sends at most one request at a time.
 */
export class OrderedFeed<T> {
  readonly #options: OrderedFeedOptions<T>
  readonly #backoff: Backoff
  readonly #bufferLimit: number
  readonly #buffer = new Map<number, T>()
  readonly #caughtUp = Promise.withResolvers<void>()
  #last: number
  #resyncRequested = false
  #isFetching = false
  #closed = false
  /** Consecutive empty pages while entries are missing. */
  #emptyPages = 0
  #retryTimer: NodeJS.Timeout | undefined

  constructor(options: OrderedFeedOptions<T>) {
    this.#options = options
    this.#backoff = new Backoff(options.retry)
    this.#bufferLimit = options.bufferLimit ?? 1_000
    this.#last = options.after
    this.#caughtUp.promise.catch(() => {})
  }

  /** Number of the last delivered entry. */
  get last(): number {
    return this.#last
  }

  /** Number of live entries that wait for earlier ones. */
  get buffered(): number {
    return this.#buffer.size
  }

  /** Resolves when the feed reaches the head; rejects when the server refuses or the feed closes before. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise
  }

  /** Adds a live entry. */
  push(item: T): void {
    const number = this.#options.numberOf(item)
    if (this.#closed || !Number.isSafeInteger(number) || number <= this.#last) return
    this.#buffer.set(number, item)
    this.#drain()
    if (this.#buffer.size === 0 || this.#closed) return
    // The feed requests dropped entries again from the log.
    if (this.#buffer.size > this.#bufferLimit) this.#buffer.clear()
    if (this.#retryTimer === undefined) this.resync()
  }

  /** Requests everything after the last delivered entry. Call it after every connect. */
  resync(): void {
    clearTimeout(this.#retryTimer)
    this.#retryTimer = undefined
    this.#resyncRequested = true
    if (!this.#isFetching && !this.#closed) void this.#fetchAll()
  }

  /** Closes the feed. */
  close(cause: unknown = new Error('no longer watched')): void {
    this.#closed = true
    clearTimeout(this.#retryTimer)
    this.#buffer.clear()
    this.#caughtUp.reject(cause)
  }

  async #fetchAll(): Promise<void> {
    this.#isFetching = true
    while (this.#resyncRequested && !this.#closed) {
      this.#resyncRequested = false
      const after = this.#last
      try {
        const page = await this.#options.fetchPage(after)
        if (!this.#closed) this.#applyPage(page, after)
      } catch (cause) {
        if (!this.#closed) this.#onFailure(cause)
      }
    }
    this.#isFetching = false
  }

  #applyPage({ items, head }: FeedPage<T>, after: number): void {
    if (head < after) {
      this.#restart()
      return
    }
    for (const item of items) {
      const number = this.#options.numberOf(item)
      if (number <= this.#last) continue
      if (number !== this.#last + 1) throw new Error(`the log skips from ${this.#last} to ${number}`)
      this.#deliver(item, number)
      if (this.#closed) return
    }
    for (const number of this.#buffer.keys()) if (number <= this.#last) this.#buffer.delete(number)
    this.#drain()
    if (this.#closed) return
    const missing = head > this.#last || this.#buffer.size > 0
    if (!missing) {
      this.#emptyPages = 0
      this.#backoff.reset()
      this.#caughtUp.resolve()
      return
    }
    this.#emptyPages = this.#last > after ? 0 : this.#emptyPages + 1
    // One empty page: a live entry overtook the response. Two: the server withholds part of its log.
    if (this.#emptyPages > 1) throw new Error(`the hub does not return the entries after ${this.#last}`)
    this.#resyncRequested = true
  }

  #restart(): void {
    this.#last = 0
    this.#buffer.clear()
    this.#resyncRequested = true
    safeCallback(this.#options.onError, () => this.#options.onReset?.())
  }

  /** Delivers the buffered entries that are next in order. */
  #drain(): void {
    while (!this.#closed) {
      const number = this.#last + 1
      const next = this.#buffer.get(number)
      if (next === undefined) return
      this.#buffer.delete(number)
      this.#deliver(next, number)
    }
  }

  #deliver(item: T, number: number): void {
    // Counts the entry before the call: an entry whose handler throws is not delivered again.
    this.#last = number
    safeCallback(this.#options.onError, () => this.#options.deliver(item))
  }

  #onFailure(cause: unknown): void {
    if (isFinalRefusal(cause)) {
      this.close(cause)
      this.#options.onRefused?.()
      this.#report(cause)
      return
    }
    this.#resyncRequested = false
    // The next connection calls resync().
    if (!this.#options.isOnline()) return
    this.#report(cause)
    this.#retryTimer = setTimeout(() => this.resync(), this.#backoff.nextDelayMs())
  }

  #report(cause: unknown): void {
    safeCallback(undefined, () => this.#options.onError?.(cause))
  }
}
