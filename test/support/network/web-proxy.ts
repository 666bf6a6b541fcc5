import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

/** An HTTP proxy for a browser, which can interrupt its network, WebSockets included. */
export interface WebProxy {
  readonly server: string
  /** Breaks every connection, and every new attempt. */
  cut(): void
  /**
   * Breaks only connections to these addresses: `http://host:port/path` for requests, `connect://host:port` for
   * WebSockets, each matched as a prefix.
   */
  cutOff(addresses: readonly string[]): void
  restore(): void
  [Symbol.asyncDispose](): Promise<void>
}

export async function createWebProxy(): Promise<WebProxy> {
  const sockets = new Set<Socket>()
  let open = true
  let broken: readonly string[] = []
  const isBroken = (address: string) => broken.some((prefix) => address.startsWith(prefix))
  const tunnels = new Map<Socket, string>()
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
  }
  const proxy = createServer((incoming, response) => {
    if (isBroken(incoming.url ?? '')) return void response.destroy()
    const onward = request(incoming.url ?? '', {
      method: incoming.method ?? 'GET',
      headers: incoming.headers,
    })
    onward.on('response', (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  proxy.on('connection', (socket) => {
    track(socket)
    if (!open) socket.resetAndDestroy()
  })
  proxy.on('connect', (incoming, near: Socket, head) => {
    const address = `connect://${incoming.url}`
    if (isBroken(address)) return void near.destroy()
    tunnels.set(near, address)
    const { hostname, port } = new URL(`http://${incoming.url}`)
    const far = connect(Number(port), hostname, () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n')
      far.write(head)
      near.pipe(far).pipe(near)
    })
    track(far)
    near.on('close', () => {
      tunnels.delete(near)
      far.destroy()
    })
    far.on('close', () => near.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const cut = () => {
    open = false
    for (const socket of sockets) socket.destroy()
  }
  return {
    server: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut,
    cutOff(addresses) {
      broken = addresses
      for (const [socket, address] of tunnels) if (isBroken(address)) socket.destroy()
    },
    restore() {
      open = true
      broken = []
    },
    async [Symbol.asyncDispose]() {
      cut()
      await new Promise((done) => proxy.close(done))
    },
  }
}
