import { type LinkSocket, openLinkSocket, type SocketEnd, type WebSocketLike } from './link-socket.ts'
import { safeCallback } from './safe-callback.ts'

/** What `onConnection` reports. */
export type ConnectionState = 'connecting' | 'online' | 'offline'
/** `idle` before `connect()`, `closed` after `close()` or after giving up. */
export type LinkPhase = 'idle' | ConnectionState | 'closed'

/** Why a link ended for good. */
export interface LinkEnd {
  readonly reason: string
  /** The close code that forbids coming back, if one did. */
  readonly closeCode?: number
  /** The status with which the upgrade or the ticket was refused, if one was. */
  readonly httpStatus?: number
}

/** What a link tells its user of its life. */
export interface ConnectionLifecycleCallbacks {
  /** `closeCode` comes with `offline`. */
  readonly onConnection?: (state: ConnectionState, closeCode?: number) => void
  /** Failures that are retried, bad frames, and what callbacks throw. */
  readonly onError?: (cause: unknown) => void
  /** The link has given up or was closed; nothing comes after it. */
  readonly onClosed?: (end: LinkEnd) => void
}

/** An attempt that came to nothing, or a connection that ended. */
export type LinkFailure =
  | { readonly at: 'preparing'; readonly cause: unknown }
  | { readonly at: 'socket'; readonly end: SocketEnd }

export interface ConnectionLifecycleOptions<Frame> {
  readonly callbacks: ConnectionLifecycleCallbacks
  /** Fetches what the next connection needs and answers with how to dial it. */
  readonly prepare: () => Promise<() => WebSocketLike>
  readonly connectTimeoutMs: number
  /** Above this many unsent bytes, droppable frames are dropped. */
  readonly maxBufferedBytes: number
  readonly read: (text: string) => Frame | null
  readonly onFrame: (frame: Frame) => void
  /** What it throws is reported. */
  readonly onBinary: (frame: Uint8Array) => void
  /** The connection is over; called before the user hears of it. */
  readonly onOffline: () => void
  /** The link is over. */
  readonly onFinished: (error: Error) => void
  /** After how many milliseconds to try again; or that, and why, it is of no use. */
  readonly verdict: (failure: LinkFailure) => number | LinkEnd
}

/** The life of a link: it connects, comes back as often as it takes, and ends once. */
export class ConnectionLifecycle<First, Frame> {
  readonly #options: ConnectionLifecycleOptions<Frame>
  readonly #first = Promise.withResolvers<First>()
  readonly #closed = Promise.withResolvers<void>()
  #phase: LinkPhase = 'idle'
  #socket: LinkSocket | null = null
  #retryTimer: ReturnType<typeof setTimeout> | undefined

  constructor(options: ConnectionLifecycleOptions<Frame>) {
    this.#options = options
    // Whoever ignores the promise of connect() still learns the reason from onClosed.
    this.#first.promise.catch(() => {})
  }

  get phase(): LinkPhase {
    return this.#phase
  }

  get isOnline(): boolean {
    return this.#phase === 'online'
  }

  /** Starts, unless it has; see `connect` of the links. */
  connect(): Promise<First> {
    if (this.#phase === 'closed') return Promise.reject(new Error('this link is closed'))
    if (this.#phase === 'idle') void this.#dial()
    return this.#first.promise
  }

  /** Ends for good; resolves once the socket is gone. */
  close(): Promise<void> {
    if (this.#phase === 'online' || this.#phase === 'connecting') this.#goOffline(1000)
    // A callback may have called close() itself.
    if (!this.#isClosed()) {
      this.#finish({ reason: 'closed by its user' })
      if (this.#socket) this.#socket.close()
      else this.#closed.resolve()
    }
    return this.#closed.promise
  }

  /** The peer has said what it says first. From now on, `silenceMs` without a frame end the connection. */
  online(first: First, silenceMs: number): void {
    this.#socket?.keepAlive(silenceMs)
    this.#first.resolve(first)
    this.#setConnectionState('online')
  }

  /**
   * Sends what `encode` answers with; what it throws is reported.
   * @returns whether it was handed to the socket
   */
  transmit(kind: 'droppable' | 'vital', encode: () => string | Uint8Array<ArrayBuffer>): boolean {
    const socket = this.#socket
    if (!this.isOnline || !socket?.open) return false
    if (kind === 'droppable' && socket.bufferedBytes > this.#options.maxBufferedBytes) return false
    try {
      socket.send(encode())
      return true
    } catch (cause) {
      this.report(cause)
      return false
    }
  }

  report(cause: unknown): void {
    safeCallback(undefined, () => this.#options.callbacks.onError?.(cause))
  }

  /** Calls a callback of the user's. */
  runCallback(run: () => void): void {
    safeCallback(this.#options.callbacks.onError, run)
  }

  async #dial(): Promise<void> {
    this.#setConnectionState('connecting')
    // A callback may have closed the link.
    if (this.#phase !== 'connecting') return
    let dial: () => WebSocketLike
    try {
      dial = await this.#options.prepare()
    } catch (cause) {
      if (this.#phase === 'connecting') this.#lost({ at: 'preparing', cause })
      return
    }
    if (this.#phase === 'connecting') this.#open(dial)
  }

  #open(dial: () => WebSocketLike): void {
    this.#socket = openLinkSocket({
      dial,
      connectTimeoutMs: this.#options.connectTimeoutMs,
      read: this.#options.read,
      onFrame: this.#options.onFrame,
      onBinary: (frame) => this.#onBinary(frame),
      onBadFrame: (problem) => this.report(problem),
      onEnd: (end) => {
        this.#socket = null
        if (this.#phase === 'closed') this.#closed.resolve()
        else this.#lost({ at: 'socket', end })
      },
    })
  }

  #onBinary(frame: Uint8Array): void {
    if (!this.isOnline) return
    try {
      this.#options.onBinary(frame)
    } catch (cause) {
      this.report(cause)
    }
  }

  #lost(failure: LinkFailure): void {
    this.#goOffline(failure.at === 'socket' ? failure.end.closeCode : undefined)
    if (this.#isClosed()) return
    const verdict = this.#options.verdict(failure)
    if (typeof verdict === 'number') {
      this.#retryTimer = setTimeout(() => void this.#dial(), verdict)
      return
    }
    this.#finish(verdict)
    this.#closed.resolve()
  }

  #goOffline(closeCode?: number): void {
    this.#phase = 'offline'
    this.#options.onOffline()
    if (!this.#isClosed()) this.#setConnectionState('offline', closeCode)
  }

  #finish(end: LinkEnd): void {
    this.#phase = 'closed'
    clearTimeout(this.#retryTimer)
    const error = new Error(`link closed: ${end.reason}`)
    this.#first.reject(error)
    this.#options.onFinished(error)
    this.runCallback(() => this.#options.callbacks.onClosed?.(end))
  }

  #setConnectionState(state: ConnectionState, closeCode?: number): void {
    this.#phase = state
    this.runCallback(() => this.#options.callbacks.onConnection?.(state, closeCode))
  }

  #isClosed(): boolean {
    return this.#phase === 'closed'
  }
}
