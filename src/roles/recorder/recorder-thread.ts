import type { IncomingMessage } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'
import { createLog } from '../../core/log.ts'
import { createGuard, type Guard } from '../../core/process/guard.ts'
import { createSecrets } from '../../core/secrets.ts'
import { createObjectStore } from '../../core/storage/storage.ts'
import { createRemoteServices } from '../../core/threads/remote-calls.ts'
import { transferError } from '../../core/threads/transferred-error.ts'
import {
  createRecorderAuthorization,
  FLAG_KEYFRAME,
  TAIL_PATH,
} from '../../modules/recordings/transport/index.ts'
import { LiveReaders } from './live-readers.ts'
import {
  type FromRecorderThread,
  type RecorderOptions,
  type RecorderServices,
  recorderMethods,
  type ToRecorder,
} from './messages.ts'
import { type RunningRecorder, startRecorder } from './recorder.ts'
import type { AcceptUpgrade, LiveSink } from './recorder-context.ts'

const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Creates the part of a recorder that serves live readers. */
function createLiveSink({
  guard,
  requestKeyframe,
}: {
  guard: Guard
  /** Asks the camera of a session for a keyframe. */
  requestKeyframe: (sessionId: string, topic: string) => void
}) {
  const readers = new LiveReaders({ guard, requestKeyframe })
  const sink: LiveSink = {
    publish(sessionId, message, { flags, codec }) {
      if (!readers.wants(sessionId, message.topic)) return
      const kind = codec === undefined ? 'json' : codec === 'JPEG' ? 'image' : 'video'
      const isKeyframe = kind === 'video' && (flags & FLAG_KEYFRAME) !== 0
      readers.publish(sessionId, { ...message, kind, isKeyframe })
    },
  }
  return {
    ...sink,
    /** The number of connected readers. */
    readers: () => readers.size,
    /** Forgets a session that no source sends any more. */
    forget: (sessionId: string) => readers.forget(sessionId),
    /** Accepts the WebSocket of a reader. Returns false for another path. */
    upgrade(request: IncomingMessage, accept: AcceptUpgrade): boolean {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'ws://recorder')
      const sessionId = searchParams.get('session') ?? ''
      if (pathname !== TAIL_PATH || !SESSION_ID.test(sessionId)) return false
      accept((socket) => readers.add(socket, sessionId))
      return true
    },
    close: () => readers.close(),
  }
}

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
