import {
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  type RequestId,
  type StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import type { ExitOutcome } from '../exit-codes.ts'
import { errorMessage, failure, outcomeOfRefusal, refusalOf } from './mcp-errors.ts'

/** Largest number of concurrent requests, against a client in a loop. */
const MAX_PENDING = 256
/** Timeout of a notification, so that one that hangs does not block later messages. */
const NOTIFICATION_TIMEOUT_MS = 10_000
/** Longest time to wait for responses after the client's input has ended. */
const DRAIN_LIMIT_MS = 30_000

export interface ForwarderOptions {
  /** The messages of the client: standard input. Closed when the input ends. */
  readonly local: Pick<Transport, 'start' | 'onmessage' | 'onerror' | 'onclose'>
  /** Writes a message to the client; works also after the client's input has ended. */
  readonly write: (message: JSONRPCMessage) => Promise<void>
  /** The platform's side. */
  readonly remote: StreamableHTTPClientTransport
  /** Origin of the platform, for messages. */
  readonly platform: string
  /** Reports failures outside of responses. */
  readonly report: (text: string) => void
  /** Ends the work at once, without waiting for answers. */
  readonly signal: AbortSignal
  readonly drainLimitMs?: number
}

/** Outcome of a client's requests. */
export interface ForwardingResult {
  /** Number of requests that the platform did not answer, plus responses that could not be written. */
  readonly undelivered: number
  /** Outcome of the last of them. */
  readonly outcome: ExitOutcome
}

interface Pending {
  readonly abort: AbortController
  /** The request names its protocol version. Aborting the HTTP request then cancels it on the platform. */
  readonly enveloped: boolean
  readonly initialize: boolean
}

/**
 * Forwards MCP messages between a client and the platform, unchanged. Answers every request of the client once: with
 * the platform's response, or with an error that says why the platform did not respond.
 */
export class McpForwarder {
  readonly #options: ForwarderOptions
  readonly #pending = new Map<RequestId, Pending>()
  /** Settles when all notifications so far are sent, because later requests may depend on them. */
  #notificationsSent: Promise<void> = Promise.resolve()
  /** Settles when the write of every message so far has succeeded or failed. */
  #written: Promise<unknown> = Promise.resolve()
  #undelivered = 0
  #outcome: ExitOutcome = 'done'
  #drained: (() => void) | undefined

  constructor(options: ForwarderOptions) {
    this.#options = options
  }

  /** Forwards until the client's input has ended and every earlier request is answered, or until a timeout. */
  async run(): Promise<ForwardingResult> {
    const { local, remote, platform, report, signal } = this.#options
    const closed = Promise.withResolvers<void>()
    local.onmessage = (message) => this.#fromClient(message)
    local.onerror = (cause) => report(cause.message)
    local.onclose = () => closed.resolve()
    remote.onmessage = (message) => this.#fromPlatform(message)
    // Called for every message and every stream that fails.
    remote.onerror = (cause) => report(errorMessage(cause, platform))
    await remote.start()
    await local.start()
    await closed.promise
    if (!signal.aborted) await this.#drain()
    for (const { abort } of this.#pending.values()) abort.abort()
    this.#pending.clear()
    return { undelivered: this.#undelivered, outcome: this.#outcome }
  }

  /** Waits for the answers to all pending requests. */
  async #drain(): Promise<void> {
    const { signal, drainLimitMs = DRAIN_LIMIT_MS } = this.#options
    const limit = AbortSignal.any([signal, AbortSignal.timeout(drainLimitMs)])
    const limitReached = new Promise<void>((resolve) =>
      limit.addEventListener('abort', () => resolve(), { once: true }),
    )
    const answered = new Promise<void>((resolve) => {
      this.#drained = resolve
      this.#settle()
    })
    await Promise.race([limitReached, Promise.all([answered, this.#notificationsSent])])
    if (signal.aborted) return
    const seconds = drainLimitMs / 1000
    for (const [id, { abort }] of this.#pending) {
      this.#refuse(id, new Error(`no response within ${seconds} s after the input had ended`))
      abort.abort()
    }
    await Promise.race([limitReached, this.#written])
  }

  /** Removes an answered request. */
  #settle(id?: RequestId): void {
    if (id !== undefined) this.#pending.delete(id)
    if (this.#pending.size === 0) this.#drained?.()
  }

  #fromClient(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message)) void this.#forwardRequest(message)
    else if (isJSONRPCNotification(message)) this.#forwardNotification(message)
    else this.#forward(message)
  }

  async #forwardRequest(request: JSONRPCRequest): Promise<void> {
    const { id } = request
    if (this.#pending.size >= MAX_PENDING)
      return this.#answer(failure(id, 'Too many concurrent requests. Wait for responses.'))
    const pending = {
      abort: new AbortController(),
      enveloped: request.params?._meta?.[PROTOCOL_VERSION_META_KEY] !== undefined,
      initialize: isInitializeRequest(request),
    }
    this.#pending.set(id, pending)
    const isOpen = () => this.#pending.get(id) === pending
    await this.#notificationsSent
    if (!isOpen()) return
    try {
      await this.#options.remote.send(request, {
        requestSignal: pending.abort.signal,
        onRequestStreamEnd: () => {
          if (isOpen()) this.#refuse(id, new Error('the connection ended before the response'))
        },
      })
    } catch (cause) {
      if (isOpen()) this.#refuse(id, cause)
    }
  }

  #refuse(id: RequestId, cause: unknown): void {
    const outcome = outcomeOfRefusal(cause)
    if (outcome !== 'done') this.#countUndelivered(outcome)
    this.#answer(refusalOf(id, cause, this.#options.platform))
    this.#settle(id)
  }

  #countUndelivered(outcome: ExitOutcome): void {
    this.#undelivered++
    this.#outcome = outcome
  }

  #forwardNotification(notification: JSONRPCNotification): void {
    const cancelled = this.#cancelled(notification)
    if (!cancelled?.enveloped) this.#forward(notification)
    if (cancelled) void this.#notificationsSent.then(() => cancelled.abort.abort())
  }

  /** Removes the request that a notification cancels. It gets no response. @returns the request, if any */
  #cancelled({ method, params }: JSONRPCNotification): Pending | undefined {
    const id = method === 'notifications/cancelled' ? params?.requestId : undefined
    if (typeof id !== 'string' && typeof id !== 'number') return undefined
    const pending = this.#pending.get(id)
    this.#settle(id)
    return pending
  }

  #forward(message: JSONRPCMessage): void {
    const signal = () => AbortSignal.timeout(NOTIFICATION_TIMEOUT_MS)
    this.#notificationsSent = this.#notificationsSent
      .then(() => this.#options.remote.send(message, { requestSignal: signal() }))
      .catch(() => {}) // reported through onerror
  }

  #fromPlatform(message: JSONRPCMessage): void {
    const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)
    if (isAnswer && message.id !== undefined) {
      const pending = this.#pending.get(message.id)
      // The client has cancelled it, or has already received an error.
      if (!pending) return
      if (pending.initialize) this.#negotiated(message)
      this.#answer(message)
      this.#settle(message.id)
    } else this.#answer(message)
  }

  /** Sets the negotiated protocol version for all later requests. */
  #negotiated(message: JSONRPCMessage): void {
    const version = isJSONRPCResultResponse(message) ? message.result.protocolVersion : undefined
    if (typeof version === 'string') this.#options.remote.setProtocolVersion(version)
  }

  #answer(message: JSONRPCMessage): void {
    const written = this.#options.write(message).catch((cause: Error) => {
      this.#countUndelivered('refused')
      this.#options.report(cause.message)
    })
    this.#written = Promise.all([this.#written, written])
  }
}
