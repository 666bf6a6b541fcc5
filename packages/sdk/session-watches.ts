import { MAX_WATCHED_SESSIONS, SessionLogEvent, TypingEvent, type WatchedSession } from '@wheelhouse/protocol'
import type { BackoffOptions } from './backoff.ts'
import { HubClosedError, isFinalRefusal, NotConnectedError, UnacknowledgedError } from './errors.ts'
import type { HubConnection } from './hub-connection.ts'
import { KeyedMutex } from './keyed-mutex.ts'
import { OrderedFeed } from './ordered-feed.ts'
import { safeCallback } from './safe-callback.ts'

export interface WatchHandlers {
  /** Called for every entry of the session's log after `after`, exactly once, in order of `seq`. */
  readonly onEvent: (event: SessionLogEvent) => void
  /** Called with the current session at the start and after every resync. */
  readonly onSession?: (session: WatchedSession) => void
  /** Called when the hub's log is shorter than the delivered part. Discard it: delivery starts over at 1. */
  readonly onReset?: () => void
  /** Called when another participant types. Such events may be lost. */
  readonly onTyping?: (typing: TypingEvent) => void
  /** Default: the client's `onError`. */
  readonly onError?: (cause: unknown) => void
}

interface Watch {
  readonly feed: OrderedFeed<SessionLogEvent>
  readonly handlers: WatchHandlers
}

/** Watches sessions, each with its own gapless feed. */
export class SessionWatches {
  readonly #connection: HubConnection
  readonly #retry: BackoffOptions
  readonly #onError: ((cause: unknown) => void) | undefined
  readonly #watches = new Map<string, Watch>()
  /** Serializes `session:watch` and `session:unwatch` of the same session. */
  readonly #mutex = new KeyedMutex()

  constructor(connection: HubConnection, retry: BackoffOptions, onError?: (cause: unknown) => void) {
    this.#connection = connection
    this.#retry = retry
    this.#onError = onError
  }

  /** Implements `HubClient.watch`. */
  watch(sessionId: string, handlers: WatchHandlers, after: number): Promise<void> {
    if (this.#connection.closed) throw new HubClosedError('the hub client is closed')
    if (this.#watches.has(sessionId)) throw new Error('this client already watches the session')
    if (this.#watches.size >= MAX_WATCHED_SESSIONS)
      throw new Error(`a client can watch at most ${MAX_WATCHED_SESSIONS} sessions`)
    const onError = handlers.onError ?? this.#onError
    const feed = new OrderedFeed<SessionLogEvent>({
      after,
      numberOf: (event) => event.seq,
      fetchPage: async (last) => {
        const command = { session_id: sessionId, after: last }
        const answer = await this.#mutex.run(sessionId, () => this.#connection.call('session:watch', command))
        if (this.#watches.get(sessionId)?.feed === feed)
          safeCallback(onError, () => handlers.onSession?.(answer.session))
        return { items: answer.events, head: answer.head }
      },
      deliver: handlers.onEvent,
      isOnline: () => this.#connection.connected,
      onRefused: () => this.#watches.delete(sessionId),
      retry: this.#retry,
      ...(handlers.onReset ? { onReset: handlers.onReset } : {}),
      ...(onError ? { onError } : {}),
    })
    this.#watches.set(sessionId, { feed, handlers })
    if (this.#connection.connected) feed.resync()
    return feed.caughtUp
  }

  /** Implements `HubClient.unwatch`. */
  async unwatch(sessionId: string): Promise<void> {
    const watch = this.#watches.get(sessionId)
    if (!watch) return
    this.#watches.delete(sessionId)
    watch.feed.close()
    try {
      await this.#mutex.run(sessionId, () =>
        this.#connection.call('session:unwatch', { session_id: sessionId }),
      )
    } catch (cause) {
      // The hub removes a lost connection from the room.
      const disconnected = cause instanceof NotConnectedError || cause instanceof UnacknowledgedError
      if (!disconnected && !isFinalRefusal(cause)) throw cause
    }
  }

  /** Requests missed entries. Call it after every connect. */
  resync(): void {
    for (const { feed } of this.#watches.values()) feed.resync()
  }

  /** Handles a pushed `session:event`. */
  pushEvent(payload: unknown): void {
    const event = SessionLogEvent.parse(payload)
    this.#watches.get(event.session_id)?.feed.push(event)
  }

  /** Handles a pushed `chat:typing`. */
  pushTyping(payload: unknown): void {
    const typing = TypingEvent.parse(payload)
    const handlers = this.#watches.get(typing.session_id)?.handlers
    safeCallback(handlers?.onError ?? this.#onError, () => handlers?.onTyping?.(typing))
  }

  /** Closes all feeds. */
  close(cause: Error): void {
    for (const { feed } of this.#watches.values()) feed.close(cause)
    this.#watches.clear()
  }
}
