import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type DriveState, MAX_FRAME_BYTES } from '@wheelhouse/protocol'
import { WebSocketServer } from 'ws'
import { BridgeClient, type OutTopic, outTopics, type Session } from './bridge-client.ts'
import { LiveSockets } from './live-sockets.ts'
import { type DriveData, odometryOf, readPoseData, zeroVelocity } from './messages.ts'
import { OpRefused } from './ops.ts'

const MAX_CLIENTS = 16
const TRY_AGAIN_LATER = 1013

/** The part of an OperatorLink that the bridge uses. */
export interface Driver {
  /** Sends control data. Returns null if it was not sent. */
  control(data: unknown): number | null
  /** Requests a remote stop. */
  stop(reason: string): unknown
}

export interface OperatorBridgeOptions {
  /** Default: only the loopback address, because rosbridge has no authentication. */
  readonly host?: string
  /** Default: 9090; 0 is any free port. */
  readonly port?: number
  /** Origins of pages that may connect, such as `https://example.com`. Default: none. Programs send no Origin. */
  readonly allowedOrigins?: readonly string[]
}

export type OperatorBridge = Awaited<ReturnType<typeof startOperatorBridge>>

/**
 * Starts a rosbridge server for one session. Its clients receive the robot's telemetry as topics and drive it through
 * `/cmd_vel`, one client at a time. The caller's link calls `telemetry`, `state` and `dropped`.
 */
export async function startOperatorBridge(driver: Driver, options: OperatorBridgeOptions = {}) {
  const { host = '127.0.0.1', port = 9090, allowedOrigins = [] } = options
  const clients = new Set<BridgeClient>()
  let driving: BridgeClient | null = null
  let lastState: string | undefined

  const release = (client: BridgeClient) => {
    if (driving !== client) return
    driving = null
    // Halts the robot earlier than the gateway's deadman.
    driver.control(zeroVelocity)
  }
  const session: Session = {
    drive(client, data: DriveData) {
      if (driving !== null && driving !== client) throw new OpRefused('/cmd_vel: another client is driving')
      driving = client
      if (driver.control(data) === null)
        client.warn('/cmd_vel: not sent, the bridge is not connected to the session')
    },
    release,
    disconnected(client) {
      clients.delete(client)
      release(client)
    },
    stop: (reason) => void driver.stop(reason),
    latched: (topic) => (topic === '/state' ? lastState : undefined),
  }

  const publish = (topic: OutTopic, msg: () => unknown) => {
    const listeners = [...clients].filter((client) => client.listensTo(topic))
    if (listeners.length === 0) return
    const frame = frameOf(topic, msg())
    for (const client of listeners) client.offer(topic, frame)
  }

  const server = new WebSocketServer({
    host,
    port,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    // Without this check, any page in the operator's browser could drive the robot.
    verifyClient: ({ origin }: { origin?: string }) =>
      origin === undefined || allowedOrigins.includes(origin),
  })
  const live = new LiveSockets()
  server.on('connection', (socket) => {
    if (clients.size >= MAX_CLIENTS) return socket.close(TRY_AGAIN_LATER, 'too many clients')
    live.watch(socket)
    clients.add(new BridgeClient(socket, session))
  })
  await once(server, 'listening')

  return {
    port: (server.address() as AddressInfo).port,

    telemetry(data: unknown): void {
      publish('/telemetry', () => ({ data: JSON.stringify(data) }))
      const pose = readPoseData(data)
      if (pose) publish('/odom', () => odometryOf(pose, Date.now()))
    },

    state({ status, robot_connected, stop }: DriveState): void {
      const msg = { data: JSON.stringify({ status, robot_connected, stop }) }
      lastState = frameOf('/state', msg)
      publish('/state', () => msg)
    },

    /** Warns the driving client that a command did not reach the robot. */
    dropped(why: string): void {
      driving?.warn(`/cmd_vel: dropped, ${why}`)
    },

    /** Closes the server and all connections. */
    async close(): Promise<void> {
      live.close()
      for (const socket of server.clients) socket.terminate()
      await new Promise((done) => server.close(done))
    },
  }
}

const frameOf = (topic: OutTopic, msg: unknown) =>
  JSON.stringify({ op: 'publish', topic, type: outTopics[topic], msg })
