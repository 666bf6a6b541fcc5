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
import { explain, failure, refusalOf } from './mcp-refusal.ts'

/** More requests than this at a time are refused: nobody asks so much at once unless something runs wild. */
export const MAX_PENDING = 256
/** A notification has no answer; one that hangs must not hold up what comes behind it. */
const NOTIFICATION_TIMEOUT_MS = 10_000

export interface ForwarderParts {
  /** The client's side: standard input and output. */
  readonly local: Transport
  /** The platform's side. */
  readonly remote: StreamableHTTPClientTransport
  /** Origin of the platform, for messages. */
  readonly platform: string
  /** What went wrong beside an answer. */
  readonly report: (text: string) => void
}

interface Pending {
  readonly abort: AbortController
  /** Every request names its protocol version; then ending its HTTP request is how it is cancelled there. */
  readonly enveloped: boolean
  readonly initialize: boolean
}

/**
 * Passes MCP messages between a client and the platform as they are. Every request of the client is answered once:
 * by the platform, or with an error that says why the platform did not.
 */
export class McpForwarder {
  readonly #parts: ForwarderParts
  readonly #pending = new Map<RequestId, Pending>()
  /** Settles when the notifications so far have been passed on: what comes later may build on them. */
  #told: Promise<void> = Promise.resolve()

  constructor(parts: ForwarderParts) {
    this.#parts = parts
  }

  /** Forwards until the client's side closes; resolves then. */
  async run(): Promise<void> {
    const { local, remote, platform, report } = this.#parts
    const closed = Promise.withResolvers<void>()
    local.onmessage = (message) => this.#fromClient(message)
    local.onerror = (cause) => report(cause.message)
    local.onclose = () => closed.resolve()
    remote.onmessage = (message) => this.#fromPlatform(message)
    // Of every message and every stream that fails.
    remote.onerror = (cause) => report(explain(cause, platform))
    await remote.start()
    await local.start()
    await closed.promise
    for (const { abort } of this.#pending.values()) abort.abort()
    this.#pending.clear()
  }

  #fromClient(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message)) void this.#ask(message)
    else if (isJSONRPCNotification(message)) this.#tell(message)
    else this.#pass(message)
  }

  async #ask(request: JSONRPCRequest): Promise<void> {
    const { id } = request
    if (this.#pending.size >= MAX_PENDING) return this.#answer(failure(id, 'Too many requests at a time'))
    const pending = {
      abort: new AbortController(),
      enveloped: request.params?._meta?.[PROTOCOL_VERSION_META_KEY] !== undefined,
      initialize: isInitializeRequest(request),
    }
    this.#pending.set(id, pending)
    const isOpen = () => this.#pending.get(id) === pending
    await this.#told
    if (!isOpen()) return
    try {
      await this.#parts.remote.send(request, {
        requestSignal: pending.abort.signal,
        onRequestStreamEnd: () => {
          if (isOpen()) this.#refuse(id, new Error('the connection ended before the answer came'))
        },
      })
    } catch (cause) {
      if (isOpen()) this.#refuse(id, cause)
    }
  }

  #refuse(id: RequestId, cause: unknown): void {
    this.#pending.delete(id)
    this.#answer(refusalOf(id, cause, this.#parts.platform))
  }

  #tell(notification: JSONRPCNotification): void {
    const cancelled = this.#cancelled(notification)
    if (!cancelled?.enveloped) this.#pass(notification)
    if (cancelled) void this.#told.then(() => cancelled.abort.abort())
  }

  /** The request that is to be cancelled; it gets no answer any more. */
  #cancelled({ method, params }: JSONRPCNotification): Pending | undefined {
    const id = method === 'notifications/cancelled' ? params?.requestId : undefined
    if (typeof id !== 'string' && typeof id !== 'number') return undefined
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    return pending
  }

  #pass(message: JSONRPCMessage): void {
    const signal = () => AbortSignal.timeout(NOTIFICATION_TIMEOUT_MS)
    this.#told = this.#told
      .then(() => this.#parts.remote.send(message, { requestSignal: signal() }))
      .catch(() => {}) // onerror tells
  }

  #fromPlatform(message: JSONRPCMessage): void {
    const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)
    if (isAnswer && message.id !== undefined) {
      const pending = this.#pending.get(message.id)
      // Cancelled, or answered with an error meanwhile.
      if (!pending) return
      this.#pending.delete(message.id)
      if (pending.initialize) this.#negotiated(message)
    }
    this.#answer(message)
  }

  /** From now on every request to the platform carries the version both have agreed on. */
  #negotiated(message: JSONRPCMessage): void {
    const version = isJSONRPCResultResponse(message) ? message.result.protocolVersion : undefined
    if (typeof version === 'string') this.#parts.remote.setProtocolVersion(version)
  }

  #answer(message: JSONRPCMessage): void {
    this.#parts.local.send(message).catch((cause: Error) => this.#parts.report(cause.message))
  }
}
