import { parentPort, workerData } from 'node:worker_threads'
import { createLog } from '../../core/log.ts'
import { createGuard } from '../../core/process/guard.ts'
import { createSecrets } from '../../core/secrets.ts'
import { createObjectStore } from '../../core/storage/storage.ts'
import { createRemoteServices } from '../../core/threads/remote-calls.ts'
import { transferError } from '../../core/threads/transferred-error.ts'
import { createRecorderAuthorization } from '../../modules/recordings/transport/index.ts'
import { createLiveSink } from './live-sink.ts'
import {
  type FromRecorderThread,
  type RecorderOptions,
  type RecorderServices,
  recorderMethods,
  type ToRecorder,
} from './messages.ts'
import { type RunningRecorder, startRecorder } from './recorder.ts'

// The thread of the recorder: it encodes and stores what sources send, and does no database work. The main thread does that for
// it, and starts it with `runRecorder`.

const FIGURES_MS = 500

const port = parentPort
if (!port) throw new Error('recorder-thread.ts runs in a worker thread only.')
const options: RecorderOptions = workerData
const post = (message: FromRecorderThread) => port.postMessage(message)
const log = createLog({ level: options.logLevel, pretty: options.prettyLog })
const guard = createGuard({
  role: 'recorder',
  log,
  count: (handler) => post({ type: 'handler_failed', handler }),
})
const remote = createRemoteServices<RecorderServices>(guard, recorderMethods, (calls) =>
  post({ type: 'calls', calls }),
)
let recorder: RunningRecorder | undefined

guard.on(port, 'message', 'recorder:thread-message', (message: ToRecorder) => {
  if (message.type === 'results') remote.settle(message.results)
  else if (message.type === 'drain') return drain()
  else close()
})
start().catch((cause) => post({ type: 'failed', error: transferError(cause) }))

async function start(): Promise<void> {
  const store = await createObjectStore(options.storage)
  const authorization = createRecorderAuthorization(createSecrets(options.rootKey))
  const live = createLiveSink({
    guard,
    requestKeyframe: (sessionId, topic) => recorder?.requestKeyframe(sessionId, topic),
  })
  const running = await startRecorder({
    ...options,
    services: remote.services,
    store,
    authorize: (header) => authorization.verify(header, Date.now()),
    live,
    upgradeOther: live.upgrade,
    guard,
    log,
    nowMs: () => performance.timeOrigin + performance.now(),
  })
  recorder = running
  guard.every('timer:recorder-figures', FIGURES_MS, () =>
    post({ type: 'figures', figures: running.figures(live.readers()) }),
  )
  post({ type: 'listening', port: running.port })
}

async function drain(): Promise<void> {
  await recorder?.drain()
  post({ type: 'drained' })
}

function close(): void {
  recorder?.close()
  process.exit() // also ends the connections of live readers, which read on at the next recorder
}
