import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A network link between a client and a server that can be cut: every byte passes through it. */
export interface LinkProxy {
  readonly port: number
  /** Destroys the connections and refuses new ones. */
  disconnect(): void
  restore(): void
  close(): Promise<void>
}

/** Opens a link from a free local port to the server of this http: or ws: URL. */
export async function createLinkProxy(target: URL): Promise<LinkProxy> {
  const sockets = new Set<Socket>()
  let isConnected = true
  const server = createServer((client) => {
    client.on('error', () => {}) // 'close' follows and ends both sides
    if (!isConnected) return client.destroy()
    const upstream = connect(Number(target.port || 80), target.hostname)
    upstream.on('error', () => {})
    for (const [socket, peer] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.once('close', () => {
        sockets.delete(socket)
        // Bytes in transit, such as a closing handshake, still arrive.
        peer.destroySoon()
      })
    }
    client.pipe(upstream).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const destroyAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    disconnect() {
      isConnected = false
      destroyAll()
    },
    restore() {
      isConnected = true
    },
    async close() {
      server.close()
      destroyAll()
      await once(server, 'close')
    },
  }
}
