/** The part of the standard WebSocket that links use, and two extras of `ws` that they use when they are there. */
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
  /** Breaks the connection at once. Without it, a dead connection is closed and left to itself. */
  terminate?(): void
  on?(event: 'unexpected-response', listener: (request: unknown, response: UpgradeRefusal) => void): unknown
}

/** The answer to an upgrade that was refused. */
export interface UpgradeRefusal {
  readonly statusCode?: number | undefined
  readonly headers?: { readonly 'retry-after'?: string | undefined } | undefined
}

/** What links ask of a WebSocket beyond the standard; browsers ignore it. `ws` understands it. */
export interface WebSocketSettings {
  /** For the upgrade. Only robots set one. */
  readonly headers?: { readonly [name: string]: string }
  /** From dialling to the accepted upgrade, in milliseconds. */
  readonly handshakeTimeout: number
  /** Largest frame to receive, in bytes. */
  readonly maxPayload: number
  readonly perMessageDeflate: boolean
}

/** The constructor of `ws`, or of anything that behaves like it and can set headers. */
export type WebSocketConstructor = new (url: string, settings: WebSocketSettings) => WebSocketLike

/** The standard constructor, as browsers have it. The third argument is for `ws`. */
export type StandardWebSocketConstructor = new (
  url: string,
  protocols: string[],
  settings: WebSocketSettings,
) => WebSocketLike

/** How one connection ended. */
export interface SocketEnd {
  /** WebSocket close code; 1006 when there was no closing handshake. */
  readonly closeCode: number
  /** Status of a refused upgrade; browsers do not tell. */
  readonly httpStatus?: number
  /** How long to wait at least, as the refusal of the upgrade says; browsers do not tell. */
  readonly retryAfterMs?: number
  readonly reason: string
}

export interface LinkSocketOptions<Frame> {
  readonly dial: () => WebSocketLike
  /** From dialling to the first `keepAlive`, in milliseconds. */
  readonly connectTimeoutMs: number
  /** Reads one text frame; null for one to be ignored. Throws for one that cannot be read. */
  readonly read: (text: string) => Frame | null
  readonly onFrame: (frame: Frame) => void
  readonly onBinary: (frame: Uint8Array) => void
  /** A frame that could not be read; it was dropped. */
  readonly onBadFrame: (problem: Error) => void
  /** Called exactly once, last. */
  readonly onEnd: (end: SocketEnd) => void
}

/** One connection attempt of a link and, if it succeeds, the connection. */
export interface LinkSocket {
  /** Bytes accepted by `send` that the network has not taken yet. */
  readonly bufferedBytes: number
  /** Whether frames can be sent right now. */
  readonly open: boolean
  /** Hands one frame to the socket; errors surface as the end of the connection. */
  send(frame: string | Uint8Array<ArrayBuffer>): void
  /** From now on, `timeoutMs` without any frame means that the link is dead. */
  keepAlive(timeoutMs: number): void
  /** Closes with a handshake, and without one if the peer does not answer within a second. */
  close(): void
}

const CLOSE_HANDSHAKE_MS = 1_000
/** No refusal keeps a link away for longer. */
const LONGEST_RETRY_AFTER_MS = 300_000
const OPEN = 1
const ABNORMAL_CLOSURE = 1006

/**
 * Dials once.
 * @throws never; whatever goes wrong arrives at `onEnd`
 */
export function openLinkSocket<Frame>(options: LinkSocketOptions<Frame>): LinkSocket {
  let socket: WebSocketLike
  try {
    socket = options.dial()
  } catch (cause) {
    // An address or a credential that no connection can be made with. Told later, as every other end is.
    const reason = cause instanceof Error ? cause.message : 'could not dial'
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
    const status = httpStatus === undefined ? {} : { httpStatus }
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs }
    options.onEnd({ closeCode, ...status, ...wait, reason: reason || fallback || 'connection lost' })
  }
  const abort = (why: string) => {
    failure ??= why
    if (socket.terminate) return socket.terminate()
    // Browsers wait long for a dead peer's farewell; nothing more of this socket is listened to.
    socket.close()
    end(ABNORMAL_CLOSURE, '')
  }

  socket.binaryType = 'arraybuffer'
  socket.on?.('unexpected-response', (_request, response) => {
    httpStatus = response.statusCode
    retryAfterMs = retryAfter(response)
    // With this listener in place, ending the attempt is up to us.
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

/** Returns the wait that a refusal asks for; undefined when it asks for none in seconds. */
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

/** One timer: either a plain deadline, or one that every frame puts off. No timer is touched per frame. */
function createDeadline() {
  let timer: ReturnType<typeof setTimeout> | undefined
  let lastReceivedMs = 0
  return {
    /** Runs `late` after `delayMs`, whatever is heard. */
    set(delayMs: number, late: () => void): void {
      clearTimeout(timer)
      timer = setTimeout(late, delayMs)
    },
    /** Runs `late` once nothing has been heard for `silenceMs`. */
    setSilence(silenceMs: number, late: () => void): void {
      const check = () => {
        const leftMs = lastReceivedMs + silenceMs - performance.now()
        if (leftMs > 0) timer = setTimeout(check, leftMs)
        else late()
      }
      clearTimeout(timer)
      lastReceivedMs = performance.now()
      timer = setTimeout(check, silenceMs)
    },
    touch(): void {
      lastReceivedMs = performance.now()
    },
    cancel(): void {
      clearTimeout(timer)
    },
  }
}
