/** The part of the standard WebSocket that links use, and two optional extensions of `ws`. */
export interface WebSocketLike {
  binaryType: string
  readonly bufferedAmount: number
  readonly readyState: number
  send(data: string | Uint8Array<ArrayBuffer>): void
  close(code?: number): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void
  addEventListener(type: 'error', listener: (event: { readonly message?: string }) => void): void
  /** Breaks the connection at once. Without it, links close a dead connection and stop listening to it. */
  terminate?(): void
  on?(event: 'unexpected-response', listener: (request: unknown, response: UpgradeRefusal) => void): unknown
}

/** The HTTP response to a refused upgrade. */
interface UpgradeRefusal {
  readonly statusCode?: number | undefined
  readonly headers?: { readonly 'retry-after'?: string | undefined } | undefined
}

/** Settings of `ws` beyond the standard. Browsers ignore them. */
export interface WebSocketSettings {
  /** Headers of the upgrade. Only robots set one. */
  readonly headers?: { readonly [name: string]: string }
  /** Timeout from dialling to the accepted upgrade, in milliseconds. */
  readonly handshakeTimeout: number
  /** Largest frame to receive, in bytes. */
  readonly maxPayload: number
  readonly perMessageDeflate: boolean
}

/** The constructor of `ws`, or of anything that behaves like it and can set headers. */
export type WebSocketConstructor = new (url: string, settings: WebSocketSettings) => WebSocketLike

/** The standard constructor of browsers. The third argument is for `ws`. */
export type StandardWebSocketConstructor = new (
  url: string,
  protocols: string[],
  settings: WebSocketSettings,
) => WebSocketLike

/** How one connection ended. */
export interface SocketEnd {
  /** WebSocket close code; 1006 without a closing handshake. */
  readonly closeCode: number
  /** Status of a refused upgrade. Browsers do not expose it. */
  readonly httpStatus?: number
  /** Shortest delay before the next attempt, from the refusal of the upgrade. Browsers do not expose it. */
  readonly retryAfterMs?: number
  readonly reason: string
}

export interface LinkSocketOptions<Frame> {
  readonly dial: () => WebSocketLike
  /** Timeout from dialling to the first `keepAlive`, in milliseconds. */
  readonly connectTimeoutMs: number
  /** Reads one text frame. Returns null for a frame to ignore, and throws for a malformed one. */
  readonly read: (text: string) => Frame | null
  readonly onFrame: (frame: Frame) => void
  readonly onBinary: (frame: Uint8Array) => void
  /** Called for a malformed frame, which is dropped. */
  readonly onBadFrame: (problem: Error) => void
  /** Called exactly once, last. */
  readonly onEnd: (end: SocketEnd) => void
}

/** One connection attempt of a link and, if it succeeds, the connection. */
export interface LinkSocket {
  /** Bytes that `send` accepted and that are not on the network yet. */
  readonly bufferedBytes: number
  /** Whether `send` can send frames now. */
  readonly open: boolean
  /** Sends one frame. An error ends the connection. */
  send(frame: string | Uint8Array<ArrayBuffer>): void
  /** Breaks the connection after `timeoutMs` without any frame, from now on. */
  keepAlive(timeoutMs: number): void
  /** Closes with a handshake, or breaks the connection if the peer does not answer within a second. */
  close(): void
}

const CLOSE_HANDSHAKE_MS = 1_000
/** Longest delay that a refusal can request. */
const LONGEST_RETRY_AFTER_MS = 300_000
/** A timer that is this late means that the process was stalled or suspended. */
const STALL_MS = 200
/** Time after a stall to read the frames that have arrived, and for the answer to the next ping. */
const AFTER_STALL_MS = 2_000
/** So many looks in a row find silence before a link counts as dead whose timers are always late. */
const LAST_LOOK = 3
const OPEN = 1
const ABNORMAL_CLOSURE = 1006

/**
 * Dials once. Never throws: `onEnd` reports every failure.
 */
export function openLinkSocket<Frame>(options: LinkSocketOptions<Frame>): LinkSocket {
  let socket: WebSocketLike
  try {
    socket = options.dial()
  } catch (cause) {
    // The constructor rejects an invalid address or credential. Reports it asynchronously, like every other end.
    const reason = cause instanceof Error ? cause.message : 'dialling failed'
    queueMicrotask(() => options.onEnd({ closeCode: ABNORMAL_CLOSURE, reason }))
    return deadSocket
  }
  return superviseSocket(socket, options)
}

const deadSocket: LinkSocket = {
  bufferedBytes: 0,
  open: false,
  send() {},
  keepAlive() {},
  close() {},
}

