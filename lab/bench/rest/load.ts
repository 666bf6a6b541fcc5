import { setTimeout as delay } from 'node:timers/promises'
import { offer, sendReady } from '../../../test/support/processes/rpc.ts'
import { percentile } from '../stats.ts'
import { HttpConnection, type HttpRequest, requestBytes } from './connection.ts'

// The load generator of the REST measurements: a separate process that sends requests and waits for answers.

export interface LoadReport {
  readonly answered: number
  readonly tookMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Answers with another status than the expected one. */
  readonly wrong: number
  /** The text of the first wrong answer. */
  readonly firstWrong: string | undefined
}

interface Work {
  readonly port: number
  readonly connections: number
  readonly expectedStatus: number
  readonly requests: readonly HttpRequest[]
}

/** Collects the answers of one run. */
function createCounter(expectedStatus: number) {
  const latenciesMs: number[] = []
  let wrong = 0
  let firstWrong: string | undefined
  const startedMs = performance.now()
  return {
    note(answer: { status: number; body: Buffer }, sentMs: number): void {
      latenciesMs.push(performance.now() - sentMs)
      if (answer.status === expectedStatus) return
      wrong++
      firstWrong ??= `${answer.status} ${answer.body.toString().slice(0, 300)}`
    },
    report: (): LoadReport => ({
      answered: latenciesMs.length,
      tookMs: performance.now() - startedMs,
      p50Ms: percentile(latenciesMs, 0.5),
      p99Ms: percentile(latenciesMs, 0.99),
      wrong,
      firstWrong,
    }),
  }
}

async function withConnections<T>(
  work: Work,
  use: (connections: readonly HttpConnection[]) => Promise<T>,
): Promise<T> {
  const opening = Array.from({ length: work.connections }, () => HttpConnection.open(work.port))
  const connections = await Promise.all(opening)
  try {
    return await use(connections)
  } finally {
    for (const connection of connections) connection.close()
  }
}

const handlers = {
  /** Every connection sends the next request as soon as the last is answered, for `forMs`. */
  repeat: (work: Work, forMs: number): Promise<LoadReport> =>
    withConnections(work, async (connections) => {
      const bytes = work.requests.map(requestBytes)
      const recorder = createCounter(work.expectedStatus)
      const untilMs = performance.now() + forMs
      let turn = 0
      const channel = async (connection: HttpConnection) => {
        while (performance.now() < untilMs) {
          const request = bytes[turn++ % bytes.length] as Buffer
          const sentMs = performance.now()
          recorder.note(await connection.send(request), sentMs)
        }
      }
      await Promise.all(connections.map(channel))
      return recorder.report()
    }),

  /** Sends every request once, as fast as they are answered. */
  once: (work: Work): Promise<LoadReport> =>
    withConnections(work, async (connections) => {
      const queue = work.requests.map(requestBytes).values()
      const recorder = createCounter(work.expectedStatus)
      const channel = async (connection: HttpConnection) => {
        for (const request of queue) {
          const sentMs = performance.now()
          recorder.note(await connection.send(request), sentMs)
        }
      }
      await Promise.all(connections.map(channel))
      return recorder.report()
    }),

  /** Sends requests at a fixed rate, independent of the answers; the time of a late answer counts from its due time. */
  atRate: (work: Work, perSecond: number, forMs: number): Promise<LoadReport> =>
    withConnections(work, async (connections) => {
      const bytes = work.requests.map(requestBytes)
      const recorder = createCounter(work.expectedStatus)
      const startedMs = performance.now()
      let turn = 0
      const channel = async (connection: HttpConnection) => {
        for (;;) {
          const dueMs = startedMs + (turn * 1_000) / perSecond
          if (dueMs > startedMs + forMs) return
          const request = bytes[turn++ % bytes.length] as Buffer
          const earlyMs = dueMs - performance.now()
          if (earlyMs > 0) await delay(earlyMs)
          // The timer is coarse: its delay is the generator's fault, not the server's.
          const sentMs = earlyMs > 0 ? performance.now() : dueMs
          recorder.note(await connection.send(request), sentMs)
        }
      }
      await Promise.all(connections.map(channel))
      return recorder.report()
    }),

  /** One request, its status and its text. */
  ask: (port: number, request: HttpRequest): Promise<{ status: number; text: string }> =>
    withConnections({ port, connections: 1, expectedStatus: 200, requests: [] }, async ([connection]) => {
      const { status, body } = await (connection as HttpConnection).send(requestBytes(request))
      return { status, text: body.toString() }
    }),
}
export type LoadGenerator = typeof handlers

offer(handlers)
process.on('SIGINT', () => {}) // Ctrl-C reaches the whole terminal; the benchmark ends this process
sendReady(0)
