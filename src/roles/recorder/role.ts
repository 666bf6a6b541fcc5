import { Worker } from 'node:worker_threads'
import type { Platform } from '../../app/container.ts'
import { singleFlight } from '../../core/concurrency/concurrency.ts'
import type { Log } from '../../core/log.ts'
import { measureRecorder } from '../../core/metrics/role-metrics.ts'
import type { Guard } from '../../core/process/guard.ts'
import { loadOrCreateRootKey } from '../../core/secrets.ts'
import type { StorageSettings } from '../../core/storage/storage.ts'
import { createCallRunner } from '../../core/threads/remote-calls.ts'
import { restoreError } from '../../core/threads/transferred-error.ts'
import type { RecorderNodes } from '../../modules/recordings/index.ts'
import type { ShutdownSteps } from '../shutdown.ts'
import type {
  FromRecorderThread,
  RecorderFigures,
  RecorderOptions,
  RecorderServices,
  ToRecorder,
} from './messages.ts'

const RENEW_MS = 2_000
/** A thread that reports no figures for this long makes no progress: its row is not renewed, and sources go elsewhere. */
const STALLED_MS = 4_000

const NO_FIGURES: RecorderFigures = {
  sources: 0,
  streams: 0,
  samples: 0,
  bytes: 0,
  segments: 0,
  failures: 0,
  gaps: 0,
  liveReaders: 0,
}

/** Starts the role recorder. */
export async function startRecorderRole(
  { core, recordings }: Platform,
  shutdown: ShutdownSteps,
): Promise<void> {
  const recorder = await runRecorder({
    ...core,
    services: { streams: recordings.streams },
    nodes: recordings.recorderNodes,
    nodeId: core.processId,
    guard: core.guards.recorder,
    onHandlerFailed: (handler) => core.metrics.handlerFailed('recorder', handler),
  })
  measureRecorder(core.metrics, recorder)
  shutdown.drain.push(recorder.drain)
  shutdown.close.push(recorder.close)
}

interface RecorderDeps {
  readonly config: {
    readonly host: string
    readonly recorder: { readonly port: number; readonly url: string | undefined }
    readonly storage: StorageSettings
    readonly secretKey: string | undefined
    readonly dataDir: string
    readonly logLevel: string
  }
  readonly nodeId: string
  readonly services: RecorderServices
  readonly nodes: RecorderNodes
  readonly guard: Guard
  readonly log: Log
  /** Called for an error of the thread: the process cannot continue. */
  readonly fail: (cause: Error) => void
  readonly onHandlerFailed: (handler: string) => void
}

/** Starts the recorder of this process, in a separate thread, and keeps its row in the database. */
async function runRecorder(deps: RecorderDeps) {
  const { config, nodeId, nodes, guard, log } = deps
  const thread = await startThread(deps)
  const url = config.recorder.url ?? `ws://${addressOf(config.host)}:${thread.port}`
  let draining = false

  const renew = singleFlight(async () => {
    if (thread.stalledMs() > STALLED_MS) return
    await nodes.renew({ id: nodeId, url, draining }).catch((cause) => {
      log.warn({ err: cause }, 'failed to renew the row of the recorder; retrying')
    })
  })
  await renew()
  const timer = guard.every('timer:recorder-renew', RENEW_MS, renew)
  return {
    url,
    figures: thread.figures,
    async drain(): Promise<void> {
      draining = true
      await renew()
      await thread.drain()
    },
    async close(): Promise<void> {
      clearInterval(timer)
      await thread.close()
      await nodes.remove(nodeId).catch(() => {}) // without the database, the row expires
    },
  }
}

/** Returns the address at which sources on this machine reach a listening address. */
function addressOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

/** Starts the thread, and runs its database work here. */
async function startThread(deps: RecorderDeps) {
  const { guard, services, fail } = deps
  const worker = new Worker(new URL('./recorder-thread.ts', import.meta.url), {
    workerData: optionsOf(deps),
    name: 'recorder',
  })
  const post = (message: ToRecorder) => worker.postMessage(message)
  const runCalls = createCallRunner(guard, services, (results) => post({ type: 'results', results }))
  const listening = Promise.withResolvers<number>()
  const drained = Promise.withResolvers<void>()
  const exited = Promise.withResolvers<void>()
  let figures = NO_FIGURES
  let progressMs = performance.now()
  guard.on(worker, 'message', 'recorder:thread', (message: FromRecorderThread) => {
    if (message.type === 'calls') runCalls(message.calls)
    else if (message.type === 'handler_failed') deps.onHandlerFailed(message.handler)
    else if (message.type === 'listening') listening.resolve(message.port)
    else if (message.type === 'failed') listening.reject(restoreError(message.error))
    else if (message.type === 'drained') drained.resolve()
    else {
      figures = message.figures
      progressMs = performance.now()
    }
  })
  guard.on(worker, 'exit', 'recorder:exit', () => {
    drained.resolve()
    exited.resolve()
  })
  guard.on(worker, 'error', 'recorder:error', (cause: Error) => {
    listening.reject(cause)
    fail(cause)
  })
  const close = async () => {
    post({ type: 'close' })
    await exited.promise
  }
  const port = await listening.promise.catch(async (cause) => {
    await close()
    throw cause
  })
  return {
    port,
    figures: () => figures,
    /** Returns for how long the thread has made no progress, in milliseconds. */
    stalledMs: () => performance.now() - progressMs,
    async drain(): Promise<void> {
      post({ type: 'drain' })
      await drained.promise
    },
    close,
  }
}

const optionsOf = ({ config, nodeId }: RecorderDeps): RecorderOptions => ({
  nodeId,
  host: config.host,
  port: config.recorder.port,
  rootKey: config.secretKey ?? loadOrCreateRootKey(config.dataDir),
  storage: config.storage,
  logLevel: config.logLevel,
  prettyLog: process.stdout.isTTY === true,
})
