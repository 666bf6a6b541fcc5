import type { Lab } from '../lab.ts'
import { type Call, callerOf, readyPort } from '../rpc.ts'
import type { SocketIoPeer } from '../servers/hub-socketio.ts'
import type { WsPeer } from '../servers/hub-ws.ts'
import type { Probe } from '../servers/probe.ts'
import { type RestTarget, startHub } from '../targets.ts'
import type { Seat } from './generator.ts'
import type { Fact } from './packets.ts'
import { type Room, recordFacts } from './scene.ts'

export const hubNames = {
  ws: 'ws, every connection by itself',
  socketIo: 'Socket.IO',
  socketIoAgain: 'Socket.IO, once more',
  wheelhouse: 'Wheelhouse hub',
} as const

/** Somebody who tells watching clients what happens: one process, or several over one Redis. */
export interface HubContender {
  readonly name: string
  readonly nodes: readonly RestTarget[]
  /** How somebody who watches a room connects to one of the nodes. */
  seat(room: Room, node: number): Seat
  /** Gets facts ready; what it returns tells them all as fast as it can. */
  prepare(facts: readonly Fact[]): Promise<() => Promise<void>>
  stop(): Promise<void>
}

/** Wheelhouse's hubs; the first of them relays. */
export async function startWheelhouseHubs(
  lab: Lab,
  redisUrl: string,
  count: number,
  nodeFlags: readonly string[] = [],
): Promise<HubContender> {
  const nodes: RestTarget[] = []
  for (let index = 0; index < count; index++) nodes.push(await startHub(lab, redisUrl, nodeFlags))
  return {
    name: hubNames.wheelhouse,
    nodes,
    seat: ({ owner, sessionId }, node) => ({
      door: { port: portOf(nodes, node), speaks: 'Socket.IO', auth: { token: owner.apiKey } },
      sessionId,
    }),
    prepare: async (facts) => () => recordFacts(lab.db, facts),
    stop: () => stopAll(nodes),
  }
}

export interface SocketIoNodes extends HubContender {
  readonly peers: readonly Call<SocketIoPeer>[]
}

/** Bare Socket.IO with the same adapter; the first node emits. */
export async function startSocketIoNodes(
  lab: Lab,
  redisUrl: string,
  count: number,
  options: { nodeFlags?: readonly string[]; again?: boolean } = {},
): Promise<SocketIoNodes> {
  const { nodeFlags = [], again = false } = options
  const env = { REDIS_URL: redisUrl }
  const start = () => startPeer(lab, 'tools/bench/servers/hub-socketio.ts', { env, nodeFlags })
  const nodes = await Promise.all(Array.from({ length: count }, start))
  const peers = nodes.map(({ child }) => callerOf<SocketIoPeer>(child.process))
  const [first] = peers as [Call<SocketIoPeer>]
  return {
    name: again ? hubNames.socketIoAgain : hubNames.socketIo,
    nodes,
    peers,
    seat: ({ sessionId }, node) => ({
      door: { port: portOf(nodes, node), speaks: 'Socket.IO' },
      sessionId,
    }),
    async prepare(facts) {
      await first('prepare', facts)
      return () => first('publish')
    },
    stop: () => stopAll(nodes),
  }
}

export async function startWsBroadcast(lab: Lab): Promise<HubContender> {
  const node = await startPeer(lab, 'tools/bench/servers/hub-ws.ts', {})
  const peer = callerOf<WsPeer>(node.child.process)
  return {
    name: hubNames.ws,
    nodes: [node],
    seat: ({ sessionId }) => ({ door: { port: node.port, speaks: 'WebSocket', path: `/${sessionId}` } }),
    async prepare(facts) {
      await peer('prepare', facts)
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
