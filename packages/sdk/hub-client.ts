import {
  type ChatMessage,
  type HubCommand,
  NotificationEvent,
  type SessionAction,
  type WatchedSession,
} from '@wheelhouse/protocol'
import { HubClosedError, NotConnectedError, UnacknowledgedError } from './errors.ts'
import { HubConnection, type HubConnectionOptions } from './hub-connection.ts'
import { KeyedMutex } from './keyed-mutex.ts'
import { OrderedFeed } from './ordered-feed.ts'
import { RobotStatusFeed, type RobotsUpdate } from './robot-status-feed.ts'
import { safeCallback } from './safe-callback.ts'
import { SessionWatches, type WatchHandlers } from './session-watches.ts'
import { UnreadCount, type UnreadUpdate } from './unread-count.ts'

/** Without an acknowledgement on an open connection, the outbox repeats the message after this time. */
const ACK_TIMEOUT_MS = 5_000
/** Chat messages that may wait for their acknowledgements. */
const MAX_PENDING = 200

/** Sends each chat message until the hub acknowledges it. The hub detects repetitions by `client_message_id`. */
class ChatOutbox {
  readonly #connection: HubConnection
  readonly #mutex = new KeyedMutex()
  #pending = 0

  constructor(connection: HubConnection) {
    this.#connection = connection
  }

  /**
   * Sends one message. Messages of one session are delivered in order.
   * @throws HubError for a refusal, UnacknowledgedError after `timeoutMs`, HubClosedError on close, Error when
   * too many messages are pending
   */
  async send(message: HubCommand<'chat:send'>, timeoutMs: number): Promise<ChatMessage> {
    if (this.#pending >= MAX_PENDING)
      throw new Error('too many chat messages are pending: wait for earlier ones')
    const deadlineMs = performance.now() + timeoutMs
    this.#pending += 1
    try {
      return await this.#mutex.run(message.session_id, () => this.#deliver(message, deadlineMs))
    } finally {
      this.#pending -= 1
    }
  }

  async #deliver(message: HubCommand<'chat:send'>, deadlineMs: number): Promise<ChatMessage> {
    let last: unknown
    for (;;) {
      const leftMs = deadlineMs - performance.now()
      if (leftMs <= 0) throw new UnacknowledgedError('the chat message was not acknowledged', { cause: last })
      try {
        await this.#connection.whenConnected(leftMs)
        const ackTimeoutMs = Math.min(ACK_TIMEOUT_MS, leftMs)
        const answer = await this.#connection.call('chat:send', message, ackTimeoutMs)
        return answer.message
      } catch (cause) {
        if (!(cause instanceof UnacknowledgedError || cause instanceof NotConnectedError)) throw cause
        last = cause
      }
    }
  }
}

/** Address of the hub, credential, and callbacks of the connection. */
export type HubClientOptions = HubConnectionOptions

/** How long a chat message may wait for its acknowledgement, unless the program sets another time. */
const CHAT_TIMEOUT_MS = 30_000

/**
 * A client of the hub: watches sessions, sends chat messages and session actions, and follows robots and
 * notifications across disconnects. You can subscribe before `connect()`; the client renews subscriptions on every
 * connection.
 */
export class HubClient {
  readonly #options: HubClientOptions
  readonly #connection: HubConnection
  readonly #watches: SessionWatches
  readonly #chat: ChatOutbox
  #robots: RobotStatusFeed | undefined
  #notifications: OrderedFeed<NotificationEvent> | undefined
  #unread: UnreadCount | undefined

