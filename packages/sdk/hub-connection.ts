import type { HubAnswers, HubCommand, HubCommandName, HubEvents } from '@wheelhouse/protocol'
import { io, type Socket } from 'socket.io-client'
import { Backoff, type BackoffOptions } from './backoff.ts'
import { HubClosedError, HubError, NotConnectedError, UnacknowledgedError } from './errors.ts'
import { readAnswer } from './hub-answers.ts'
import { safeCallback } from './safe-callback.ts'

export interface HubConnectionOptions {
  /** Origin of the hub, such as `https://hub.example`. */
  readonly url: string
  /**
   * A session token or API key, or a function that returns a fresh one before every connection attempt. With
   * undefined, the browser's cookie authenticates the connection.
   */
  readonly token: string | (() => Promise<string | undefined>)
  /**
   * Returns the id of the organization that the next connection acts for. With undefined, it acts for the personal one, that of the API
   * key, or, with the cookie, the one that the console has chosen.
   */
  readonly organization?: () => string | undefined
  /** Default: `['websocket']`. `polling` does not work if several hubs share an address. */
  readonly transports?: ('websocket' | 'polling')[]
  /** Delays between attempts. Default: up to 250 ms at first, up to 10 s later. */
  readonly reconnect?: BackoffOptions
  /** Timeout from the request for the token to the accepted connection, in milliseconds. Default 10,000. */
  readonly connectTimeoutMs?: number
  /** Called after every connect. The client then renews its subscriptions. */
  readonly onConnected?: () => void
  /** Called when the connection ends, with Socket.IO's reason. The client reconnects unless it was closed. */
  readonly onDisconnected?: (reason: string) => void
  /** Called when the hub refuses the token. */
  readonly onAuthError?: (error: HubError) => void
  /** Called once, last: the hub refused the credential, or the caller called `close()`. */
  readonly onClosed?: (reason: HubClosedError) => void
  /** Called for failures that the client retries, for malformed events, and for errors that callbacks throw. */
  readonly onError?: (cause: unknown) => void
}

/** The loss of a connection that lasted this long resets the backoff. */
const STABLE_MS = 5_000
/** After this many consecutive refusals of a token function's tokens, the client gives up. */
const MAX_REFUSALS = 5
/** Calls that may wait for their answers. */
const MAX_CALLS_IN_FLIGHT = 2_000
const DEFAULT_CALL_TIMEOUT_MS = 10_000

/**
 * One Socket.IO connection that reconnects by itself. Socket.IO's own reconnection is off, because it gives up after a
 * refusal by the server's middleware and after a disconnect by the server.
 */
export class HubConnection {
  readonly #options: HubConnectionOptions
  readonly #backoff: Backoff
  readonly #socket: Socket
  readonly #firstConnect = Promise.withResolvers<void>()
  readonly #waiters = new Set<PromiseWithResolvers<void>>()
  #phase: 'idle' | 'running' | 'closed' = 'idle'
  #attempt = 0
  #refusals = 0
  #connectedAtMs = 0
  #callsInFlight = 0
  #attemptTimer: NodeJS.Timeout | undefined
  #retryTimer: NodeJS.Timeout | undefined

