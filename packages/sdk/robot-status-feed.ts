import { RobotStatusEvent } from '@wheelhouse/protocol'
import { Backoff, type BackoffOptions } from './backoff.ts'
import { isFinalRefusal } from './errors.ts'
import type { HubConnection } from './hub-connection.ts'
import { safeCallback } from './safe-callback.ts'

/** All robots that the caller may see, which replace all earlier ones, or the new status of one robot. */
export type RobotsUpdate =
  | { readonly kind: 'list'; readonly robots: readonly RobotStatusEvent[] }
  | { readonly kind: 'status'; readonly robot: RobotStatusEvent }

export interface RobotStatusFeedOptions {
  readonly connection: HubConnection
  readonly handler: (update: RobotsUpdate) => void
  readonly onError?: (cause: unknown) => void
  readonly retry?: BackoffOptions
}

/** Events that may wait while the list of robots is read. */
const MAX_DEFERRED = 10_000

/** Follows robots: the list, then changes; a new list after every reconnect. */
export class RobotStatusFeed {
  readonly #options: RobotStatusFeedOptions
  readonly #backoff: Backoff
  readonly #listed = Promise.withResolvers<void>()
  /** Changes that arrived during the request for the list, the newest of each robot. */
  readonly #deferred = new Map<string, RobotStatusEvent>()
  #overflowed = false
  #isFetching = false
  #current = false
  #closed = false
  #retryTimer: NodeJS.Timeout | undefined

  constructor(options: RobotStatusFeedOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.retry)
    this.#listed.promise.catch(() => {})
  }

  /** Resolves with the first list; rejects when the hub refuses or the feed closes before it. */
  get listed(): Promise<void> {
    return this.#listed.promise
  }

  /** Handles a pushed `robot:status`. */
  push(payload: unknown): void {
    const parsed = RobotStatusEvent.safeParse(payload)
    if (this.#closed) return
    if (!parsed.success) this.#report(parsed.error)
    else if (this.#current) this.#notify({ kind: 'status', robot: parsed.data })
    else this.#defer(parsed.data)
  }

  /** Requests the list. Call it after every connect. */
  async resync(): Promise<void> {
    clearTimeout(this.#retryTimer)
    this.#current = false
    if (this.#isFetching || this.#closed) return
    this.#isFetching = true
    try {
      const { robots } = await this.#options.connection.call('robots:watch', {})
      this.#isFetching = false
      if (!this.#closed) this.#onList(robots)
    } catch (cause) {
      this.#isFetching = false
      if (!this.#closed) this.#onFailure(cause)
    }
  }

  /** Closes the feed. */
  close(cause: unknown): void {
    this.#closed = true
    clearTimeout(this.#retryTimer)
    this.#deferred.clear()
    this.#listed.reject(cause)
  }

  /** Defers a change until the list arrives, because an older list would undo it. */
  #defer(robot: RobotStatusEvent): void {
    if (this.#deferred.size < MAX_DEFERRED || this.#deferred.has(robot.robot_id)) {
      this.#deferred.set(robot.robot_id, robot)
    } else this.#overflowed = true
  }

  #onList(robots: RobotStatusEvent[]): void {
    this.#backoff.reset()
    this.#notify({ kind: 'list', robots })
    for (const robot of this.#deferred.values()) this.#notify({ kind: 'status', robot })
    this.#deferred.clear()
    this.#current = true
    this.#listed.resolve()
    if (!this.#overflowed) return
    // The feed dropped changes: another list contains them.
    this.#overflowed = false
    void this.resync()
  }

  #onFailure(cause: unknown): void {
    this.#deferred.clear()
    if (isFinalRefusal(cause)) this.close(cause)
    else if (!this.#options.connection.connected) return
    else this.#retryTimer = setTimeout(() => void this.resync(), this.#backoff.nextDelayMs())
    this.#report(cause)
  }

  #notify(update: RobotsUpdate): void {
    if (this.#closed) return
    safeCallback(this.#options.onError, () => this.#options.handler(update))
  }

  #report(cause: unknown): void {
    safeCallback(undefined, () => this.#options.onError?.(cause))
  }
}