  constructor(options: HubClientOptions) {
    this.#options = options
    this.#connection = new HubConnection({
      ...options,
      onConnected: () => {
        this.#resync()
        options.onConnected?.()
      },
      onClosed: (reason) => {
        this.#stop(reason)
        options.onClosed?.(reason)
      },
    })
    this.#chat = new ChatOutbox(this.#connection)
    this.#watches = new SessionWatches(this.#connection, options.reconnect ?? {}, options.onError)
    this.#listen()
  }

  /** Whether the client is connected now. */
  get connected(): boolean {
    return this.#connection.connected
  }

  /**
   * Connects, and stays connected until `close()` or until the credential is refused.
   * @returns resolves after the first connection; rejects with HubClosedError if the client closes before it
   */
  connect(): Promise<void> {
    return this.#connection.connect()
  }

  /** Closes the client. Rejects all pending promises. */
  close(): void {
    this.#connection.close()
  }

  /**
   * Delivers the log of a session after entry `after` (default 0: from the beginning), exactly once and in order.
   * @returns resolves when the log is caught up; rejects with HubError if the hub refuses, which ends the watch
   * @throws Error if the client already watches the session or is closed
   */
  watch(sessionId: string, handlers: WatchHandlers, { after = 0 }: { after?: number } = {}): Promise<void> {
    return this.#watches.watch(sessionId, handlers, after)
  }

  /** Stops watching. The client calls no handler of this session afterwards. */
  unwatch(sessionId: string): Promise<void> {
    return this.#watches.unwatch(sessionId)
  }

  /**
   * Sends a chat message, repeatedly across disconnects, until the hub acknowledges it. Repetitions have the same
   * `clientMessageId`, so the message appears once.
   * @throws HubError if refused, UnacknowledgedError after `timeoutMs` (default 30 s)
   */
  sendChat(
    sessionId: string,
    body: string,
    clientMessageId: string = crypto.randomUUID(),
    { timeoutMs = CHAT_TIMEOUT_MS }: { timeoutMs?: number } = {},
  ): Promise<ChatMessage> {
    const message = { session_id: sessionId, body, client_message_id: clientMessageId }
    return this.#chat.send(message, timeoutMs)
  }

  /**
   * Performs an action on a session. Sends it once: the caller decides whether to repeat an action of unknown outcome.
   * @throws HubError (refused), NotConnectedError (not sent), UnacknowledgedError (outcome unknown)
   */
  async action(sessionId: string, action: SessionAction, reason?: string): Promise<WatchedSession> {
    const command = { session_id: sessionId, action, ...(reason === undefined ? {} : { reason }) }
    const answer = await this.#connection.call('session:action', command)
    return answer.session
  }

  /** Notifies the other participants that the user types. Dropped without a connection. */
  typing(sessionId: string): void {
    this.#connection.call('chat:typing', { session_id: sessionId }).catch(() => {})
  }

  /**
   * Asks the hub for an answer: a hub that hangs, or a network that loses everything, ends no connection for a long time.
   * @returns resolves with the answer
   * @throws HubError (refused, so it answered), NotConnectedError, UnacknowledgedError after `timeoutMs`
   */
  async ping(timeoutMs?: number): Promise<void> {
    await this.#connection.call('ping', {}, timeoutMs)
  }

  /**
   * Follows the robots that the caller may see: a list (again after every reconnect), then changes.
   * @returns resolves with the first list; rejects with HubError if the hub refuses
   * @throws Error if the client already watches robots or is closed
   */
  watchRobots(handler: (update: RobotsUpdate) => void): Promise<void> {
    if (this.#connection.closed) throw new HubClosedError('the hub client is closed')
    if (this.#robots) throw new Error('this client already watches robots')
    const { onError, reconnect } = this.#options
    this.#robots = new RobotStatusFeed({
      connection: this.#connection,
      handler,
      ...(onError ? { onError } : {}),
      ...(reconnect ? { retry: reconnect } : {}),
    })
    if (this.connected) void this.#robots.resync()
    return this.#robots.listed
  }

  /**
   * Delivers the user's notifications after `after` (default '0': all), exactly once and in order.
   * @returns resolves when the notifications are caught up
   * @throws Error if the client already has a handler or is closed
   */
  onNotification(
    handler: (notification: NotificationEvent) => void,
    { after = '0' }: { after?: string } = {},
  ): Promise<void> {
    if (this.#connection.closed) throw new HubClosedError('the hub client is closed')
    if (this.#notifications) throw new Error('this client already has a notification handler')
    const { onError, reconnect } = this.#options
    this.#notifications = new OrderedFeed<NotificationEvent>({
      after: Number(after),
      numberOf: (notification) => Number(notification.id),
      fetchPage: async (last) => {
        const page = await this.#connection.call('notifications:since', { after: String(last) })
        return { items: page.notifications, head: Number(page.head) }
      },
      deliver: handler,
      isOnline: () => this.connected,
      ...(onError ? { onError } : {}),
      ...(reconnect ? { retry: reconnect } : {}),
    })
    if (this.connected) this.#notifications.resync()
    return this.#notifications.caughtUp
  }

  /**
   * Follows the number of unread notifications: the number (again after every reconnect), then every change. A read
   * through another connection or over REST arrives with its `notification:read`; reads during an outage only change
   * the number.
   * @returns resolves with the first number; rejects with HubError if the hub refuses
   * @throws Error if the client already watches unread notifications or is closed
   */
  watchUnread(handler: (update: UnreadUpdate) => void): Promise<void> {
    if (this.#connection.closed) throw new HubClosedError('the hub client is closed')
    if (this.#unread) throw new Error('this client already watches unread notifications')
    const { onError, reconnect } = this.#options
    this.#unread = new UnreadCount({
      connection: this.#connection,
      handler,
      ...(onError ? { onError } : {}),
      ...(reconnect ? { retry: reconnect } : {}),
    })
    if (this.connected) void this.#unread.resync()
    return this.#unread.known
  }

  /** Listens to pushed events. A malformed event goes to `onError`; the next resync delivers its entry again. */
  #listen(): void {
    const listen = (name: Parameters<HubConnection['on']>[0], handle: (payload: unknown) => void) =>
      this.#connection.on(name, (payload) => safeCallback(this.#options.onError, () => handle(payload)))
    listen('session:event', (payload) => this.#watches.pushEvent(payload))
    listen('chat:typing', (payload) => this.#watches.pushTyping(payload))
    listen('robot:status', (payload) => this.#robots?.push(payload))
    listen('notification', (payload) => {
      const notification = NotificationEvent.parse(payload)
      this.#notifications?.push(notification)
      this.#unread?.pushNotification(notification)
    })
    listen('notification:read', (payload) => this.#unread?.pushRead(payload))
  }

  #resync(): void {
    this.#watches.resync()
    this.#notifications?.resync()
    void this.#robots?.resync()
    void this.#unread?.resync()
  }

  #stop(reason: Error): void {
    this.#watches.close(reason)
    this.#notifications?.close(reason)
    this.#robots?.close(reason)
    this.#unread?.close(reason)
  }
}
