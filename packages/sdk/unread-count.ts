import { type NotificationEvent, NotificationReadEvent } from '@wheelhouse/protocol'
import { Backoff, type BackoffOptions } from './backoff.ts'
import { isFinalRefusal } from './errors.ts'
import type { HubConnection } from './hub-connection.ts'
import { safeCallback } from './safe-callback.ts'

/** Number of unread notifications. `read` names the notifications that the user has just read, if known. */
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

/** Id above all notifications, so that the hub returns only the counts. */
const MAX_NOTIFICATION_ID = '999999999'

/** Follows the number of unread notifications: the number after every connect, then changes. */
export class UnreadCount {
  readonly #options: UnreadCountOptions
  readonly #backoff: Backoff
  readonly #known = Promise.withResolvers<void>()
  #count: UnreadSnapshot | undefined
  #isFetching = false
  /** A change arrived after the pending request was sent. */
  #stale = false
  #closed = false
  #retryTimer: NodeJS.Timeout | undefined

  constructor(options: UnreadCountOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.retry)
    this.#known.promise.catch(() => {})
  }

  /** Resolves with the first number; rejects when the hub refuses or the client closes before it. */
  get known(): Promise<void> {
    return this.#known.promise
  }

  /** Handles a pushed `notification:read`. */
  pushRead(payload: unknown): void {
    if (this.#closed) return
    const read = NotificationReadEvent.parse(payload)
    this.#apply({ head: Number(read.head), unread: read.unread }, read)
  }

  /** Handles a pushed `notification`: increments the count, or requests it after a gap. */
  pushNotification({ id }: NotificationEvent): void {
    const number = Number(id)
    if (this.#closed || (this.#count && number <= this.#count.head)) return
    if (this.#count && number === this.#count.head + 1) {
      this.#apply({ head: number, unread: this.#count.unread + 1 })
    } else void this.resync()
  }

  /** Requests the number. Call it after every connect. */
  async resync(): Promise<void> {
    clearTimeout(this.#retryTimer)
    this.#stale = true
    if (this.#isFetching || this.#closed) return
    this.#isFetching = true
    try {
      while (this.#stale && !this.#closed) {
        this.#stale = false
        const answer = await this.#options.connection.call('notifications:since', {
          after: MAX_NOTIFICATION_ID,
        })
        if (answer.unread === undefined) throw new Error('this hub does not count unread notifications')
        this.#backoff.reset()
        this.#apply({ head: Number(answer.head), unread: answer.unread })
        this.#known.resolve()
      }
    } catch (cause) {
      if (!this.#closed) this.#onFailure(cause)
    } finally {
      this.#isFetching = false
    }
  }

  /** Stops following. */
  close(cause: unknown): void {
    this.#closed = true
    clearTimeout(this.#retryTimer)
    this.#known.reject(cause)
  }

  /** Applies a count if it is newer. Responses and events may overtake each other: only a higher head raises a count. */
  #apply(next: UnreadSnapshot, read?: NotificationReadEvent): void {
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
