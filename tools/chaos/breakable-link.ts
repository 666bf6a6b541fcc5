import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface BreakableLink {
  /** Where a client connects; behind it is one of the hubs, another one with every connection. */
  readonly url: string
  /** Connections that were broken so far. */
  readonly breaks: number
  /** Breaks what is connected, without a farewell to either side; answers with whether something was. */
  cut(): boolean
  /** Breaks the connection once so many more bytes have come from the hub: in the middle of whatever that is. */
  cutAfter(bytes: number): void
  /** Breaks nothing any more of its own accord. */
  spare(): void
  remove(): Promise<void>
}

/** The network between one client and the hubs; it can break at any moment, in the middle of anything. */
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
