import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createNode, type ManagedNode } from './node.ts'
import { launch, requireProgram, tailOf } from './spawn.ts'

/** The Redis of a cluster, as a node on a fixed port that keeps its data. */
export function createRedis(options: { dataDir: string; port: number; logFile: string }): {
  node: ManagedNode
  url: string
} {
  const { port, logFile } = options
  const program = requireProgram('redis-server', 'redis-server')
  const dir = join(options.dataDir, 'redis')
  mkdirSync(dir, { recursive: true })
  const flags = [
    '--bind',
    '127.0.0.1',
    '--port',
    String(port),
    '--dir',
    dir,
    '--save',
    '',
    '--appendonly',
    'yes',
  ]
  const node = createNode({
    ...{ name: 'redis', kind: 'redis', port, logFile },
    launch: () => launch(program, flags, { logFile, env: {} }),
    serves: () => pings(port),
    lastWords: () => tailOf(logFile),
  })
  return { node, url: `redis://127.0.0.1:${port}` }
}

/** Whether a Redis on this port answers PING, and not that it is loading. */
function pings(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    const settle = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('data', (reply) => settle(reply.toString().startsWith('+PONG')))
    socket.once('error', () => settle(false)).setTimeout(1_000, () => settle(false))
  })
}
