import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { type Defects, type FrameLog, noDefects, type ReceivedFrame } from './frame-log.ts'

/** Far above the largest frame, so that a frame that is too large is measured and not only refused. */
const MAX_RECEIVED_BYTES = 1024 * 1024
/** Largest body of a request. */
const MAX_BODY_BYTES = 64 * 1024
/** Connections, attempts and requests that are kept; of more than that, the newest. */
const MAX_KEPT = 1_000

/** One connection of the program under test. */
export interface Connection {
  readonly socket: WebSocket
  readonly log: FrameLog
  /** How the credential arrived. */
  readonly credentialIn: 'header' | 'subprotocol'
  readonly openedMs: number
  /** When and how it ended; undefined while it is open. */
  closed: { readonly atMs: number; readonly code: number } | undefined
}

/** An upgrade, accepted or refused. */
export interface Attempt {
  readonly atMs: number
  readonly status: number
  /** Whether the program uses the WebSocket of the web standard, which does not see why an upgrade was refused. */
  readonly isWeb: boolean
}

/** A refusal of an upgrade or of a request. */
export interface Refusal {
  readonly status: number
  readonly retryAfterS?: number
}

interface HubHooks {
  /** Decides about an upgrade with a credential. */
  readonly admit: (path: string, credential: string) => Refusal | undefined
  readonly onOpen: (connection: Connection) => void
  readonly onFrame: (connection: Connection, frame: ReceivedFrame) => void
  /** Answers a request of the REST API. */
  readonly respond: (request: RestRequest) => {
    status: number
    body: unknown
    headers?: Record<string, string>
  }
  readonly newLog: (defects: Defects) => FrameLog
}

export interface RestRequest {
  readonly method: string
  readonly path: string
  readonly authorization: string | undefined
  readonly body: unknown
}

