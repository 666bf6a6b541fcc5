import type { StandardWebSocketConstructor } from '@wheelhouse/sdk'
import { type ClientOptions, WebSocket } from 'ws'
import { createTcpProxy } from '../../test/support/network/tcp-proxy.ts'
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
  const proxy = await createTcpProxy(serviceUrl)
  return {
    url: new URL(proxy.url).origin,
    cut: (share, random) => proxy.reset((connections) => sampleOf(connections, share, random)),
    close: () => proxy[Symbol.asyncDispose](),
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
    cut(share, random) {
      const selected = sampleOf([...open], share, random)
      for (const end of selected) end()
      return selected.length
    },
  }
}

/** Returns the constructor for connections of operators and observers over this wire. */
export function driverSocket(wire: SocketWire): StandardWebSocketConstructor {
  return class extends WebSocket {
    constructor(url: string, protocols: string[], options: ClientOptions) {
      super(url, protocols, options)
      wire.add(this)
    }
  }
}

function sampleOf<T>(all: readonly T[], share: number, random: Random): T[] {
  return random.shuffled(all).slice(0, Math.ceil(all.length * share))
}
