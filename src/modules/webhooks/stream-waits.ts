import { sql } from 'kysely'
import { alone } from '../../core/concurrency/async.ts'
import type { Db } from '../../core/database/tables.ts'
import { AppError, unauthorized } from '../../core/errors/errors.ts'
import type { Bus } from '../../core/events/bus.ts'
import type { Caller } from '../../core/http/endpoint.ts'

/** Requests of one person that wait at a time, and of all, in one process. */
const PER_USER = 5
const IN_ALL = 2_000
/** Finds events whose hint was lost. */
const POLL_MS = 1_000

/** A request that waits for something to happen. */
export interface Wait {
  /** Call before looking; what comes from here on ends the next `rest`. */
  begin(): void
  /**
   * Settles when there is an event after `seen`, when the time is up, when the process ends, or when nobody listens.
   * @throws 401 when the API key was revoked meanwhile
   */
  rest(seen: number, untilMs: number): Promise<void>
  /** Nobody listens any more, or the process ends. */
  readonly over: boolean
  close(): void
}

interface Waiting {
  readonly userId: string
  readonly apiKeyId: string | undefined
  seen: number
  woken: boolean
  over: boolean
  revoked: boolean
  wake: () => void
}

/**
 * Requests that wait for events. No connection to the database is held meanwhile: hints wake those who wait, and one
 * query a second looks for all of them together.
 */
export function createEventWaits(parts: { db: Db; bus: Bus; report: (cause: unknown) => void }) {
  const { db, bus, report } = parts
  const waiting = new Set<Waiting>()
  let closed = false
  let timer: NodeJS.Timeout | undefined

  const look = alone(async () => {
    const userIds = [...new Set([...waiting].map(({ userId }) => userId))]
    if (userIds.length === 0) return
    const rows = await db
      .selectFrom('event_streams')
      .select(['user_id', 'head'])
      .where('user_id', '=', sql<string>`any(${userIds}::uuid[])`)
      .execute()
    const heads = new Map(rows.map(({ user_id, head }) => [user_id, head]))
    for (const one of waiting) if ((heads.get(one.userId) ?? 0) > one.seen) wake(one)
  })
  const lookAgain = () => void look().catch(() => {}) // the next look is a second away; requests tell of the database
  let unsubscribe: (() => void)[] = []

  function leave(one: Waiting): void {
    waiting.delete(one)
    if (waiting.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    /** Begins to hear hints. Processes that serve no requests need none. */
    listen(): void {
      unsubscribe = [
        bus.subscribe('events.stored', () => {
          for (const one of waiting) one.woken = true
          lookAgain()
        }),
        bus.subscribe('credential.revoked', ({ apiKeyId }) => {
          for (const one of waiting) {
            if (one.apiKeyId !== apiKeyId) continue
            one.revoked = true
            wake(one)
          }
        }),
      ]
    },

    get waiting() {
      return waiting.size
    },

    /** @throws 429 when too many of this person's requests, or of all, wait already */
    open({ userId, credential }: Caller): Wait {
      const own = [...waiting].filter((one) => one.userId === userId).length
      if (own >= PER_USER || waiting.size >= IN_ALL) {
        throw new AppError(429, `At most ${PER_USER} requests may wait at a time. End one first.`, {
          headers: { 'Retry-After': '5' },
        })
      }
      const apiKeyId = credential.kind === 'api_key' ? credential.id : undefined
      const one: Waiting = {
        ...{ userId, apiKeyId, seen: Number.MAX_SAFE_INTEGER, woken: false, over: closed, revoked: false },
        wake: () => {},
      }
      waiting.add(one)
      timer ??= setInterval(lookAgain, POLL_MS)
      return {
        begin() {
          one.woken = false
        },
        async rest(seen, untilMs) {
          one.seen = seen
          if (!one.woken && !one.over) await sleep(one, untilMs - performance.now())
          one.seen = Number.MAX_SAFE_INTEGER
          if (one.revoked) throw unauthorized('The API key has been revoked. Use another one.')
        },
        get over() {
          return one.over
        },
        close() {
          one.over = true
          wake(one)
          leave(one)
        },
      }
    },

    /** Answers all that wait; whoever comes now does not wait. */
    async close(): Promise<void> {
      closed = true
      for (const stop of unsubscribe) stop()
      for (const one of waiting) {
        one.over = true
        wake(one)
      }
      await look().catch(report)
    },
  }
}
export type EventWaits = ReturnType<typeof createEventWaits>

function wake(one: Waiting): void {
  one.wake()
}

async function sleep(one: Waiting, ms: number): Promise<void> {
  if (ms <= 0) return
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    one.wake = () => {
      clearTimeout(timer)
      resolve()
    }
  })
  one.wake = () => {}
}
