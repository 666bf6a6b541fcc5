import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A cable between a client and a server that can be cut: every byte really travels through it. */
export interface LinkProxy {
  readonly port: number
  /** Destroys the connections and lets no new one through. */
  disconnect(): void
  restore(): void
  close(): Promise<void>
}

/** Lays a cable from a free local port to the server behind this http: or ws: URL. */
export async function createLinkProxy(target: URL): Promise<LinkProxy> {
  const sockets = new Set<Socket>()
  let isConnected = true
  const server = createServer((client) => {
    client.on('error', () => {}) // it is closed next, which both ends notice
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
        // What is on its way, such as a closing handshake, still arrives.
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
