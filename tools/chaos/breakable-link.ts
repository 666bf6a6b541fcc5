import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface BreakableLink {
  /** The address for a client; each connection leads to another one of the hubs. */
  readonly url: string
  /** Number of connections that were broken. */
  readonly breaks: number
  /** Breaks the connection without a close frame to either side; returns whether there was one. */
  cut(): boolean
  /** Breaks the connection after this many more bytes from the hub: in the middle of a packet. */
  cutAfter(bytes: number): void
  /** Cancels a planned break. */
  spare(): void
  remove(): Promise<void>
}

/** The network between one client and the hubs; it can break at any moment, also inside a packet. */
export async function createBreakableLink(pickHub: () => URL): Promise<BreakableLink> {
  const clients = new Set<Socket>()
  let breaks = 0
  let bytesLeft = Number.POSITIVE_INFINITY

  const cut = () => {
    if (clients.size === 0) return false
    for (const client of clients) client.resetAndDestroy()
    clients.clear()
    bytesLeft = Number.POSITIVE_INFINITY
    breaks++
    return true
  }

  const server = createServer((client) => {
    const { hostname, port } = pickHub()
    const hub = connect(Number(port), hostname)
    clients.add(client)
    client.on('error', () => {})
    hub.on('error', () => {})
    client.on('close', () => {
      clients.delete(client)
      hub.destroy()
    })
    hub.on('close', () => client.destroy())
    client.pipe(hub)
    hub.on('data', (chunk: Buffer) => {
      if (!clients.has(client)) return
      const passed = chunk.subarray(0, bytesLeft)
      bytesLeft -= passed.length
      if (!client.write(passed)) {
        hub.pause()
        client.once('drain', () => hub.resume())
      }
      if (bytesLeft === 0) cut()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get breaks() {
      return breaks
    },
    cut,
    cutAfter(bytes) {
      bytesLeft = bytes
    },
    spare() {
      bytesLeft = Number.POSITIVE_INFINITY
    },
    async remove() {
      server.close()
      for (const client of clients) client.destroy()
      await once(server, 'close')
    },
  }
}
