import type { ChatMessage, HubCommand } from '@wheelhouse/protocol'
import { NotConnectedError, UnacknowledgedError } from './errors.ts'
import type { HubConnection } from './hub-connection.ts'
import { KeyedMutex } from './keyed-mutex.ts'

/** Without an acknowledgement on an open connection, the outbox repeats the message after this time. */
const ACK_TIMEOUT_MS = 5_000
const MAX_PENDING = 200

/** Sends each chat message until the hub acknowledges it. The hub detects repetitions by `client_message_id`. */
export class ChatOutbox {
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
