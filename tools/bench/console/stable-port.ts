import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the ports that operating systems give to outgoing connections: one of those could take the port during a restart. */
const FIRST = 20_000
const COUNT = 10_000
const ATTEMPTS = 20

/** Returns a free port that no outgoing connection takes while nothing listens to it. */
export async function stablePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST + randomInt(COUNT)
    if (await isFree(port)) return port
  }
  throw new Error(`No free port from ${FIRST} to ${FIRST + COUNT - 1}.`)
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })
