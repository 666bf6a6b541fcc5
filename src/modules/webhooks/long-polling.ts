import { sql } from 'kysely'
import { singleFlight } from '../../core/concurrency/concurrency.ts'
import type { Db } from '../../core/database/tables.ts'
import { AppError, accountSuspended, unauthorized } from '../../core/errors/errors.ts'
import type { Bus } from '../../core/events/bus.ts'
import type { Caller } from '../../core/http/endpoint.ts'

/** Waiting requests of one user in a process. */
const MAX_PER_USER = 5
/** Waiting requests of all users in a process. */
const MAX_TOTAL = 2_000
/** Interval of the query that finds events whose bus message was lost. */
const POLL_MS = 1_000

/** A request that waits for events. */
export interface LongPoll {
  /** Arms the wait, before the stream is read. An event after this call ends the next `wait`. */
  arm(): void
  /**
   * Resolves when an event after `seen` exists, the time is over, the process stops or the client disconnects.
   * @throws 401 if the API key was revoked during the wait, 403 if the user was suspended
   */
  wait(seen: number, untilMs: number): Promise<void>
  /** Whether the client has disconnected or the process stops. */
  readonly ended: boolean
  close(): void
}

interface Waiter {
  readonly userId: string
  /** The organization whose events the request waits for. */
  readonly streamId: string
  readonly apiKeyId: string | undefined
  seen: number
  woken: boolean
  ended: boolean
  revoked: boolean
  suspended: boolean
  wake: () => void
}

/**
 * Creates the registry of requests that wait for events. A waiting request uses no database connection: bus messages wake
 * requests, and a query per second checks all of them.
 */
export function createLongPolling(deps: { db: Db; bus: Bus; report: (cause: unknown) => void }) {
  const { db, bus, report } = deps
  const waitingRequests = new Set<Waiter>()
  let closed = false
  let timer: NodeJS.Timeout | undefined

  const checkHeads = singleFlight(async () => {
    const streamIds = [...new Set([...waitingRequests].map(({ streamId }) => streamId))]
    if (streamIds.length === 0) return
    const rows = await db
      .selectFrom('event_streams')
      .select(['user_id', 'head'])
      .where('user_id', '=', sql<string>`any(${streamIds}::uuid[])`)
      .execute()
    const heads = new Map(rows.map(({ user_id, head }) => [user_id, head]))
    for (const waiter of waitingRequests) if ((heads.get(waiter.streamId) ?? 0) > waiter.seen) wake(waiter)
  })
  const recheckHeads = () => void checkHeads().catch(() => {}) // the timer retries; requests report database errors
  let unsubscribe: (() => void)[] = []

  function removeWaiter(waiter: Waiter): void {
    waitingRequests.delete(waiter)
    if (waitingRequests.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    /** Subscribes to the bus. Only processes that serve requests need it. */
    listen(): void {
      unsubscribe = [
        bus.subscribe('events.stored', () => {
          for (const waiter of waitingRequests) waiter.woken = true
          recheckHeads()
        }),
        bus.subscribe('credential.revoked', ({ apiKeyId }) => {
          for (const waiter of waitingRequests) {
            if (waiter.apiKeyId !== apiKeyId) continue
            waiter.revoked = true
            wake(waiter)
          }
        }),
        bus.subscribe('permissions.lost', ({ userId, suspended }) => {
          for (const waiter of waitingRequests) {
            if (!suspended || waiter.userId !== userId) continue
            waiter.suspended = true
            wake(waiter)
          }
        }),
      ]
    },

    get waitingRequests() {
      return waitingRequests.size
    },

    /** Registers a waiting request. @throws 429 if too many requests of the user or of all users are waiting */
    open({ userId, organization, credential }: Caller): LongPoll {
      const ownCount = [...waitingRequests].filter((waiter) => waiter.userId === userId).length
      if (ownCount >= MAX_PER_USER || waitingRequests.size >= MAX_TOTAL) {
        throw new AppError(
          429,
          'too_many_concurrent_requests',
          `At most ${MAX_PER_USER} of your requests can wait at the same time. End one first.`,
          {
            headers: { 'Retry-After': '5' },
          },
        )
      }
      const apiKeyId = credential.kind === 'api_key' ? credential.id : undefined
      const waiter: Waiter = {
        userId,
        streamId: organization.id,
        apiKeyId,
        seen: Number.MAX_SAFE_INTEGER,
        woken: false,
        ended: closed,
        revoked: false,
        suspended: false,
        wake: () => {},
      }
      waitingRequests.add(waiter)
      timer ??= setInterval(recheckHeads, POLL_MS)
      return {
        arm() {
          waiter.woken = false
        },
        async wait(seen, untilMs) {
          waiter.seen = seen
          if (!waiter.woken && !waiter.ended) await sleep(waiter, untilMs - performance.now())
          waiter.seen = Number.MAX_SAFE_INTEGER
          if (waiter.revoked)
            throw unauthorized('api_key_revoked', 'The API key has been revoked. Use another one.')
          if (waiter.suspended) throw accountSuspended()
        },
        get ended() {
          return waiter.ended
        },
        close() {
          waiter.ended = true
          wake(waiter)
          removeWaiter(waiter)
        },
      }
    },

    /** Ends all waiting requests. Later requests do not wait. */
    async close(): Promise<void> {
      closed = true
      for (const stop of unsubscribe) stop()
      for (const waiter of waitingRequests) {
        waiter.ended = true
        wake(waiter)
      }
      await checkHeads().catch(report)
    },
  }
}
export type LongPolling = ReturnType<typeof createLongPolling>

function wake(waiter: Waiter): void {
  waiter.wake()
}

async function sleep(waiter: Waiter, ms: number): Promise<void> {
  if (ms <= 0) return
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    waiter.wake = () => {
      clearTimeout(timer)
      resolve()
    }
  })
  waiter.wake = () => {}
}
