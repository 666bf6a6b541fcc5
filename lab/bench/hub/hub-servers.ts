import type { Probe } from '../../../test/support/processes/probe.ts'
import { type Call, callerOf, readyPort } from '../../../test/support/processes/rpc.ts'
import type { Lab } from '../lab.ts'
import type { SocketIoPeer } from '../servers/hub-socketio.ts'
import type { WsPeer } from '../servers/hub-ws.ts'
import { type RestTarget, startHub } from '../targets.ts'
import type { HubSubscription } from './generator.ts'
import type { SessionEventRecord } from './packets.ts'
import { type Room, recordEvents } from './scenario.ts'

export const hubNames = {
  ws: 'ws, one write per connection',
  socketIo: 'Socket.IO',
  socketIoAgain: 'Socket.IO, repeated',
  socketIoOnUws: 'Socket.IO on uWebSockets.js',
  wheelhouse: 'Wheelhouse hub',
} as const

/** A server that sends events to watching clients: one process, or several over one Redis. */
export interface HubServer {
  readonly name: string
  readonly nodes: readonly RestTarget[]
  /** Returns how an observer of a room connects to one of the nodes. */
  subscription(room: Room, node: number): HubSubscription
  /** Prepares events; the returned function publishes all of them as fast as it can. */
  prepare(events: readonly SessionEventRecord[]): Promise<() => Promise<void>>
  stop(): Promise<void>
}

/** Starts Wheelhouse's hubs; the first of them runs the outbox relay. */
export async function startWheelhouseHubs(
  lab: Lab,
  redisUrl: string,
  count: number,
  nodeFlags: readonly string[] = [],
): Promise<HubServer> {
  const nodes: RestTarget[] = []
  for (let index = 0; index < count; index++) nodes.push(await startHub(lab, redisUrl, nodeFlags))
  return {
    name: hubNames.wheelhouse,
    nodes,
    subscription: ({ owner, sessionId }, node) => ({
      address: { port: portOf(nodes, node), speaks: 'Socket.IO', auth: { token: owner.apiKey } },
      sessionId,
    }),
    prepare: async (events) => () => recordEvents(lab.db, events),
    stop: () => stopAll(nodes),
  }
}

export interface SocketIoNodes extends HubServer {
  readonly peers: readonly Call<SocketIoPeer>[]
}

/** Starts bare Socket.IO with the same adapter; the first node emits. */
export async function startSocketIoNodes(
  lab: Lab,
  redisUrl: string,
  count: number,
  options: { nodeFlags?: readonly string[]; again?: boolean; engine?: 'uws' } = {},
): Promise<SocketIoNodes> {
  const { nodeFlags = [], again = false, engine } = options
  const env = { REDIS_URL: redisUrl, ...(engine && { ENGINE: engine }) }
  const start = () => startPeer(lab, 'lab/bench/servers/hub-socketio.ts', { env, nodeFlags })
  const nodes = await Promise.all(Array.from({ length: count }, start))
  const peers = nodes.map(({ child }) => callerOf<SocketIoPeer>(child.process))
  const [first] = peers as [Call<SocketIoPeer>]
  return {
    name: engine ? hubNames.socketIoOnUws : again ? hubNames.socketIoAgain : hubNames.socketIo,
    nodes,
    peers,
    subscription: ({ sessionId }, node) => ({
      address: { port: portOf(nodes, node), speaks: 'Socket.IO' },
      sessionId,
    }),
    async prepare(events) {
      await first('prepare', events)
      return () => first('publish')
    },
    stop: () => stopAll(nodes),
  }
}

export async function startWsBroadcast(lab: Lab): Promise<HubServer> {
  const node = await startPeer(lab, 'lab/bench/servers/hub-ws.ts', {})
  const peer = callerOf<WsPeer>(node.child.process)
  return {
    name: hubNames.ws,
    nodes: [node],
    subscription: ({ sessionId }) => ({
      address: { port: node.port, speaks: 'WebSocket', path: `/${sessionId}` },
    }),
    async prepare(events) {
      await peer('prepare', events)
      return () => peer('publish')
    },
    stop: () => node.stop(),
  }
}

async function startPeer(
  lab: Lab,
  file: string,
  options: { env?: Record<string, string>; nodeFlags?: readonly string[] },
): Promise<RestTarget> {
  const child = lab.children.run(file, options)
  const port = await readyPort(child.process)
  return { port, child, probe: callerOf<Probe>(child.process), stop: () => child.stop() }
}

const portOf = (nodes: readonly RestTarget[], node: number) => (nodes[node % nodes.length] as RestTarget).port

async function stopAll(nodes: readonly RestTarget[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.stop()))
}
