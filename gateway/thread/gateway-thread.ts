import { Worker } from 'node:worker_threads'
import type { Bus } from '../../src/core/events/bus.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import { createBatchSender } from '../../src/core/threads/batch-sender.ts'
import { createCallRunner } from '../../src/core/threads/remote-calls.ts'
import { restoreError } from '../../src/core/threads/transferred-error.ts'
import type { GatewayServices } from '../base/services.ts'
import type { Gateway } from '../index.ts'
import {
  type BusMessage,
  type FromThread,
  gatewayTopics,
  SharedCounts,
  type ThreadOptions,
  type ToThread,
} from './messages.ts'

/** How long the end of the process waits for the thread to close its sockets. */
const CLOSE_LIMIT_MS = 1_000
/**
 * Size of the young generation of the thread's heap. The objects of a frame die within its turn. In a larger young generation there are
 * fewer collections, and they find fewer of them alive.
 */
const YOUNG_GENERATION_MB = 64

/** How the process handles errors of the thread. */
export interface ThreadSupervisor {
  readonly guard: Guard
  /** Called for an uncaught exception: the process cannot continue. */
  readonly fail: (cause: Error) => void
  /** Counts an exception of a handler. */
  readonly onHandlerFailed: (handler: string) => void
  /** Counts a handler that has held the thread for long. */
  readonly onHandlerLong: (handler: string) => void
}

/**
 * Starts the gateway in a separate thread, so that database work, requests and other roles of this process never delay a control frame
 * or a stop. The services run in this thread.
 * @throws Error if the port is in use
 */
export async function startGatewayThread(
  services: GatewayServices,
  bus: Bus,
  options: Omit<ThreadOptions, 'counts' | 'closed'>,
  { guard, fail, onHandlerFailed, onHandlerLong }: ThreadSupervisor,
): Promise<Gateway> {
  const counts = new SharedCounts()
  const closed = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const workerData: ThreadOptions = { ...options, counts: counts.buffer, closed }
  const worker = new Worker(new URL('./relay-thread.ts', import.meta.url), {
    workerData,
    name: 'gateway',
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
  const post = (message: ToThread) => worker.postMessage(message)
  const runCalls = createCallRunner(guard, services, (results) => post({ type: 'results', results }))
  const listening = Promise.withResolvers<number>()
  const drained = Promise.withResolvers<void>()
  guard.on(worker, 'message', 'thread:message', (message: FromThread) => {
    if (message.type === 'calls') runCalls(message.calls)
    else if (message.type === 'bus')
      for (const { topic, message: content } of message.messages) bus.publish(topic, content)
    else if (message.type === 'handler_failed') onHandlerFailed(message.handler)
    else if (message.type === 'handler_long') onHandlerLong(message.handler)
    else if (message.type === 'listening') listening.resolve(message.port)
    else if (message.type === 'failed') listening.reject(restoreError(message.error))
    else if (message.type === 'drained')
      message.error ? drained.reject(restoreError(message.error)) : drained.resolve()
    else if (message.type === 'uncaught_exception') fail(restoreError(message.error))
    else void Promise.reject(restoreError(message.error)) // handled like other rejections of this process
  })
  const exited = Promise.withResolvers<void>()
  guard.on(worker, 'exit', 'thread:exit', () => exited.resolve())
  guard.on(worker, 'error', 'thread:error', (cause: Error) => {
    listening.reject(cause)
    drained.resolve()
    fail(cause)
  })
  const unsubscribe = forwardBus(bus, guard, post)
  let running = true
  guard.on(process, 'exit', 'thread:process-exit', () => {
    if (!running) return
    post({ type: 'close', waits: false })
    // Node.js would abort, and write a core dump, if it ended a thread with open sockets.
    if (Atomics.wait(new Int32Array(closed), 0, 0, CLOSE_LIMIT_MS) === 'timed-out')
      process.kill(process.pid, 'SIGKILL')
  })

  async function close(): Promise<void> {
    unsubscribe()
    post({ type: 'close', waits: true })
    await exited.promise
    running = false
  }

  const port = await listening.promise.catch(async (cause) => {
    await close()
    throw cause
  })
  return {
    port,
    get connections() {
      return counts.read('connections')
    },
    get participants() {
      return counts.read('participants')
    },
    get sessions() {
      return counts.read('sessions')
    },
    get limitedSessions() {
      return counts.read('limitedSessions')
    },
    get counts() {
      return counts.counts()
    },
    stalledMs: () => counts.stalledMs(),
    async drain() {
      post({ type: 'drain' })
      await drained.promise
    },
    close,
  }
}

/** Sends the messages for gateways to the thread; returns a function that ends it. */
function forwardBus(bus: Bus, guard: Guard, post: (message: ToThread) => void): () => void {
  const add = createBatchSender<BusMessage>(guard, (messages) => post({ type: 'bus', messages }))
  const unsubscribes = gatewayTopics.map((topic) =>
    guard.subscribe(bus, topic, (message) => add({ topic, message })),
  )
  return () => {
    for (const unsubscribe of unsubscribes) unsubscribe()
  }
}
