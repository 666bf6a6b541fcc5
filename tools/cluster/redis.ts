import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createNode, type ManagedNode } from './node.ts'
import { redisAnswers, requireProgram } from './programs.ts'
import { launch, tailOf } from './spawn.ts'

/** Creates the Redis of a cluster, as a persistent node on a fixed port. */
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
    name: 'redis',
    kind: 'redis',
    port,
    logFile,
    launch: () => launch(program, flags, { logFile, env: {} }),
    serves: () => redisAnswers(port),
    lastOutput: () => tailOf(logFile),
  })
  return { node, url: `redis://127.0.0.1:${port}` }
}
