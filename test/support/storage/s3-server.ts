import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StorageSettings } from '../../../src/core/storage/storage.ts'

type S3StorageSettings = Extract<StorageSettings, { kind: 's3' }>

/** The S3 server of tests accepts this key only, as identifier and as secret. */
export const S3_KEY = 'S3RVER'
const BUCKET = 'wheelhouse'
const CREDENTIALS = { accessKeyId: S3_KEY, secretAccessKey: S3_KEY }

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

/** An S3 server with one bucket. */
export interface S3Server extends AsyncDisposable {
  readonly url: string
  readonly bucket: string
  readonly directory: string
  /** Ends the server at once. Its objects remain. */
  kill(): Promise<void>
  /** Starts the server again, on the same port. */
  restart(): Promise<void>
  /** Returns the settings of a store, whose keys begin with `prefix` in the bucket. */
  settings(changes?: Partial<S3StorageSettings>): S3StorageSettings
}

/** Starts an S3 server on a free port of 127.0.0.1. */
export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'wheelhouse-s3-'))
  let running = await startProcess(directory, 0)
  const { port } = running
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    bucket: BUCKET,
    directory: join(directory, BUCKET),
    settings: (changes) => ({
      kind: 's3',
      bucket: BUCKET,
      endpoint: url,
      region: 'us-east-1',
      credentials: CREDENTIALS,
      prefix: '',
      pathStyle: true,
      ...changes,
    }),
    kill: () => running.kill(),
    async restart() {
      running = await startProcess(directory, port)
    },
    async [Symbol.asyncDispose]() {
      await running.kill()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function startProcess(directory: string, port: number) {
  const args = s3ServerArguments({ directory, bucket: BUCKET, port })
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const killAtExit = () => void child.kill('SIGKILL')
  process.once('exit', killAtExit)
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const chosen = await new Promise<number>((resolve, reject) => {
    let errors = ''
    child.stdout.once('data', (line) => resolve(Number(line)))
    child.stderr.on('data', (text) => {
      errors += text
    })
    child.once('close', (code) => reject(new Error(`s3rver ended with ${code}: ${errors}`)))
  })
  return {
    port: chosen,
    async kill(): Promise<void> {
      child.kill('SIGKILL')
      await exited
      process.off('exit', killAtExit)
    },
  }
}
