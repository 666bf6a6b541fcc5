import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** A TCP proxy in front of a service, which simulates failures of a network. */
export interface TcpProxy {
  /** The service's URL, through the proxy. */
  readonly url: string
  /** Resets every connection and every new attempt, as when the service is down. */
  cut(): void
  /** Resets the selected connections, or all; new ones work. Returns how many were reset. */
  reset(select?: <T>(connections: readonly T[]) => readonly T[]): number
  /** Forwards and answers nothing, as when packets are lost. Connections stay open. */
  silence(): void
  /** Forwards everything again, including bytes that arrived during a silence. */
  restore(): void
  /** Silences the present connections permanently; new ones work. */
  abandon(): void
  /** Forwards new connections to another service. */
  point(serviceUrl: string): void
  /** Number of reset connection attempts. */
  readonly refused: number
  /** Returns the local ports of the connections to the service, by which the service identifies them. */
  ports(): (number | undefined)[]
  [Symbol.asyncDispose](): Promise<void>
}

export interface TcpProxyOptions {
  /** Creates a filter for the bytes that a connection receives from the service. Default: none. */
  readonly createFilter?: () => Duplex
  /** Creates a filter for the bytes that a connection sends to the service. Default: none. */
  readonly createRequestFilter?: () => Duplex
}

/** A connection of a client, and the connection to the service, with the first stream of each direction. */
interface Pair {
  readonly near: Socket
  far: Socket | undefined
  toService: Duplex | undefined
  readonly toClient: Duplex
}

/**
 * @param service the URL of the service, a function that selects one for each connection, or several URLs. Of several, as
 * at a load balancer, each connection goes to the next one that accepts it.
 */
export async function createTcpProxy(
  service: string | (() => string) | readonly string[],
  { createFilter, createRequestFilter }: TcpProxyOptions = {},
): Promise<TcpProxy> {
  let pickServices = servicePicker(service)
  const sockets = new Set<Socket>()
  const pairs = new Set<Pair>()
  const abandoned = new Set<Pair>()
  let refused = 0
  let mode: 'open' | 'cut' | 'silent' = 'open'

  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
  }
  const forget = (pair: Pair) => {
    pairs.delete(pair)
    abandoned.delete(pair)
  }
  /** Ends the other side after the bytes in transit, such as a closing handshake. */
  const end = (pair: Pair) => {
    forget(pair)
    pair.near.destroySoon()
    pair.far?.destroySoon()
  }
  const resetPair = (pair: Pair) => {
    forget(pair)
    for (const socket of [pair.near, pair.far]) if (socket && !socket.destroyed) socket.resetAndDestroy()
  }
  const flow = ({ near, far, toService, toClient }: Pair) => {
    if (!far || !toService || far.connecting) return
    near.pipe(toService)
    far.pipe(toClient)
  }
  const join = (pair: Pair, [target = '', ...others] = pickServices()) => {
    const { port, hostname } = new URL(target)
    const far = connect(Number(port || 80), hostname)
    track(far)
    pair.far = far
    pair.toService = through(createRequestFilter, far)
    let connected = false
    far.once('connect', () => {
      connected = true
      if (mode === 'open' && !abandoned.has(pair)) flow(pair)
    })
    far.on('close', () => {
      if (abandoned.has(pair)) return
      if (connected || others.length === 0 || !pairs.has(pair)) end(pair)
      else join(pair, others)
    })
  }
  const mute = ({ near, far }: Pair) => {
    near.unpipe()
    near.pause()
    far?.unpipe()
    far?.pause()
  }

  const server = createServer((near) => {
    if (mode === 'cut') {
      refused++
      return near.resetAndDestroy()
    }
    track(near)
    const toClient = through(createFilter, near)
    const pair: Pair = { near, far: undefined, toService: undefined, toClient }
    pairs.add(pair)
    near.on('close', () => end(pair))
    if (mode === 'open') join(pair)
    else near.pause()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(typeof service === 'string' ? service : 'http://127.0.0.1')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)

  return {
    url: url.toString(),
    cut() {
      mode = 'cut'
      for (const { near, far } of [...pairs, ...abandoned]) {
        near.resetAndDestroy()
        far?.destroy()
      }
      pairs.clear()
      abandoned.clear()
    },
    reset(select = (connections) => connections) {
      const selected = select([...pairs])
      for (const pair of selected) resetPair(pair)
      return selected.length
    },
    silence() {
      mode = 'silent'
      for (const pair of pairs) mute(pair)
    },
    restore() {
      mode = 'open'
      for (const pair of pairs) {
        if (pair.far) flow(pair)
        else join(pair)
      }
    },
    abandon() {
      for (const pair of pairs) {
        mute(pair)
        abandoned.add(pair)
      }
      pairs.clear()
    },
    point(nextUrl) {
      pickServices = () => [nextUrl]
    },
    get refused() {
      return refused
    },
    ports: () => [...pairs].map(({ far }) => far?.localPort),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}

/** Returns a function that lists the services for the next connection, the first choice first. */
function servicePicker(service: string | (() => string) | readonly string[]): () => string[] {
  if (typeof service === 'string') return () => [service]
  if (typeof service === 'function') return () => [service()]
  let turn = 0
  return () => {
    const start = turn++ % service.length
    return [...service.slice(start), ...service.slice(0, start)]
  }
}

/** Returns the stream that leads to a socket: the filter before it, or the socket itself. */
function through(createFilter: (() => Duplex) | undefined, socket: Socket): Duplex {
  const filter = createFilter?.()
  filter?.pipe(socket)
  return filter ?? socket
}
