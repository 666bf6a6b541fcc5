import {
  type AuthProvider,
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  parseJSONRPCMessage,
  type RequestId,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { Command } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { CommandAborted, type ExitOutcome, Failure, outcomeOf } from './lib/failure.ts'
import { version } from './lib/version.ts'

export const commands = { mcp: declareMcp }

/** Declares `wheelhouse mcp`: the platform's MCP server for clients that start a server as a process. */
function declareMcp(command: Command, action: CreateAction): void {
  command.action(action(serve))
}

/** Short, because the platform may be unreachable when the client exits. */
const TERMINATE_TIMEOUT_MS = 2_000

/**
 * Forwards MCP between standard input and output and the platform. After the end of the input, still forwards and
 * answers all requests that it has read: a stop that came through a pipe must not get lost.
 * @throws Failure when the platform did not answer a request
 */
async function serve(cli: Context): Promise<void> {
  // Throws before the protocol begins: a client shows the message as the reason why its server has not started.
  cli.identity.required()
  const local = new StdioServerTransport()
  const remote = new StreamableHTTPClientTransport(new URL('/api/mcp', cli.server), {
    authProvider: credentialOf(cli),
    requestInit: { headers: { 'User-Agent': `wheelhouse/${version}` } },
  })
  const interrupted = new AbortController()
  const leave = () => {
    // A client that has closed its output may still wait for its requests to be executed.
    const reads = !(cli.signal.reason instanceof CommandAborted && cli.signal.reason.outcome === 'done')
    if (reads) interrupted.abort(cli.signal.reason)
    void local.close()
  }
  cli.signal.addEventListener('abort', leave, { once: true })
  try {
    cli.signal.throwIfAborted()
    // Standard output carries the protocol and nothing else.
    const report = (text: string) => cli.out.note(text)
    const write = (message: JSONRPCMessage) => writeLine(cli, message)
    const { server: platform } = cli
    const forwarder = new McpForwarder({ local, write, remote, platform, report, signal: interrupted.signal })
    const { undelivered, outcome } = await forwarder.run()
    await terminateSession(remote)
    interrupted.signal.throwIfAborted()
    if (undelivered > 0)
      throw new Failure(outcome, `The platform did not answer ${undelivered} of the client's requests.`)
  } finally {
    cli.signal.removeEventListener('abort', leave)
    await remote.close()
  }
  cli.signal.throwIfAborted()
}

/** Writes one message to standard output, also when standard input has ended. */
function writeLine({ terminal }: Context, message: JSONRPCMessage): Promise<void> {
  return new Promise((resolve, reject) =>
    terminal.stdout.write(`${JSON.stringify(message)}\n`, (cause) => (cause ? reject(cause) : resolve())),
  )
}

/** Returns a provider of the stored credential, which renews it when the platform refuses it. */
function credentialOf({ token, identity }: Context): AuthProvider {
  let lastToken = ''
  return {
    token: async () => {
      lastToken = await token()
      return lastToken
    },
    onUnauthorized: async () => {
      if ((await identity.renewed(lastToken)) === undefined) throw new UnauthorizedError()
    },
  }
}

/** Terminates the MCP session on the platform, if one exists. */
async function terminateSession(remote: StreamableHTTPClientTransport): Promise<void> {
  const { promise: timedOut, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, TERMINATE_TIMEOUT_MS)
  await Promise.race([remote.terminateSession().catch(() => {}), timedOut])
  clearTimeout(timer)
}

/** Largest number of concurrent requests, against a client in a loop. */
const MAX_PENDING = 256
/** Timeout of a notification, so that one that hangs does not block later messages. */
const NOTIFICATION_TIMEOUT_MS = 10_000
/** Longest time to wait for responses after the client's input has ended. */
const DRAIN_LIMIT_MS = 30_000

interface ForwarderOptions {
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
interface ForwardingResult {
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

/** Error code for a request without a response of the platform. JSON-RPC reserves -32000 to -32099 for servers. */
const NO_ANSWER = -32000

const MAX_QUOTED = 300

/** Returns the error response for a request that the platform did not answer: why, and what to do. */
function refusalOf(id: RequestId, cause: unknown, platform: string): JSONRPCErrorResponse {
  const reported = answerIn(cause)
  if (reported) return { ...reported, id }
  const status = statusOf(cause)
  return failure(id, errorMessage(cause, platform), status === 0 ? undefined : { status })
}

/** Returns the outcome of a failed request; `done` if the platform returned a JSON-RPC error. */
function outcomeOfRefusal(cause: unknown): ExitOutcome {
  if (answerIn(cause)) return 'done'
  return cause instanceof Failure ? cause.outcome : outcomeOf(statusOf(cause))
}

function failure(id: RequestId, message: string, data?: object): JSONRPCErrorResponse {
  return { jsonrpc: '2.0', id, error: { code: NO_ANSWER, message, ...(data && { data }) } }
}

/** Returns the JSON-RPC error in a failed HTTP response, if any. */
function answerIn(cause: unknown): JSONRPCErrorResponse | undefined {
  if (!(cause instanceof SdkHttpError) || typeof cause.data.text !== 'string') return undefined
  try {
    const message = parseJSONRPCMessage(JSON.parse(cause.data.text))
    return isJSONRPCErrorResponse(message) ? message : undefined
  } catch {
    return undefined
  }
}

/** Returns a readable message for a failure of the connection to the platform. */
function errorMessage(cause: unknown, platform: string): string {
  // A failure of the credential already says what to do.
  if (cause instanceof Failure) return cause.message
  const status = statusOf(cause)
  if (status === 401) return `${platform} refused the credential. Sign in again: wheelhouse login`
  if (status === 0) return `${platform} cannot be reached: ${reasonOf(cause)}. Try again later`
  const errorText = cause instanceof SdkHttpError ? errorTextOf(cause.data.text) : undefined
  if (status === 404 && !errorText) return `${platform} has no MCP server`
  return `${platform} answered ${status}${errorText ? `: ${errorText}` : ''}`
}

/** Returns the HTTP status; 0 without a response. */
function statusOf(cause: unknown): number {
  if (cause instanceof UnauthorizedError) return 401
  return cause instanceof SdkHttpError ? cause.status : 0
}

/** Returns the message of the platform's `{"error": "…"}`. */
function errorTextOf(text: unknown): string | undefined {
  try {
    const body: unknown = typeof text === 'string' ? JSON.parse(text) : null
    const reported = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
    return typeof reported === 'string' ? reported.slice(0, MAX_QUOTED) : undefined
  } catch {
    return undefined
  }
}

/** Returns the message of the cause, because `fetch failed` contains no details. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause).slice(0, MAX_QUOTED)
  const inner = cause.cause instanceof Error && cause.cause.message ? cause.cause.message : cause.message
  return inner.slice(0, MAX_QUOTED)
}
