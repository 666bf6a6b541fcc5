import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy in front of a service, which simulates failures of a network. */
export interface TcpProxy {
  /** The service's URL, through the proxy. */
  readonly url: string
  /** Resets every connection and every new attempt, as when the service is down. */
  cut(): void
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
  /** Local ports of the connections to the service, by which the service identifies them. */
  ports(): (number | undefined)[]
  [Symbol.asyncDispose](): Promise<void>
}

interface Pair {
  readonly near: Socket
  far: Socket | undefined
}

export async function createTcpProxy(serviceUrl: string): Promise<TcpProxy> {
  let service = new URL(serviceUrl)
  const pairs = new Set<Pair>()
  const abandoned = new Set<Pair>()
  let refused = 0
  let mode: 'open' | 'cut' | 'silent' = 'open'

  const end = (pair: Pair) => {
    pairs.delete(pair)
    abandoned.delete(pair)
    pair.near.destroy()
    pair.far?.destroy()
  }
  const join = (pair: Pair) => {
    const far = connect(Number(service.port), service.hostname)
    pair.far = far
    far.on('close', () => !abandoned.has(pair) && end(pair)).on('error', () => {})
    pair.near.pipe(far)
    far.pipe(pair.near)
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
    const pair: Pair = { near, far: undefined }
    pairs.add(pair)
    near.on('close', () => end(pair)).on('error', () => {})
    if (mode === 'open') join(pair)
    else near.pause()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(serviceUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)

  return {
    url: url.toString(),
    cut() {
      mode = 'cut'
      for (const pair of [...pairs, ...abandoned]) {
        pair.near.resetAndDestroy()
        end(pair)
      }
    },
    silence() {
      mode = 'silent'
      for (const pair of pairs) mute(pair)
    },
    restore() {
      mode = 'open'
      for (const pair of pairs) {
        if (!pair.far) join(pair)
        else {
          pair.near.pipe(pair.far)
          pair.far.pipe(pair.near)
        }
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
      service = new URL(nextUrl)
    },
    get refused() {
      return refused
    },
    ports: () => [...pairs].map(({ far }) => far?.localPort),
    async [Symbol.asyncDispose]() {
      for (const pair of [...pairs, ...abandoned]) end(pair)
      await new Promise((done) => server.close(done))
    },
  }
}
