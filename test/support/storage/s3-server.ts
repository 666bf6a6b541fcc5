import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StorageSettings } from '../../../src/core/storage/storage.ts'

type S3StorageSettings = Extract<StorageSettings, { kind: 's3' }>

const BUCKET = 'wheelhouse'
/** The keys that s3rver accepts. */
const CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }

/** Starts s3rver and prints its port. Its continuation tokens need a cipher that only the legacy provider of OpenSSL has. */
const program = `
  const S3rver = require(${JSON.stringify(createRequire(import.meta.url).resolve('s3rver'))})
  const [directory, bucket] = process.argv.slice(1)
  const server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets: [{ name: bucket }] })
  server.run().then(({ port }) => console.log(port))`
const flags = ['--openssl-legacy-provider', '--no-deprecation', '--eval', program]

/** An S3 server with one bucket. */
export interface S3Server extends AsyncDisposable {
  readonly url: string
  readonly bucket: string
  readonly directory: string
  /** Returns the settings of a store, whose keys begin with `prefix` in the bucket. */
  settings(changes?: Partial<S3StorageSettings>): S3StorageSettings
}

/** Starts an S3 server on a free port of 127.0.0.1. */
export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'wheelhouse-s3-'))
  const child = spawn(process.execPath, [...flags, directory, BUCKET], { stdio: ['ignore', 'pipe', 'pipe'] })
  const killAtExit = () => void child.kill('SIGKILL')
  process.once('exit', killAtExit)
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const port = await new Promise<string>((resolve, reject) => {
    let errors = ''
    child.stdout.once('data', (line) => resolve(String(line).trim()))
    child.stderr.on('data', (text) => {
      errors += text
    })
    child.once('close', (code) => reject(new Error(`s3rver ended with ${code}: ${errors}`)))
  })
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
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
      process.off('exit', killAtExit)
      await rm(directory, { recursive: true, force: true })
    },
  }
}
