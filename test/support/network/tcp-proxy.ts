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
}

interface Pair {
  readonly near: Socket
  far: Socket | undefined
  filter: Duplex | undefined
}

/** @param service the URL of the service, or a function that selects one for each connection */
export async function createTcpProxy(
  service: string | (() => string),
  { createFilter }: TcpProxyOptions = {},
): Promise<TcpProxy> {
  let pickService = typeof service === 'string' ? () => service : service
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
  const flow = ({ near, far, filter }: Pair) => {
    if (!far) return
    near.pipe(far)
    if (filter) far.pipe(filter).pipe(near)
    else far.pipe(near)
  }
  const join = (pair: Pair) => {
    const { port, hostname } = new URL(pickService())
    const far = connect(Number(port || 80), hostname)
    track(far)
    pair.far = far
    pair.filter = createFilter?.()
    far.on('close', () => !abandoned.has(pair) && end(pair))
    flow(pair)
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
    const pair: Pair = { near, far: undefined, filter: undefined }
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
      pickService = () => nextUrl
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
