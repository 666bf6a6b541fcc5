import { Backoff, type BackoffOptions } from './backoff.ts'
import { isFinalRefusal } from './errors.ts'
import { safeCallback } from './safe-callback.ts'

/** One page of a log: entries after the asked number, oldest first, and the number of the newest entry. */
export interface FeedPage<T> {
  readonly items: readonly T[]
  readonly head: number
}

export interface OrderedFeedOptions<T> {
  /** Number of the last entry that the caller already has; 0 for none. */
  readonly after: number
  readonly numberOf: (item: T) => number
  /** Asks the server for entries after `after`; also (re)subscribes to live entries. */
  readonly ask: (after: number) => Promise<FeedPage<T>>
  readonly deliver: (item: T) => void
  /** Whether asking makes sense now; after an outage `resync()` is called. */
  readonly isOnline: () => boolean
  /** The server's log is shorter than what was delivered: it starts over, and so does this feed. */
  readonly onReset?: () => void
  /** The server will not give this log; the feed has closed itself. `onError` is told too. */
  readonly onRefused?: () => void
  readonly onError?: (cause: unknown) => void
  readonly retry?: BackoffOptions
  /** Live entries kept while waiting for what lies before them. Default 1,000. */
  readonly bufferLimit?: number
}

/**
 * Turns live entries (which may be lost, repeated or out of order) and pages of the log into every entry exactly
 * once, in order. At most one question to the server is open at a time.
 */
export class OrderedFeed<T> {
  readonly #options: OrderedFeedOptions<T>
  readonly #backoff: Backoff
  readonly #bufferLimit: number
  readonly #buffer = new Map<number, T>()
  readonly #caughtUp = Promise.withResolvers<void>()
  #last: number
  #wanted = false
  #asking = false
  #closed = false
  /** Questions in a row that brought nothing although something is missing. */
  #emptyAnswers = 0
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

  /** Live entries that wait for what lies before them. */
  get buffered(): number {
    return this.#buffer.size
  }

  /** Resolves when the head was reached for the first time; rejects when the feed is refused or closed before. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise
  }

  /** Takes a live entry. */
  push(item: T): void {
    const number = this.#options.numberOf(item)
    if (this.#closed || !Number.isSafeInteger(number) || number <= this.#last) return
    this.#buffer.set(number, item)
    this.#drain()
    if (this.#buffer.size === 0 || this.#closed) return
    // Whatever is dropped here is asked for again: the log has it.
    if (this.#buffer.size > this.#bufferLimit) this.#buffer.clear()
    if (this.#retryTimer === undefined) this.resync()
  }

  /** Asks for everything after the last delivered entry; call it on every connection. */
  resync(): void {
    clearTimeout(this.#retryTimer)
    this.#retryTimer = undefined
    this.#wanted = true
    if (!this.#asking && !this.#closed) void this.#askAll()
  }

  /** Stops for good. */
  close(cause: unknown = new Error('no longer watched')): void {
    this.#closed = true
    clearTimeout(this.#retryTimer)
    this.#buffer.clear()
    this.#caughtUp.reject(cause)
  }

  async #askAll(): Promise<void> {
    this.#asking = true
    while (this.#wanted && !this.#closed) {
      this.#wanted = false
      const after = this.#last
      try {
        const page = await this.#options.ask(after)
        if (!this.#closed) this.#take(page, after)
      } catch (cause) {
        if (!this.#closed) this.#onFailure(cause)
      }
    }
    this.#asking = false
  }

  #take({ items, head }: FeedPage<T>, after: number): void {
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
      this.#emptyAnswers = 0
      this.#backoff.reset()
      this.#caughtUp.resolve()
      return
    }
    this.#emptyAnswers = this.#last > after ? 0 : this.#emptyAnswers + 1
    // Once is a live entry that overtook the answer; twice is a server that withholds part of its log.
    if (this.#emptyAnswers > 1) throw new Error(`the hub does not give the entries after ${this.#last}`)
    this.#wanted = true
  }

  #restart(): void {
    this.#last = 0
    this.#buffer.clear()
    this.#wanted = true
    safeCallback(this.#options.onError, () => this.#options.onReset?.())
  }

  /** Delivers what the buffer has next in line. */
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
    // Counted before the call: a handler that throws has still been given the entry.
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
    this.#wanted = false
    // Offline, the next connection calls resync().
    if (!this.#options.isOnline()) return
    this.#report(cause)
    this.#retryTimer = setTimeout(() => this.resync(), this.#backoff.nextDelayMs())
  }

  #report(cause: unknown): void {
    safeCallback(undefined, () => this.#options.onError?.(cause))
  }
}
