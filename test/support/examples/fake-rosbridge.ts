import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

const STEP_MS = 20

interface Twist {
  readonly linear: { readonly x: number }
  readonly angular: { readonly z: number }
}

/**
 * A fake robot with rosbridge_server. Its base repeats the last command without a timeout, so it stops only on a
 * command.
 */
export class FakeRosbridge {
  /** Frames from clients. */
  readonly ops: Record<string, unknown>[] = []
  readonly twists: Twist[] = []
  readonly #server: WebSocketServer
  readonly #subscriptions = new Map<WebSocket, Map<string, { everyMs: number; sentAtMs: number }>>()
  #timer: NodeJS.Timeout | undefined
  readonly #pose = { x: 0, y: 0, heading: 0 }

  private constructor(server: WebSocketServer) {
    this.#server = server
    this.#timer = setInterval(() => this.#step(), STEP_MS)
    server.on('connection', (socket) => {
      this.#subscriptions.set(socket, new Map())
      socket.on('close', () => this.#subscriptions.delete(socket))
      socket.on('message', (data) => this.#receive(socket, JSON.parse(String(data))))
    })
  }

  static async start(port = 0): Promise<FakeRosbridge> {
    const server = new WebSocketServer({ host: '127.0.0.1', port })
    await once(server, 'listening')
    return new FakeRosbridge(server)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    for (const socket of this.#server.clients) socket.terminate()
    await new Promise((done) => this.#server.close(done))
  }

  #receive(socket: WebSocket, op: Record<string, unknown>): void {
    this.ops.push(op)
    if (op.op === 'subscribe') {
      const everyMs = Number(op.throttle_rate ?? 0)
      this.#subscriptions.get(socket)?.set(String(op.topic), { everyMs, sentAtMs: 0 })
    } else if (op.op === 'publish' && op.topic === '/cmd_vel') this.twists.push(op.msg as Twist)
  }

  #step(): void {
    const { linear, angular } = this.twists.at(-1) ?? { linear: { x: 0 }, angular: { z: 0 } }
    this.#pose.heading += (angular.z * STEP_MS) / 1000
    this.#pose.x += (Math.cos(this.#pose.heading) * linear.x * STEP_MS) / 1000
    this.#pose.y += (Math.sin(this.#pose.heading) * linear.x * STEP_MS) / 1000
    const half = this.#pose.heading / 2
    const msg = {
      header: { stamp: { sec: 0, nanosec: 0 }, frame_id: 'odom' },
      child_frame_id: 'base_link',
      pose: {
        pose: {
          position: { x: this.#pose.x, y: this.#pose.y, z: 0 },
          orientation: { x: 0, y: 0, z: Math.sin(half), w: Math.cos(half) },
        },
      },
      twist: { twist: { linear: { y: 0, z: 0, ...linear }, angular: { x: 0, y: 0, ...angular } } },
    }
    for (const [socket, topics] of this.#subscriptions) {
      const wanted = topics.get('/odom')
      if (!wanted || performance.now() - wanted.sentAtMs < wanted.everyMs) continue
      wanted.sentAtMs = performance.now()
      socket.send(JSON.stringify({ op: 'publish', topic: '/odom', msg }))
    }
  }
}
