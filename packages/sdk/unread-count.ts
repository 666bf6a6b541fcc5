import { type NotificationEvent, NotificationReadEvent } from '@wheelhouse/protocol'
import { Backoff, type BackoffOptions } from './backoff.ts'
import { isFinalRefusal } from './errors.ts'
import type { HubConnection } from './hub-connection.ts'
import { safeCallback } from './safe-callback.ts'

/** How many notifications are unread; `read` says what has just been read, where that is known. */
export interface UnreadUpdate {
  readonly unread: number
  readonly read?: NotificationReadEvent
}

export interface UnreadCountOptions {
  readonly connection: HubConnection
  readonly handler: (update: UnreadUpdate) => void
  readonly onError?: (cause: unknown) => void
  readonly retry?: BackoffOptions
}

interface UnreadSnapshot {
  readonly head: number
  readonly unread: number
}

/** Asks for nothing but the counts: no notification is newer than this. */
const MAX_NOTIFICATION_ID = '999999999'

/** Follows how many notifications are unread: the number after every connect, then changes. */
export class UnreadCount {
  readonly #options: UnreadCountOptions
  readonly #backoff: Backoff
  readonly #known = Promise.withResolvers<void>()
  #count: UnreadSnapshot | undefined
  #asking = false
  /** Something arrived that the answer under way may not have seen. */
  #stale = false
  #closed = false
  #retryTimer: NodeJS.Timeout | undefined

  constructor(options: UnreadCountOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.retry)
    this.#known.promise.catch(() => {})
  }

  /** Resolves with the first number; rejects when refused or closed before. */
  get known(): Promise<void> {
    return this.#known.promise
  }

  /** Takes a pushed `notification:read`. */
  pushRead(payload: unknown): void {
    if (this.#closed) return
    const read = NotificationReadEvent.parse(payload)
    this.#take({ head: Number(read.head), unread: read.unread }, read)
  }

  /** Takes a pushed `notification`: one more, if it is the next. */
  pushNotification({ id }: NotificationEvent): void {
    const number = Number(id)
    if (this.#closed || (this.#count && number <= this.#count.head)) return
    if (this.#count && number === this.#count.head + 1) {
      this.#take({ head: number, unread: this.#count.unread + 1 })
    } else void this.resync()
  }

  /** Asks for the number; call it on every connection. */
  async resync(): Promise<void> {
    clearTimeout(this.#retryTimer)
    this.#stale = true
    if (this.#asking || this.#closed) return
    this.#asking = true
    try {
      while (this.#stale && !this.#closed) {
        this.#stale = false
        const answer = await this.#options.connection.call('notifications:since', {
          after: MAX_NOTIFICATION_ID,
        })
        if (answer.unread === undefined) throw new Error('this hub does not count unread notifications')
        this.#backoff.reset()
        this.#take({ head: Number(answer.head), unread: answer.unread })
        this.#known.resolve()
      }
    } catch (cause) {
      if (!this.#closed) this.#onFailure(cause)
    } finally {
      this.#asking = false
    }
  }

  /** Stops for good. */
  close(cause: unknown): void {
    this.#closed = true
    clearTimeout(this.#retryTimer)
    this.#known.reject(cause)
  }

  /** Answers and events may overtake each other: reading only lowers a count, and only a higher head raises it. */
  #take(next: UnreadSnapshot, read?: NotificationReadEvent): void {
    const old = this.#count
    if (this.#closed) return
    if (old && (next.head < old.head || (next.head === old.head && next.unread > old.unread))) return
    this.#count = next
    const unchanged = old?.head === next.head && old.unread === next.unread && !read
    if (unchanged) return
    const update = { unread: next.unread, ...(read && { read }) }
    safeCallback(this.#options.onError, () => this.#options.handler(update))
  }

  #onFailure(cause: unknown): void {
    if (isFinalRefusal(cause)) this.close(cause)
    else if (!this.#options.connection.connected) return
    else this.#retryTimer = setTimeout(() => void this.resync(), this.#backoff.nextDelayMs())
    safeCallback(undefined, () => this.#options.onError?.(cause))
  }
}
