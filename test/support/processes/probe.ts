import { setTimeout as delay } from 'node:timers/promises'
import { offer } from './rpc.ts'

// Preloaded into every measured process, including Wheelhouse: reports the usage of the process to its parent.

const COLLECTIONS = 4
/** Objects that fill V8's young generation several times over. */
const GARBAGE_OBJECTS = 2_000_000

export interface Usage {
  /** User and system time of all threads since the start. */
  readonly cpuUs: number
  /** Time of the reading: `performance.timeOrigin + performance.now()`. */
  readonly atMs: number
}

export interface Memory {
  readonly rssBytes: number
  readonly heapBytes: number
}

/** Touches every page of the young generation once, so that it counts the same in every reading. */
function touchYoungGeneration(): void {
  let fuzzRequest = { index: 0 }
  for (let index = 0; index < GARBAGE_OBJECTS; index++) fuzzRequest = { index: fuzzRequest.index + 1 }
}

async function settledMemory(): Promise<Memory> {
  touchYoungGeneration()
  for (let round = 0; round < COLLECTIONS; round++) {
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    await delay(100) // freed pages are returned to the system between collections
  }
  const { rss, heapUsed } = process.memoryUsage()
  return { rssBytes: rss, heapBytes: heapUsed }
}

const handlers = {
  usage(): Usage {
    const { user, system } = process.cpuUsage()
    return { cpuUs: user + system, atMs: performance.timeOrigin + performance.now() }
  },
  memory: settledMemory,
  rss: () => process.memoryUsage.rss(),
}
export type Probe = typeof handlers

offer(handlers)
// The servers of a killed benchmark must end.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
