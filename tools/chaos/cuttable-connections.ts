import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { StandardWebSocketConstructor } from '@wheelhouse/sdk'
import { type ClientOptions, WebSocket } from 'ws'
import type { Random } from './random.ts'

/** Connections of clients that can be cut. */
export interface Wire {
  /** Resets about this share of the connections; returns their number. */
  cut(share: number, random: Random): number
}

/** A wire in front of the hub: clients connect to it instead of the hub. */
export interface HubWire extends Wire {
  readonly url: string
  close(): Promise<void>
}

/** Forwards TCP connections to `serviceUrl`, byte for byte. */
export async function createHubWire(serviceUrl: string): Promise<HubWire> {
  const service = new URL(serviceUrl)
  const pairs = new Set<() => void>()
  const server = createServer((near) => {
    const far = connect(Number(service.port || 80), service.hostname)
    const end = () => {
      pairs.delete(end)
      reset(near)
      reset(far)
    }
    pairs.add(end)
    for (const socket of [near, far]) socket.on('close', end).on('error', () => {})
    near.pipe(far)
    far.pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: (share, random) => cutSome([...pairs], share, random),
    async close() {
      for (const end of [...pairs]) end()
      await new Promise((done) => server.close(done))
    },
  }
}

/** WebSockets that can be cut while they are open. */
export interface SocketWire extends Wire {
  add(socket: WebSocket): void
}

export function createSocketWire(): SocketWire {
  const open = new Set<() => void>()
  return {
    add(socket) {
      const end = () => socket.terminate()
      open.add(end)
      socket.on('close', () => open.delete(end))
    },
    cut: (share, random) => cutSome([...open], share, random),
  }
}

/** The constructor for connections of operators and observers over this wire. */
export function driverSocket(wire: SocketWire): StandardWebSocketConstructor {
  return class extends WebSocket {
    constructor(url: string, protocols: string[], options: ClientOptions) {
      super(url, protocols, options)
      wire.add(this)
    }
  }
}

function cutSome(ends: readonly (() => void)[], share: number, random: Random): number {
  const victims = random.shuffled(ends).slice(0, Math.ceil(ends.length * share))
  for (const end of victims) end()
  return victims.length
}

function reset(socket: Socket): void {
  if (!socket.destroyed) socket.resetAndDestroy()
}
