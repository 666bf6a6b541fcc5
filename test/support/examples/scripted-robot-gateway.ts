import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Received } from '../gateway/received-frames.ts'
import { waitFor } from '../world/wait.ts'

/** A scripted gateway, for behaviour that a real gateway never shows. */
export class ScriptedRobotGateway {
  /** Text frames from robots, of all connections. */
  readonly frames: Received[] = []
  /** Connections so far, the newest last. */
  readonly sockets: WebSocket[] = []
  /** HTTP statuses of the next refused upgrades. */
  readonly refusals: number[] = []
  /** Whether the gateway acknowledges heartbeats. */
  answers = true
  /** Fields of the next welcomes. */
  welcome: Record<string, unknown> = {}
  readonly #http: Server = createServer()
  readonly #upgrades = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => [...offered].find((entry) => !entry.startsWith('bearer.')) ?? false,
  })

  static async start(): Promise<ScriptedRobotGateway> {
    const gateway = new ScriptedRobotGateway()
    gateway.#http.on('upgrade', (request, socket: Duplex, head) => {
      const status = gateway.refusals.shift()
      if (status !== undefined) socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`)
      else gateway.#upgrades.handleUpgrade(request, socket, head, (open) => gateway.#accept(open))
    })
    gateway.#http.listen(0, '127.0.0.1')
    await once(gateway.#http, 'listening')
    return gateway
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#http.address() as AddressInfo).port}/robots/1/control`
  }

  send(frame: Record<string, unknown> | Uint8Array): void {
    this.sockets.at(-1)!.send(frame instanceof Uint8Array ? frame : JSON.stringify(frame))
  }

  /** Returns the frames of a type so far. */
  all(type: string): Received[] {
    return this.frames.filter((frame) => frame.type === type)
  }

  /** Waits for telemetry that satisfies `fits`. Ignores telemetry from before the call. */
  async telemetry(fits: (data: Sample) => boolean): Promise<Sample> {
    const known = this.all('telemetry').length
    return waitFor(() => {
      const data = this.all('telemetry').slice(known).at(-1)?.data as Sample | undefined
      if (data && fits(data)) return data
      throw new Error(`the telemetry does not fit: ${JSON.stringify(data)}`)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.terminate()
    this.#http.closeAllConnections()
    await new Promise((done) => this.#http.close(done))
  }

  #accept(socket: WebSocket): void {
    this.sockets.push(socket)
    socket.on('message', (data, isBinary) => {
      if (isBinary) return
      const frame = JSON.parse(String(data)) as Received
      this.frames.push(frame)
      if (frame.type === 'heartbeat' && this.answers)
        socket.send(JSON.stringify({ type: 'heartbeat_ack', seq: frame.seq, t: 1 }))
    })
    socket.send(
      JSON.stringify({
        type: 'welcome',
        robot_id: '0b0e7a5e-2f0e-4d51-8a9b-0d6a3c1f2e10',
        epoch: this.sockets.length,
        heartbeat_interval_ms: 100,
        heartbeat_timeout_ms: 30_000,
        deadman_ms: 250,
        session: null,
        stop: null,
        ...this.welcome,
      }),
    )
  }
}

/** Telemetry of the example robots. */
export interface Sample {
  readonly pose: { readonly x_m: number; readonly y_m: number; readonly heading_rad: number }
  readonly velocity: { readonly linear_mps: number; readonly angular_radps: number }
  readonly standing: boolean
}
