import { createServer, type Server } from 'node:net'

/** Everything in a cluster that listens, in the order of the ports. */
const listeners = [
  'public',
  'gateway-1-public',
  'gateway-2-public',
  'proxy-own',
  'api-1',
  'api-2',
  'hub-1',
  'hub-2',
  'gateway-1',
  'gateway-2',
  'worker-1',
  'worker-2',
  'postgres',
  'redis',
  'turn',
  'recorder-1',
  'recorder-2',
  'recorder-1-streams',
  'recorder-2-streams',
  'storage',
  'tls',
] as const
type ListenerName = (typeof listeners)[number]
export type Ports = Readonly<Record<ListenerName, number>>

export const DEFAULT_PORT = 8080

/**
 * Below the range of ports that systems use for outgoing connections: while a node is down, no other program gets
 * its port.
 */
const [FREE_FROM, FREE_TO] = [10_000, 32_000]

/**
 * Returns the ports of a cluster: consecutive ports from `first` on, or any free ports for 0.
 * @throws Error that names the ports that are in use.
 */
export async function choosePorts(first: number): Promise<Ports> {
  const held: Server[] = []
  try {
    const chosen: [ListenerName, number][] = []
    const taken: string[] = []
    for (const [index, name] of listeners.entries()) {
      const server = first === 0 ? await reserveAnyPort() : await block(first + index)
      if (server) held.push(server)
      else taken.push(`${first + index} (${name})`)
      chosen.push([name, server ? portOf(server) : first + index])
    }
    if (taken.length > 0) {
      throw new Error(
        `Other programs use these ports: ${taken.join(', ')}. End them, or choose other ports: npm run cluster -- --port 9000, ` +
          'or --port 0 for any free ports.',
      )
    }
    return Object.fromEntries(chosen) as Ports
  } finally {
    await Promise.all(held.map((server) => new Promise((done) => server.close(done))))
  }
}

async function reserveAnyPort(): Promise<Server> {
  for (;;) {
    const port = FREE_FROM + Math.floor(Math.random() * (FREE_TO - FREE_FROM))
    const server = await block(port)
    if (server) return server
  }
}

/** Listens on a port of 127.0.0.1; returns undefined when the port is in use. */
function block(port: number): Promise<Server | undefined> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}
