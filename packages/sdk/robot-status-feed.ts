import { RobotStatusEvent } from '@wheelhouse/protocol'
import { Backoff, type BackoffOptions } from './backoff.ts'
import { isFinalRefusal } from './errors.ts'
import type { HubConnection } from './hub-connection.ts'
import { safeCallback } from './safe-callback.ts'

/** Either all robots the caller may see, replacing what was known, or the new status of one. */
export type RobotsUpdate =
  | { readonly kind: 'list'; readonly robots: readonly RobotStatusEvent[] }
  | { readonly kind: 'status'; readonly robot: RobotStatusEvent }

export interface RobotStatusFeedOptions {
  readonly connection: HubConnection
  readonly handler: (update: RobotsUpdate) => void
  readonly onError?: (cause: unknown) => void
  readonly retry?: BackoffOptions
}

const MAX_DEFERRED = 10_000

/** Follows robots: the list, then changes; a fresh list after every reconnect. */
export class RobotStatusFeed {
  readonly #options: RobotStatusFeedOptions
  readonly #backoff: Backoff
  readonly #listed = Promise.withResolvers<void>()
  /** Changes that arrived while the list was under way, newest per robot. */
  readonly #deferred = new Map<string, RobotStatusEvent>()
  #overflowed = false
  #asking = false
  #current = false
  #closed = false
  #retryTimer: NodeJS.Timeout | undefined

  constructor(options: RobotStatusFeedOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.retry)
    this.#listed.promise.catch(() => {})
  }

  /** Resolves with the first list; rejects when refused or closed before. */
  get listed(): Promise<void> {
    return this.#listed.promise
  }

  /** Takes a pushed `robot:status`. */
  push(payload: unknown): void {
    const parsed = RobotStatusEvent.safeParse(payload)
    if (this.#closed) return
    if (!parsed.success) this.#report(parsed.error)
    else if (this.#current) this.#notify({ kind: 'status', robot: parsed.data })
    else this.#defer(parsed.data)
  }

  /** Asks for the list; call it on every connection. */
  async resync(): Promise<void> {
    clearTimeout(this.#retryTimer)
    this.#current = false
    if (this.#asking || this.#closed) return
    this.#asking = true
    try {
      const { robots } = await this.#options.connection.call('robots:watch', {})
      this.#asking = false
      if (!this.#closed) this.#onList(robots)
    } catch (cause) {
      this.#asking = false
      if (!this.#closed) this.#onFailure(cause)
    }
  }

  /** Stops for good. */
  close(cause: unknown): void {
    this.#closed = true
    clearTimeout(this.#retryTimer)
    this.#deferred.clear()
    this.#listed.reject(cause)
  }

  /** A change that is told before an older list would be undone by it. */
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
    // Too much came at once to hold it all: one more list has it.
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