/** The part of a platform that a program under test sees: WebSockets, and the routes that it needs. */
export class Hub {
  readonly connections: Connection[] = []
  readonly attempts: Attempt[] = []
  readonly defects = noDefects()
  /** Refuses upgrades while it is set. */
  refusal: Refusal | undefined
  /** Accepts no upgrade before this time of `performance.now()`. */
  holdUpgradesUntilMs = 0
  readonly #hooks: HubHooks
  readonly #signal: AbortSignal
  readonly #waiting = new Set<() => void>()
  readonly #http: Server
  readonly #upgrades = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_RECEIVED_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) =>
      [...offered].find((entry) => !entry.startsWith('bearer.')) ?? [...offered][0] ?? false,
  })

  private constructor(hooks: HubHooks, signal: AbortSignal) {
    this.#hooks = hooks
    this.#signal = signal
    this.#http = createServer((request, response) => void this.#request(request, response))
    this.#http.on('upgrade', (request, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy())
      const leftMs = this.holdUpgradesUntilMs - performance.now()
      if (leftMs <= 0) this.#upgrade(request, socket, head)
      else setTimeout(() => this.#upgrade(request, socket, head), leftMs)
    })
  }

  /** Starts a hub on a free port of this machine. */
  static async start(hooks: HubHooks, signal: AbortSignal): Promise<Hub> {
    const hub = new Hub(hooks, signal)
    hub.#http.listen(0, '127.0.0.1')
    await once(hub.#http, 'listening')
    return hub
  }

  /** The origin of the REST API. */
  get origin(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`
  }

  /** The origin of the gateway. */
  get gateway(): string {
    return this.origin.replace('http', 'ws')
  }

  /** Sends a frame, or text that is none. A connection that has ended takes nothing. */
  send(connection: Connection, frame: Record<string, unknown> | string | Uint8Array): void {
    const data = typeof frame === 'string' || frame instanceof Uint8Array ? frame : JSON.stringify(frame)
    connection.socket.send(data, () => {})
  }

  /**
   * Waits until a check returns something other than undefined and false. Looks after everything that arrives.
   * @returns undefined if that does not happen within the limit
   * @throws the reason of the signal when it is aborted
   */
  async until<T>(check: () => T | undefined | false, limitMs: number): Promise<T | undefined> {
    const signal = this.#signal
    const endMs = performance.now() + limitMs
    for (;;) {
      signal.throwIfAborted()
      const found = check()
      if (found !== undefined && found !== false) return found
      const leftMs = endMs - performance.now()
      if (leftMs <= 0) return undefined
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer)
          this.#waiting.delete(wake)
          signal.removeEventListener('abort', wake)
          resolve()
        }
        const timer = setTimeout(wake, leftMs)
        this.#waiting.add(wake)
        signal.addEventListener('abort', wake, { once: true })
      })
    }
  }

  /** Lets time pass. */
  async pause(ms: number): Promise<void> {
    await this.until(() => undefined, ms)
  }

  /** Wakes those that wait, after something that the hub does not see itself. */
  changed(): void {
    for (const wake of [...this.#waiting]) wake()
  }

  /** Breaks all connections, and forgets them and the attempts. */
  reset(): void {
    for (const socket of this.#upgrades.clients) socket.terminate()
    this.connections.length = this.attempts.length = 0
  }

  async close(): Promise<void> {
    this.reset()
    this.#http.closeAllConnections()
    await new Promise((done) => this.#http.close(done))
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const isWeb = request.headers.origin !== undefined || request.headers['sec-fetch-mode'] === 'websocket'
    const { credential, from } = credentialOf(request)
    const path = new URL(request.url ?? '/', this.origin).pathname
    const refusal =
      this.refusal ?? (credential === undefined ? { status: 401 } : this.#hooks.admit(path, credential))
    keep(this.attempts, { atMs: performance.now(), status: refusal?.status ?? 101, isWeb })
    if (refusal) {
      const wait = refusal.retryAfterS === undefined ? '' : `Retry-After: ${refusal.retryAfterS}\r\n`
      socket.end(
        `HTTP/1.1 ${refusal.status} Refused\r\n${wait}Connection: close\r\nContent-Length: 0\r\n\r\n`,
      )
      this.changed()
      return
    }
    this.#upgrades.handleUpgrade(request, socket, head, (open) => this.#accept(open, from))
  }

  #accept(socket: WebSocket, credentialIn: Connection['credentialIn']): void {
    const log = this.#hooks.newLog(this.defects)
    const connection: Connection = {
      socket,
      log,
      credentialIn,
      openedMs: performance.now(),
      closed: undefined,
    }
    keep(this.connections, connection)
    socket.on('error', () => {}) // `close` follows
    socket.on('close', (code) => {
      connection.closed = { atMs: performance.now(), code }
      this.changed()
    })
    socket.on('message', (data, isBinary) => {
      const frame = log.read(data as Buffer, isBinary, performance.now())
      if (frame) this.#hooks.onFrame(connection, frame)
      this.changed()
    })
    this.#hooks.onOpen(connection)
    this.changed()
  }

  async #request(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request)
    const {
      status,
      headers,
      body: answer,
    } = this.#hooks.respond({
      method: request.method ?? 'GET',
      path: new URL(request.url ?? '/', this.origin).pathname,
      authorization: request.headers.authorization,
      body,
    })
    // A robot in a page may come from another origin.
    const open = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' }
    response.writeHead(status, { 'Content-Type': 'application/json', ...open, ...headers })
    response.end(JSON.stringify(answer))
    this.changed()
  }
}

/** Returns the refusal of a request. */
export const refuse = (status: number, error: string) => ({ status, body: { error } })

/** Returns the credential of an upgrade: from its header, else from its subprotocols. */
function credentialOf({ headers }: IncomingMessage): {
  credential: string | undefined
  from: Connection['credentialIn']
} {
  const header = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1]
  if (header !== undefined) return { credential: header, from: 'header' }
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((entry) => entry.trim())
  return {
    credential: offered.find((entry) => entry.startsWith('bearer.'))?.slice('bearer.'.length),
    from: 'subprotocol',
  }
}

/** Reads the JSON of a body; undefined for any other, and for one that is too large. */
async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = ''
  try {
    for await (const chunk of request) {
      if (text.length > MAX_BODY_BYTES) return undefined
      text += String(chunk)
    }
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function keep<T>(items: T[], item: T): void {
  items.push(item)
  if (items.length > MAX_KEPT) items.shift()
}

/** Returns a credential that no other run has. */
export const newCredential = (): string => `conformance-${randomUUID()}`
