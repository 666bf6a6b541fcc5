import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DriveState, Welcome } from '@wheelhouse/protocol'
import { type WebSocket, WebSocketServer } from 'ws'

export type Frame = { type: string; [field: string]: unknown }

export const robotId = '0b0e7a5e-2f0e-4d51-8a9b-0d6a3c1f2e10'
export const sessionId = '2c1f0a52-6d5c-4a87-9a0e-0f6c5d1b7e11'

/** A stand-in for a gateway: accepts or refuses upgrades and records the received frames. */
class ScriptedGateway {
  readonly sockets: WebSocket[] = []
  /** The text frames of all connections. */
  readonly frames: Frame[] = []
  readonly binaries: Uint8Array[] = []
  readonly authorizations: (string | undefined)[] = []
  /** The subprotocols that each upgrade has offered. */
  readonly offers: (string | undefined)[] = []
  /** Statuses with which the next upgrades are refused. */
  readonly refusals: number[] = []
  /** The Retry-After of refusals; undefined for none. */
  retryAfter: string | undefined
  upgrades = 0
  readonly #http: Server = createServer()
  readonly #wss = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => (offered.has('wheelhouse.v1') ? 'wheelhouse.v1' : false),
  })

  async listen(port = 0): Promise<this> {
    this.#http.on('upgrade', (request, socket, head) => {
      this.upgrades += 1
      this.authorizations.push(request.headers.authorization)
      this.offers.push(request.headers['sec-websocket-protocol'])
      const status = this.refusals.shift()
      if (status !== undefined)
        socket.end(
          `HTTP/1.1 ${status} No\r\nConnection: close\r\nContent-Length: 0\r\n` +
            `${this.retryAfter === undefined ? '' : `Retry-After: ${this.retryAfter}\r\n`}\r\n`,
        )
      else this.#wss.handleUpgrade(request, socket, head, (accepted) => this.#accept(accepted))
    })
    this.#http.listen(port, '127.0.0.1')
    await once(this.#http, 'listening')
    return this
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port
  }

  get newest(): WebSocket {
    return this.sockets.at(-1)!
  }

  framesOf(type: string): Frame[] {
    return this.frames.filter((frame) => frame.type === type)
  }

  send(frame: Frame): void {
    this.newest.send(JSON.stringify(frame))
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.terminate()
    if (!this.#http.listening) return
    this.#http.close()
    await once(this.#http, 'close')
  }

  /** Runs when a connection has been accepted. */
  protected opened(): void {}

  /** Runs when a text frame has arrived on the newest connection. */
  protected received(_frame: Frame): void {}

  #accept(socket: WebSocket): void {
    this.sockets.push(socket)
    socket.on('message', (data, isBinary) => {
      if (isBinary) {
        this.binaries.push(new Uint8Array(data as Buffer))
        return
      }
      const frame = JSON.parse(String(data)) as Frame
      this.frames.push(frame)
      this.received(frame)
    })
    this.opened()
  }
}

/** A gateway as robots see it. */
export class RobotGateway extends ScriptedGateway {
  acknowledges = true
  welcome: Partial<Welcome> | null = {}

  get url(): string {
    return `ws://127.0.0.1:${this.port}/robots/${robotId}/control`
  }

  protected override opened(): void {
    if (!this.welcome) return
    this.send({
      type: 'welcome',
      robot_id: robotId,
      epoch: this.sockets.length,
      heartbeat_interval_ms: 20,
      heartbeat_timeout_ms: 30_000,
      deadman_ms: 250,
      session: null,
      stop: null,
      ...this.welcome,
    })
  }

  protected override received(frame: Frame): void {
    if (frame.type === 'heartbeat' && this.acknowledges)
      this.send({ type: 'heartbeat_ack', seq: frame.seq, t: 1 })
  }
}

/** A gateway as operators and observers see it. It records no stop. */
export class DriverGateway extends ScriptedGateway {
  /** The first frame on a new connection; null for none. */
  state: Partial<DriveState> | null = {}
  pongs = true

  url(part: 'control' | 'watch' = 'control'): string {
    return `ws://127.0.0.1:${this.port}/sessions/${sessionId}/${part}`
  }

  /** Sends a change to the newest connection; without an argument, the current state. */
  sendState(change: Partial<DriveState> = {}): void {
    this.state = { ...this.state, ...change }
    this.send({ type: 'state', status: 'ACTIVE', robot_connected: true, stop: null, ...this.state })
  }

  protected override opened(): void {
    if (this.state) this.sendState()
  }

  protected override received(frame: Frame): void {
    if (frame.type === 'ping' && this.pongs)
      this.send({ type: 'pong', t: frame.t, server_t: Date.now() + 5_000 })
  }
}