  constructor(options: HubConnectionOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.reconnect)
    this.#socket = io(options.url, {
      autoConnect: false,
      reconnection: false,
      forceNew: true,
      transports: options.transports ?? ['websocket'],
    })
    this.#socket.on('connect', () => this.#onConnect())
    this.#socket.on('connect_error', (error) => this.#onRefused(error))
    this.#socket.on('disconnect', (reason) => this.#onDisconnect(reason))
    // A caller that ignores the promise of connect() receives the reason through onClosed.
    this.#firstConnect.promise.catch(() => {})
  }

  get connected(): boolean {
    return this.#socket.connected
  }

  get closed(): boolean {
    return this.#phase === 'closed'
  }

  /**
   * Connects and reconnects until `close()` or until the hub refuses the credential.
   * @returns resolves after the first connection
   * @throws HubClosedError when the connection closes or gives up before it
   */
  async connect(): Promise<void> {
    if (this.#phase === 'closed') throw new HubClosedError('the hub client is closed')
    if (this.#phase === 'idle') {
      this.#phase = 'running'
      this.#startAttempt()
    }
    return this.#firstConnect.promise
  }

  /** Closes the connection. Rejects all pending promises with `reason`. */
  close(reason: HubClosedError = new HubClosedError('the hub client was closed')): void {
    if (this.#phase === 'closed') return
    this.#phase = 'closed'
    clearTimeout(this.#attemptTimer)
    clearTimeout(this.#retryTimer)
    this.#firstConnect.reject(reason)
    for (const waiter of this.#waiters) waiter.reject(reason)
    this.#waiters.clear()
    this.#socket.disconnect()
    safeCallback(this.#options.onError, () => this.#options.onClosed?.(reason))
  }

  /** Listens to a pushed event. The payload is not validated. */
  on(name: keyof HubEvents, listener: (payload: unknown) => void): void {
    this.#socket.on(name, listener)
  }

  /** Resolves when connected. Rejects with NotConnectedError after `timeoutMs`, with HubClosedError on close. */
  async whenConnected(timeoutMs: number): Promise<void> {
    if (this.#socket.connected) return
    if (this.#phase === 'closed') throw new HubClosedError('the hub client is closed')
    const waiter = Promise.withResolvers<void>()
    this.#waiters.add(waiter)
    const timer = setTimeout(
      () => waiter.reject(new NotConnectedError('no connection to the hub')),
      timeoutMs,
    )
    try {
      await waiter.promise
    } finally {
      clearTimeout(timer)
      this.#waiters.delete(waiter)
    }
  }

  /**
   * Sends a command once.
   * @throws NotConnectedError (not sent), UnacknowledgedError (sent, outcome unknown), HubError (refused)
   */
  async call<N extends HubCommandName>(
    name: N,
    payload: HubCommand<N>,
    timeoutMs = DEFAULT_CALL_TIMEOUT_MS,
  ): Promise<HubAnswers[N]> {
    if (!this.#socket.connected) throw new NotConnectedError(`${name} was not sent: no connection to the hub`)
    if (this.#callsInFlight >= MAX_CALLS_IN_FLIGHT) throw new Error(`${name}: too many commands in flight`)
    this.#callsInFlight += 1
    try {
      return readAnswer(name, await this.#emit(name, payload, timeoutMs))
    } finally {
      this.#callsInFlight -= 1
    }
  }

  async #emit(name: string, payload: unknown, timeoutMs: number): Promise<unknown> {
    try {
      return await this.#socket.timeout(timeoutMs).emitWithAck(name, payload)
    } catch (cause) {
      throw new UnacknowledgedError(`${name} was not acknowledged`, { cause })
    }
  }

  #startAttempt(): void {
    this.#attempt += 1
    const timeoutMs = this.#options.connectTimeoutMs ?? 10_000
    // Covers two cases that Socket.IO does not: a token function that hangs, and a server that ignores the handshake.
    this.#attemptTimer = setTimeout(() => {
      this.#attempt += 1
      this.#socket.disconnect()
      this.#retry(new NotConnectedError(`the hub did not answer within ${timeoutMs} ms`))
    }, timeoutMs)
    void this.#openWithToken(this.#attempt)
  }

  async #openWithToken(attempt: number): Promise<void> {
    const isStale = () => attempt !== this.#attempt || this.#phase !== 'running'
    const { token, organization } = this.#options
    try {
      const value = typeof token === 'string' ? token : await token()
      if (isStale()) return
      this.#socket.auth = { token: value, organization: organization?.() } // JSON leaves out what is undefined
      this.#socket.connect()
    } catch (cause) {
      if (!isStale()) this.#retry(cause)
    }
  }

  #onConnect(): void {
    clearTimeout(this.#attemptTimer)
    this.#refusals = 0
    this.#connectedAtMs = performance.now()
    this.#firstConnect.resolve()
    for (const waiter of this.#waiters) waiter.resolve()
    this.#waiters.clear()
    safeCallback(this.#options.onError, () => this.#options.onConnected?.())
  }

  #onDisconnect(reason: string): void {
    // Socket.IO would send this buffer after reconnecting, long after its senders received an UnacknowledgedError.
    this.#socket.sendBuffer.length = 0
    safeCallback(this.#options.onError, () => this.#options.onDisconnected?.(reason))
    if (this.#phase !== 'running') return
    // Avoids a hot loop with a hub that accepts a connection and drops it at once.
    if (performance.now() - this.#connectedAtMs >= STABLE_MS) this.#backoff.reset()
    this.#scheduleAttempt()
  }

  #onRefused(error: Error & { data?: unknown }): void {
    clearTimeout(this.#attemptTimer)
    if (this.#phase !== 'running') return
    const status = statusOf(error.data)
    if (status !== 401 && status !== 403) {
      this.#retry(error)
      return
    }
    this.#refusals += 1
    const refusal = new HubError(status, error.message)
    safeCallback(this.#options.onError, () => this.#options.onAuthError?.(refusal))
    const isRenewable = status === 401 && typeof this.#options.token === 'function'
    if (isRenewable && this.#refusals < MAX_REFUSALS) this.#scheduleAttempt()
    else
      this.close(new HubClosedError(`the hub refused the credential: ${error.message}`, { cause: refusal }))
  }

  #retry(cause: unknown): void {
    clearTimeout(this.#attemptTimer)
    safeCallback(undefined, () => this.#options.onError?.(cause))
    this.#scheduleAttempt()
  }

  #scheduleAttempt(): void {
    // A callback may have closed the client.
    if (this.#phase !== 'running') return
    clearTimeout(this.#retryTimer)
    this.#retryTimer = setTimeout(() => this.#startAttempt(), this.#backoff.nextDelayMs())
  }
}

function statusOf(data: unknown): number | undefined {
  const hasStatus = typeof data === 'object' && data !== null && 'status' in data
  return hasStatus && typeof data.status === 'number' ? data.status : undefined
}
