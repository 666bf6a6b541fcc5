import { singleFlight } from '../../core/concurrency/concurrency.ts'
import type { Guard } from '../../core/process/guard.ts'
import type { RecorderNodeAddress, RecorderNodes } from './recorder-nodes.store.ts'

const POLL_MS = 1_000

/** Keeps the list of running recorders of a process that reads from them. */
export function watchRecorders(nodes: Pick<RecorderNodes, 'running'>, guard: Guard) {
  let known: readonly RecorderNodeAddress[] = []
  const poll = singleFlight(async () => {
    // Without the database, the recorders that were known last are used.
    known = await nodes.running().catch(() => known)
  })
  const timer = guard.every('timer:recorders', POLL_MS, poll)
  guard.handler('timer:recorders', poll)()
  return {
    /** Returns the recorders that were known last. */
    current: () => known,
    close: () => clearInterval(timer),
  }
}
