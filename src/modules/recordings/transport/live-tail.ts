import { WebSocket } from 'ws'
import type { Log } from '../../../core/log.ts'
import type { Guard } from '../../../core/process/guard.ts'
import type { RecorderAddress } from './recorder-choice.ts'
import { MAX_SAMPLE_BYTES } from './sample-wire.ts'
import {
  decodeTailMessage,
  type FromReader,
  MAX_TAIL_HEADER_BYTES,
  TAIL_PATH,
  type TailMessage,
} from './tail-wire.ts'

/** How often the list of recorders is read. */
const POLL_MS = 1_000
const FIRST_RETRY_MS = 250
const LONGEST_RETRY_MS = 5_000
/** Recorders send a ping more often. */
const SILENCE_LIMIT_MS = 15_000
const CONNECT_LIMIT_MS = 5_000

export interface LiveTailDeps {
  /** Returns the running recorders. Each may have streams of the session. */
  readonly recorders: () => readonly RecorderAddress[]
  /** Returns the value of the Authorization header. */
  readonly authorization: () => string
  readonly sessionId: string
  readonly onMessage: (message: TailMessage) => void
  readonly guard: Guard
  readonly log: Log
}

/** The connections of one process to all recorders, for the messages of one session. */
export interface LiveTail {
  /** The number of recorders that are connected. */
  readonly connected: number
  /** Asks the recorders for a keyframe of a camera. */
  requestKeyframe(topic: string): void
  close(): void
}

/** Reads the messages of a session from all recorders, while they are sent. */
export function openLiveTail(deps: LiveTailDeps): LiveTail {
  const { recorders, guard } = deps
  const links = new Map<string, TailConnection>()
  const refresh = () => {
    const listed = new Map(recorders().map((recorder) => [recorder.id, recorder]))
    for (const [id, link] of links) {
      if (listed.get(id)?.url === link.url) continue
      link.close()
      links.delete(id)
    }
    for (const [id, { url }] of listed) {
      const link = links.get(id)
      if (link) link.check()
      else links.set(id, new TailConnection(url, deps))
    }
  }
  const timer = guard.every('timer:tail-recorders', POLL_MS, refresh)
  guard.handler('tail:recorders', refresh)()
  return {
    get connected() {
      return [...links.values()].filter((link) => link.isOpen).length
    },
    requestKeyframe(topic) {
      for (const link of links.values()) link.send({ type: 'keyframe', topic })
    },
    close() {
      clearInterval(timer)
      for (const link of links.values()) link.close()
      links.clear()
    },
  }
}

/** The connection to one recorder. Connects again after a failure, until it is closed. */
class TailConnection {
  readonly url: string
  readonly #deps: LiveTailDeps
  readonly #retry: (ms: number) => NodeJS.Timeout
  #socket: WebSocket | undefined
  #retryTimer: NodeJS.Timeout | undefined
  #retryMs = FIRST_RETRY_MS
  #receivedAtMs = 0
  #closed = false

  constructor(url: string, deps: LiveTailDeps) {
    this.url = url
    this.#deps = deps
    this.#retry = deps.guard.timer('timer:tail-retry', () => this.#connect())
    this.#connect()
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN
  }

  /** Ends a connection without a sign of life. */
  check(): void {
    if (this.isOpen && performance.now() - this.#receivedAtMs > SILENCE_LIMIT_MS) this.#socket?.terminate()
  }

  send(message: FromReader): void {
    if (this.isOpen) this.#socket?.send(JSON.stringify(message))
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#retryTimer)
    this.#socket?.terminate()
  }

  #connect(): void {
    if (this.#closed) return
    const { authorization, sessionId, onMessage, guard, log } = this.#deps
    const socket = new WebSocket(`${this.url}${TAIL_PATH}?session=${sessionId}`, {
      headers: { Authorization: authorization() },
      maxPayload: MAX_SAMPLE_BYTES + MAX_TAIL_HEADER_BYTES,
      perMessageDeflate: false,
      handshakeTimeout: CONNECT_LIMIT_MS,
    })
    this.#socket = socket
    const received = () => {
      this.#receivedAtMs = performance.now()
    }
    guard.on(socket, 'open', 'tail:open', () => {
      received()
      this.#retryMs = FIRST_RETRY_MS
    })
    guard.on(socket, 'ping', 'tail:ping', received)
    guard.on(socket, 'message', 'tail:message', (data: Buffer, isBinary: boolean) => {
      received()
      if (isBinary && !this.#closed) onMessage(decodeTailMessage(data))
    })
    guard.on(socket, 'error', 'tail:error', (err: Error) => {
      if (!this.#closed) log.debug({ err, url: this.url }, 'the connection to a recorder failed')
    })
    guard.on(socket, 'close', 'tail:close', () => {
      if (this.#closed) return
      // Readers of many processes do not come back at the same moment.
      this.#retryTimer = this.#retry(this.#retryMs * (0.5 + Math.random() / 2))
      this.#retryMs = Math.min(LONGEST_RETRY_MS, this.#retryMs * 2)
    })
  }
}
