import type { SessionLogEvent } from '@wheelhouse/protocol'
import { coalesce } from '../../../core/concurrency/concurrency.ts'
import type { Bus } from '../../../core/events/bus.ts'
import type { Log } from '../../../core/log.ts'
import type { Guard } from '../../../core/process/guard.ts'

const POLL_MS = 500
/** How long hints are collected into one poll. */
const HINT_DELAY_MS = 50
const PAGE_SIZE = 200

/** Reads the log of a session. Concurrent reads share a query. */
export type ReadLog = (sessionId: string, after: number, limit: number) => Promise<SessionLogEvent[]>

interface Followed {
  readonly sessionId: string
  readonly onEntry: (entry: SessionLogEvent) => void
  after: number
  stopped: boolean
}

/** Reads new entries of the logs of sessions: twice a second, and soon after a hint. */
export function createLogFollower(deps: {
  readonly readLog: ReadLog
  readonly bus: Bus
  readonly guard: Guard
  readonly log: Log
}) {
  const { readLog, bus, guard, log } = deps
  const followed = new Set<Followed>()
  let failing = false
  let hintTimer: NodeJS.Timeout | undefined

  async function readNew(session: Followed): Promise<void> {
    const entries = await readLog(session.sessionId, session.after, PAGE_SIZE)
    for (const entry of entries) {
      if (session.stopped) return
      session.after = entry.seq
      session.onEntry(entry)
    }
  }

  const poll = coalesce(async () => {
    const results = await Promise.allSettled([...followed].map(readNew))
    const failure = results.find((result) => result.status === 'rejected')
    if (failure && !failing) log.warn({ err: failure.reason }, 'reading the logs of live sessions failed')
    failing = failure !== undefined
  })
  const afterHint = guard.timer('timer:foxglove-hint', async () => {
    hintTimer = undefined
    await poll()
  })
  const timer = guard.every('timer:foxglove-log', POLL_MS, poll)
  const unsubscribe = guard.subscribe(bus, 'outbox.wake', () => {
    if (followed.size > 0) hintTimer ??= afterHint(HINT_DELAY_MS)
  })

  return {
    /** Calls `onEntry` for each entry with a number above `after`. Returns the function that ends this. */
    follow(sessionId: string, after: number, onEntry: (entry: SessionLogEvent) => void): () => void {
      const session: Followed = { sessionId, after, onEntry, stopped: false }
      followed.add(session)
      return () => {
        session.stopped = true
        followed.delete(session)
      }
    },
    close(): void {
      clearInterval(timer)
      clearTimeout(hintTimer)
      unsubscribe()
      followed.clear()
    },
  }
}
