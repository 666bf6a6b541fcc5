import { WebSocket } from 'ws'
import type { Log } from '../../../core/log.ts'
import type { Guard } from '../../../core/process/guard.ts'
import { FromRecorder, type FromSource, RECORDER_PATH } from './sample-wire.ts'

const HANDSHAKE_MS = 3_000
const PING_MS = 1_000
/** A recorder that sends nothing for this time, not even pongs, is lost. Its process may hang, while its connection does not break. */
const SILENT_MS = 6_000
/** Largest message of a recorder. */
const MAX_MESSAGE_BYTES = 64 * 1024

/** The part of a `ws` WebSocket that a connection uses. */
export interface RecorderSocket {
  readonly bufferedAmount: number
  on(event: string, listener: (...args: never[]) => void): unknown
  send(data: string | Uint8Array): void
  ping(): void
  terminate(): void
  close(): void
}
export type OpenSocket = (url: string, authorization: string) => RecorderSocket

/** Connects to the address of a recorder. */
export const openSocket: OpenSocket = (url, authorization) =>
  new WebSocket(new URL(RECORDER_PATH, url), {
    headers: { authorization },
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    // A mask protects old proxies from pages in browsers. Without one, large messages are not copied.
    generateMask: () => {},
  })

interface ConnectionEvents {
  opened(): void
  message(message: FromRecorder): void
  /** Reports the end, once. */
  closed(reason: string): void
}

/** A WebSocket to one recorder. */
export class RecorderConnection {
  readonly #socket: RecorderSocket
  readonly #events: ConnectionEvents
  readonly #nowMs: () => number
  #isOpen = false
  #isClosed = false
  #receivedMs: number
  #pingedMs: number
  /** When the connection opened. */
  openedMs = Number.POSITIVE_INFINITY

  constructor(
    target: { url: string; authorization: string; open: OpenSocket },
    { guard, log, nowMs }: { guard: Guard; log: Log; nowMs: () => number },
    events: ConnectionEvents,
  ) {
    this.#events = events
    this.#nowMs = nowMs
    this.#receivedMs = this.#pingedMs = nowMs()
    const socket = target.open(target.url, target.authorization)
    this.#socket = socket
    let reason = 'closed'
    const onClose = () => this.#closed(reason)
    guard.on(socket, 'open', 'recording:open', () => this.#opened())
    guard.on(socket, 'pong', 'recording:pong', () => this.#received())
    guard.on(socket, 'close', 'recording:close', onClose, onClose)
    guard.on(socket, 'error', 'recording:error', (cause: Error) => {
      reason = cause.message
      socket.terminate()
    })
    guard.on(socket, 'message', 'recording:message', (data: Buffer, isBinary: boolean) => {
      this.#received()
      if (isBinary) return
      const message = FromRecorder.safeParse(parseJson(String(data)))
      if (message.success) events.message(message.data)
      else log.warn({ url: target.url }, 'a recorder sent a message that is not valid')
    })
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Bytes that are not on their way yet. */
  get bufferedBytes(): number {
    return this.#socket.bufferedAmount
  }

  send(message: FromSource | Uint8Array): void {
    if (this.#isOpen) this.#socket.send(message instanceof Uint8Array ? message : JSON.stringify(message))
  }

  /** Asks for a sign of life, and ends the connection to a recorder that gives none. */
  check(): void {
    const nowMs = this.#nowMs()
    if (nowMs - this.#receivedMs > SILENT_MS) {
      this.#closed('silent')
      this.#socket.terminate()
    } else if (this.#isOpen && nowMs - this.#pingedMs >= PING_MS) {
      this.#pingedMs = nowMs
      this.#socket.ping()
    }
  }

  close(): void {
    this.#closed('closed')
    this.#socket.close()
  }

  #opened(): void {
    if (this.#isClosed) return
    this.#isOpen = true
    this.openedMs = this.#nowMs()
    this.#received()
    this.#events.opened()
  }

  #received(): void {
    this.#receivedMs = this.#nowMs()
  }

  #closed(reason: string): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#isOpen = false
    this.#events.closed(reason)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
