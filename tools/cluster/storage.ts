import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createNode, type ManagedNode } from './node.ts'
import { acceptsConnections } from './programs.ts'
import { launch, tailOf } from './spawn.ts'

/** The S3 server of tests accepts this key only, as identifier and as secret. */
export const S3_KEY = 'S3RVER'
const BUCKET = 'wheelhouse'

/**
 * Starts s3rver and prints its port. Its continuation tokens need a cipher that only the legacy provider of OpenSSL has. As in S3, a
 * deletion of a missing object succeeds; s3rver by itself fails when another deletion has removed the folder.
 */
const program = `
  const S3rver = require(${JSON.stringify(createRequire(import.meta.url).resolve('s3rver'))})
  const [directory, bucket, port] = process.argv.slice(1)
  const server = new S3rver({
    address: '127.0.0.1', port: Number(port), silent: true, directory, configureBuckets: [{ name: bucket }] })
  const { store } = server
  const remove = store.deleteObject.bind(store)
  store.deleteObject = (...object) => remove(...object).catch((cause) => {
    if (cause.code !== 'ENOENT' && cause.code !== 'ENOTEMPTY') throw cause
  })
  server.run().then(({ port }) => console.log(port))`

/** Returns the arguments of Node that start an S3 server for tests, with one bucket. Port 0 selects a free one. */
export const s3ServerArguments = (options: { directory: string; bucket: string; port: number }): string[] => [
  '--openssl-legacy-provider',
  '--no-deprecation',
  '--eval',
  program,
  options.directory,
  options.bucket,
  String(options.port),
]

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
