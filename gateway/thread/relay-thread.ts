import { execFile } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { parentPort, workerData } from 'node:worker_threads'
import { type Bus, createListeners } from '../../src/core/events/bus.ts'
import { createLog, type Log } from '../../src/core/log.ts'
import { createGuard } from '../../src/core/process/guard.ts'
import { createSecrets } from '../../src/core/secrets.ts'
import { createBatchSender } from '../../src/core/threads/batch-sender.ts'
import { createRemoteServices } from '../../src/core/threads/remote-calls.ts'
import { transferError } from '../../src/core/threads/transferred-error.ts'
import { createPresence, type Presence } from '../../src/modules/presence/index.ts'
import { createRecorderAuthorization } from '../../src/modules/recordings/transport/index.ts'
import { createRobotTokens } from '../../src/modules/robots/index.ts'
import { createTickets } from '../../src/modules/sessions/index.ts'
import { createFrameTime } from '../base/frame-time.ts'
import { type GatewayServices, serviceMethods } from '../base/services.ts'
import { type Gateway, startGateway } from '../index.ts'
import type { BusMessage, FromThread, ThreadOptions, ToThread } from './messages.ts'
import { SharedCounts } from './messages.ts'

// The thread of the gateway: it relays control, and does no database work. The main thread does that for it, and starts it
// with `startGatewayThread`.

const run = promisify(execFile)

/** The lowest of Linux's real-time priorities: above every ordinary process, below every other real-time process. */
const PRIORITY = 1
/** How long the program may take that sets the priority. */
const LIMIT_MS = 5_000

/**
 * Lets the calling thread run before all ordinary threads of the machine, by Linux's real-time scheduling (`SCHED_RR`). A command
 * then does not wait until another process has used up its time slice. Threads and processes that the thread starts are ordinary
 * ones. Node.js cannot set the scheduling of a thread, so `chrt` of util-linux does.
 * @throws Error if the system has no such scheduling, or does not permit it (capability `SYS_NICE`)
 */
async function useRealTimeScheduling(): Promise<void> {
  if (process.platform !== 'linux') throw new Error('Real-time scheduling needs Linux.')
  const thread = readlinkSync('/proc/thread-self').split('/').at(-1) as string
  const args = ['--rr', '--reset-on-fork', '--pid', String(PRIORITY), thread]
  await run('chrt', args, { timeout: LIMIT_MS })
}

const PROGRESS_MS = 100
/** How long the thread waits until the ends of its last connections are recorded. */
const CLOSE_LIMIT_MS = 1_000

const port = parentPort
if (!port) throw new Error('relay-thread.ts runs in a worker thread only.')
const options: ThreadOptions = workerData
const post = (message: FromThread) => port.postMessage(message)
const log = createLog({ level: options.logLevel, pretty: options.prettyLog })
const guard = createGuard({
  role: 'gateway',
  log,
  count: (handler) => post({ type: 'handler_failed', handler }),
  countLong: (handler) => post({ type: 'handler_long', handler }),
})
const remote = createRemoteServices<GatewayServices>(guard, serviceMethods, (calls) =>
  post({ type: 'calls', calls }),
)
const bus = createThreadBus(log)
let gateway: Gateway | undefined
let presence: Presence | undefined

guard.on(process, 'unhandledRejection', 'thread:rejection', (cause) =>
  post({ type: 'unhandled_rejection', error: transferError(cause) }),
)
guard.on(process, 'uncaughtException', 'thread:exception', (cause) =>
  post({ type: 'uncaught_exception', error: transferError(cause) }),
)
guard.on(port, 'message', 'thread:message', (message: ToThread) => {
  if (message.type === 'results') remote.settle(message.results)
  else if (message.type === 'bus') for (const entry of message.messages) bus.deliver(entry)
  else if (message.type === 'drain') void drain()
  else void close(message.waits)
})
start().catch((cause) => post({ type: 'failed', error: transferError(cause) }))

async function start(): Promise<void> {
  if (options.realTime) await useRealTimeScheduling().catch(reportRealTimeFailure)
  gateway = await startGateway(createDeps(remote.services), options.host, options.port)
  const counts = new SharedCounts(options.counts)
  const running = gateway
  counts.update(running)
  guard.every('timer:progress', PROGRESS_MS, () => counts.update(running))
  post({ type: 'listening', port: running.port })
}

/** Reports that the thread runs like any other: an ordinary gateway is better than none. */
function reportRealTimeFailure(cause: unknown): void {
  log.warn(
    { err: cause },
    'no real-time scheduling for the gateway; it needs Linux, chrt and the capability SYS_NICE',
  )
}

function createDeps(services: GatewayServices) {
  const secrets = createSecrets(options.rootKey)
  const { nodeId, settings, handoverMs, allowedOrigins } = options
  presence = createPresence({
    store: services.store,
    nodeId,
    bus: bus.bus,
    sessions: services.sessionPresence,
    log,
    heartbeatTimeoutMs: settings.heartbeatTimeoutMs,
    handoverMs,
  })
  return {
    ...services,
    presence,
    accounts: services,
    tokens: createRobotTokens(secrets),
    tickets: createTickets({ secrets, now: () => new Date() }),
    recorderAuthorization: () => createRecorderAuthorization(secrets).sign(Date.now()),
    bus: bus.bus,
    log,
    guard,
    frameTime: createFrameTime({ limited: options.limitsFrames, guard }),
    nodeId,
    settings,
    allowedOrigins,
    metricsPage: services.metrics.page,
  }
}

async function drain(): Promise<void> {
  try {
    await gateway?.drain()
    post({ type: 'drained' })
  } catch (cause) {
    post({ type: 'drained', error: transferError(cause) })
  }
}

/** Closes the sockets. Node.js aborts the process when a thread ends that has sockets of uWebSockets. */
async function close(waits: boolean): Promise<void> {
  await gateway?.close()
  if (waits) await Promise.race([presence?.idle(), delay(CLOSE_LIMIT_MS)])
  const end = guard.immediate('thread:end', () => {
    const closed = new Int32Array(options.closed)
    Atomics.store(closed, 0, 1)
    Atomics.notify(closed, 0)
    process.exit()
  })
  guard.immediate('thread:closed', end)() // uWebSockets frees closed sockets in the next turn
}

/** Creates a bus whose messages pass through the main thread, which has the connection to the other processes. */
function createThreadBus(log: Log) {
  const listeners = createListeners((cause) => log.error({ err: cause }, 'a listener of the bus failed'))
  const add = createBatchSender<BusMessage>(guard, (messages) => post({ type: 'bus', messages }))
  const bus: Bus = { publish: (topic, message) => add({ topic, message }), subscribe: listeners.add }
  return { bus, deliver: ({ topic, message }: BusMessage) => listeners.deliver(topic, message) }
}
