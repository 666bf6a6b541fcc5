import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { acceptsConnections } from '../../test/support/programs/installed-programs.ts'
import { S3_KEY, s3ServerArguments } from '../../test/support/storage/s3-server.ts'
import { createNode, type ManagedNode } from './node.ts'
import { launch, tailOf } from './spawn.ts'

const BUCKET = 'wheelhouse'

/** Creates the S3 server of a cluster, and the settings of the processes that use it. */
export function createStorage(options: { dataDir: string; port: number; logFile: string }): {
  readonly node: ManagedNode
  readonly env: Readonly<Record<string, string>>
} {
  const { port, logFile } = options
  const directory = join(options.dataDir, 's3')
  mkdirSync(directory, { recursive: true })
  const args = s3ServerArguments({ directory, bucket: BUCKET, port })
  const node = createNode({
    name: 'storage',
    kind: 'storage',
    port,
    logFile,
    launch: () => launch(process.execPath, args, { logFile, env: {} }),
    serves: () => acceptsConnections(port),
    lastOutput: () => tailOf(logFile),
  })
  const env = {
    S3_BUCKET: BUCKET,
    S3_ENDPOINT: `http://127.0.0.1:${port}`,
    S3_ACCESS_KEY_ID: S3_KEY,
    S3_SECRET_ACCESS_KEY: S3_KEY,
  }
  return { node, env }
}
