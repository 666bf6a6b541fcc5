import { type LinkSocket, openLinkSocket, type SocketEnd, type WebSocketLike } from './link-socket.ts'
import { safeCallback } from './safe-callback.ts'

/** State that `onConnection` reports. */
export type ConnectionState = 'connecting' | 'online' | 'offline'
/** `idle` before `connect()`, `closed` after `close()` or after giving up. */
export type LinkPhase = 'idle' | ConnectionState | 'closed'

/** Why a link ended. */
export interface LinkEnd {
  readonly reason: string
  /** The close code that forbids reconnecting, if any. */
  readonly closeCode?: number
  /** HTTP status of the refused upgrade or ticket request, if any. */
  readonly httpStatus?: number
}

/** Callbacks of a link about its connection. */
export interface ConnectionLifecycleCallbacks {
  /** Called on every change of the connection. Only `offline` has a `closeCode`. */
  readonly onConnection?: (state: ConnectionState, closeCode?: number) => void
  /** Called for failures that the link retries, for malformed frames, and for errors that callbacks throw. */
  readonly onError?: (cause: unknown) => void
  /** Called once, last: the link has given up or was closed. */
  readonly onClosed?: (end: LinkEnd) => void
}

/** A failed attempt, or the end of a connection. */
export type LinkFailure =
  | { readonly at: 'preparing'; readonly cause: unknown }
  | { readonly at: 'socket'; readonly end: SocketEnd }

export interface ConnectionLifecycleOptions<Frame> {
  readonly callbacks: ConnectionLifecycleCallbacks
  /** Fetches the credentials of the next connection and returns a function that dials it. */
  readonly prepare: () => Promise<() => WebSocketLike>
  readonly connectTimeoutMs: number
  /** Above this many unsent bytes, droppable frames are dropped. */
  readonly maxBufferedBytes: number
  readonly read: (text: string) => Frame | null
  readonly onFrame: (frame: Frame) => void
  /** Errors that it throws go to `onError`. */
  readonly onBinary: (frame: Uint8Array) => void
  /** Called when the connection ends, before `onConnection`. */
  readonly onOffline: () => void
  /** Called when the link ends. */
  readonly onFinished: (error: Error) => void
  /** Returns the delay of the next attempt in milliseconds, or why the link ends. */
  readonly verdict: (failure: LinkFailure) => number | LinkEnd
}

/** Runs the connections of a link: it connects, reconnects after failures, and ends once. */
export class ConnectionLifecycle<First, Frame> {
  readonly #options: ConnectionLifecycleOptions<Frame>
  readonly #first = Promise.withResolvers<First>()
  readonly #closed = Promise.withResolvers<void>()
  #phase: LinkPhase = 'idle'
  #socket: LinkSocket | null = null
  #retryTimer: ReturnType<typeof setTimeout> | undefined

  constructor(options: ConnectionLifecycleOptions<Frame>) {
    this.#options = options
    // A caller that ignores the promise of connect() receives the reason through onClosed.
    this.#first.promise.catch(() => {})
  }

  get phase(): LinkPhase {
    return this.#phase
  }

  get isOnline(): boolean {
    return this.#phase === 'online'
  }

  /** Bytes that the socket accepted and that are not on the network yet. */
  get bufferedBytes(): number {
    return this.#socket?.bufferedBytes ?? 0
  }

  /** Starts connecting on the first call; see `connect` of the links. */
  connect(): Promise<First> {
    if (this.#phase === 'closed') return Promise.reject(new Error('this link is closed'))
    if (this.#phase === 'idle') void this.#dial()
    return this.#first.promise
  }

  /** Ends the link; resolves when the socket is closed. */
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

  /** Reports the peer's first frame. From now on, the connection ends after `silenceMs` without a frame. */
  online(first: First, silenceMs: number): void {
    this.#socket?.keepAlive(silenceMs)
    this.#first.resolve(first)
    this.#setConnectionState('online')
  }

  /**
   * Sends the frame that `encode` returns. Errors that it throws go to `onError`.
   * @returns whether the socket accepted the frame
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

  /** Runs a callback of the caller. */
  runCallback(run: () => unknown): void {
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
