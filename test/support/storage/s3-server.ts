import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StorageSettings } from '../../../src/core/storage/storage.ts'
import { S3_KEY, s3ServerArguments } from '../../../tools/cluster/storage.ts'

type S3StorageSettings = Extract<StorageSettings, { kind: 's3' }>

const BUCKET = 'wheelhouse'
const CREDENTIALS = { accessKeyId: S3_KEY, secretAccessKey: S3_KEY }

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