function superviseSocket<Frame>(socket: WebSocketLike, options: LinkSocketOptions<Frame>): LinkSocket {
  const deadline = createDeadline()
  let httpStatus: number | undefined
  let retryAfterMs: number | undefined
  let failure: string | undefined
  let ended = false

  const end = (closeCode: number, reason: string) => {
    if (ended) return
    ended = true
    deadline.cancel()
    const fallback = httpStatus === undefined ? failure : `upgrade refused with ${httpStatus}`
    options.onEnd({
      closeCode,
      ...(httpStatus !== undefined && { httpStatus }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      reason: reason || fallback || 'connection lost',
    })
  }
  const abort = (why: string) => {
    failure ??= why
    if (socket.terminate) return socket.terminate()
    // Browsers wait long for the closing handshake of a dead peer. This link ignores the socket from now on.
    socket.close()
    end(ABNORMAL_CLOSURE, '')
  }

  socket.binaryType = 'arraybuffer'
  socket.on?.('unexpected-response', (_request, response) => {
    httpStatus = response.statusCode
    retryAfterMs = retryAfter(response)
    // With this listener, `ws` leaves it to the caller to end the attempt.
    abort('upgrade refused')
  })
  socket.addEventListener('error', ({ message }) => {
    failure ??= message || undefined
  })
  socket.addEventListener('message', ({ data }) => {
    if (ended) return
    deadline.touch()
    receive(data, options)
  })
  socket.addEventListener('close', ({ code, reason }) => end(code, reason))
  deadline.set(options.connectTimeoutMs, () => abort('no welcome in time'))

  return {
    get bufferedBytes() {
      return socket.bufferedAmount
    },
    get open() {
      return !ended && socket.readyState === OPEN
    },
    send: (frame) => socket.send(frame),
    keepAlive: (timeoutMs) => deadline.setSilence(timeoutMs, () => abort(`no frame for ${timeoutMs} ms`)),
    close() {
      deadline.set(CLOSE_HANDSHAKE_MS, () => abort('no answer to the closing handshake'))
      socket.close(1000)
    },
  }
}

/** Returns the delay that a refusal requests; undefined without a `Retry-After` in seconds. */
function retryAfter({ headers }: UpgradeRefusal): number | undefined {
  const seconds = headers?.['retry-after'] ?? ''
  return /^\d+$/.test(seconds) ? Math.min(Number(seconds) * 1_000, LONGEST_RETRY_AFTER_MS) : undefined
}

function receive<Frame>(data: unknown, options: LinkSocketOptions<Frame>): void {
  if (typeof data !== 'string') {
    if (data instanceof ArrayBuffer) options.onBinary(new Uint8Array(data))
    return
  }
  let frame: Frame | null
  try {
    frame = options.read(data)
  } catch (cause) {
    options.onBadFrame(new Error('unreadable frame from the gateway', { cause }))
    return
  }
  if (frame) options.onFrame(frame)
}

/** Creates one timer, for a fixed deadline or for silence. Frames only record a time and do not restart the timer. */
function createDeadline() {
  let timer: ReturnType<typeof setTimeout> | undefined
  let lastReceivedMs = 0
  return {
    /** Runs `onExpired` after `delayMs`. */
    set(delayMs: number, onExpired: () => void): void {
      clearTimeout(timer)
      timer = setTimeout(onExpired, delayMs)
    },
    /**
     * Runs `onExpired` after `silenceMs` without a call of `touch`. It looks twice, because timers run before the frames that
     * arrived in the same turn. After a stall or suspension of this process, the next look waits for the answer to a ping. The
     * last look counts however late it is, because timers of a page in the background are always late.
     */
    setSilence(silenceMs: number, onExpired: () => void): void {
      const lookIn = (delayMs: number, number: number) => {
        const dueMs = performance.now() + delayMs
        timer = setTimeout(() => look(performance.now() - dueMs > STALL_MS, number), delayMs)
      }
      const look = (isLate: boolean, number: number) => {
        const leftMs = lastReceivedMs + silenceMs - performance.now()
        if (leftMs > 0) lookIn(leftMs, 1)
        else if (number >= LAST_LOOK || (number > 1 && !isLate)) onExpired()
        else lookIn(isLate ? Math.min(AFTER_STALL_MS, silenceMs) : 0, number + 1)
      }
      clearTimeout(timer)
      lastReceivedMs = performance.now()
      lookIn(silenceMs, 1)
    },
    touch(): void {
      lastReceivedMs = performance.now()
    },
    cancel(): void {
      clearTimeout(timer)
    },
  }
}
