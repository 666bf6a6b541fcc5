import { MAX_FRAME_BYTES, ToRobotFrame } from '@wheelhouse/protocol'
import type { ClientOptions, WebSocket } from 'ws'

/** The constructor of `ws`, or of anything that behaves like it. */
export type WebSocketConstructor = new (url: string, options: ClientOptions) => WebSocket

/** How one connection ended. */
export interface SocketEnd {
  /** WebSocket close code; 1006 when there was no closing handshake. */
  readonly closeCode: number
  /** Status of a refused upgrade. */
  readonly httpStatus?: number
  readonly reason: string
}

export interface RobotSocketOptions {
  readonly url: string
  readonly token: string
  readonly WebSocket: WebSocketConstructor
  /** From dialling to the first `keepAlive`, in milliseconds. */
  readonly connectTimeoutMs: number
  readonly onFrame: (frame: ToRobotFrame) => void
  /** A frame that could not be read; it was dropped. */
  readonly onBadFrame: (problem: Error) => void
  /** Called exactly once, last. */
  readonly onEnd: (end: SocketEnd) => void
}

/** One connection attempt of a robot and, if it succeeds, the connection. */
export interface RobotSocket {
  /** Bytes accepted by `send` that the network has not taken yet. */
  readonly bufferedBytes: number
  /** Whether frames can be sent right now. */
  readonly open: boolean
  /** Hands one text frame to the socket; errors surface as the end of the connection. */
  send(text: string): void
  /** From now on, `timeoutMs` without any frame means that the link is dead. */
  keepAlive(timeoutMs: number): void
  /** Closes with a handshake, and without one if the peer does not answer within a second. */
  close(): void
}

/** The gateway adds its own fields to an operator's frame, which may already be as large as allowed. */
const MAX_RECEIVED_BYTES = 2 * MAX_FRAME_BYTES
const CLOSE_HANDSHAKE_MS = 1_000

const receivedTypes: ReadonlySet<unknown> = new Set(
  ToRobotFrame.options.map((schema) => schema.shape.type.value),
)

/**
 * Reads one text frame from the gateway.
 * @returns null for a frame of an unknown type, which newer gateways may send
 * @throws Error for text that is no frame or a known frame of the wrong shape
 */
export function readFrame(text: string): ToRobotFrame | null {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || !('type' in value))
    throw new Error('a frame without type')
  if (!receivedTypes.has(value.type)) return null
  const parsed = ToRobotFrame.safeParse(value)
  if (parsed.success) return parsed.data
  // A stop that cannot be read in full is still a stop. The opposite guess would leave a robot driving.
  if (value.type === 'stop') return { type: 'stop', reason: 'unreadable stop', latched: true }
  throw new Error(`malformed ${String(value.type)} frame`, { cause: parsed.error })
}

/**
 * Dials the gateway once.
 * @throws never for network reasons; those arrive at `onEnd`
 */
export function openRobotSocket(options: RobotSocketOptions): RobotSocket {
  const socket = new options.WebSocket(options.url, {
    headers: { authorization: `Bearer ${options.token}` },
    handshakeTimeout: options.connectTimeoutMs,
    maxPayload: MAX_RECEIVED_BYTES,
    // Compression costs latency and memory on a link of small frames.
    perMessageDeflate: false,
  })
  let alive = false
  let httpStatus: number | undefined
  let failure: Error | undefined
  const giveUpAfter = (delayMs: number, why: string) =>
    setTimeout(() => {
      failure ??= new Error(why)
      socket.terminate()
    }, delayMs)
  let deadline = giveUpAfter(options.connectTimeoutMs, 'no welcome in time')

  socket.on('unexpected-response', (_request, response) => {
    httpStatus = response.statusCode
    // With this listener in place, ending the attempt is up to us.
    socket.terminate()
  })
  socket.on('error', (error) => {
    failure ??= error
  })
  socket.on('message', (data, isBinary) => {
    // Any data frame proves the gateway alive; before the welcome the connect deadline stands.
    if (alive) deadline.refresh()
    if (isBinary) return
    let frame: ToRobotFrame | null
    try {
      frame = readFrame(String(data))
    } catch (cause) {
      options.onBadFrame(new Error('unreadable frame from the gateway', { cause }))
      return
    }
    if (frame) options.onFrame(frame)
  })
  socket.on('close', (closeCode, reason) => {
    clearTimeout(deadline)
    const fallback = httpStatus === undefined ? failure?.message : `upgrade refused with ${httpStatus}`
    options.onEnd({
      closeCode,
      ...(httpStatus === undefined ? {} : { httpStatus }),
      reason: reason.toString() || fallback || 'connection lost',
    })
  })

  return {
    get bufferedBytes() {
      return socket.bufferedAmount
    },
    get open() {
      return socket.readyState === socket.OPEN
    },
    send: (text) => socket.send(text),
    keepAlive(timeoutMs) {
      alive = true
      clearTimeout(deadline)
      deadline = giveUpAfter(timeoutMs, `no frame for ${timeoutMs} ms`)
    },
    close() {
      clearTimeout(deadline)
      deadline = giveUpAfter(CLOSE_HANDSHAKE_MS, 'no answer to the closing handshake')
      alive = false
      socket.close(1000)
    },
  }
}
