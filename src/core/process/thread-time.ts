import type { Log } from '../log.ts'

/** A step that holds a thread for this long delays stops: it is named and counted. */
export const LONG_STEP_MS = 100
/** Time that may be used: so much at once, and so much for each second. */
interface Budget {
  readonly burstMs: number
  readonly msPerSecond: number
}
/** The time of the main thread that the requests of one account may take. */
const BUDGET: Budget = { burstMs: 1_000, msPerSecond: 200 }
/** Shorter steps cost nothing: their number is limited elsewhere. */
const FREE_STEP_MS = 5
/** Accounts whose use is remembered. Beyond that, the one known longest is forgotten. */
const MAX_ACCOUNTS = 10_000
const LAG_CHECK_MS = 50
/** Requests in progress that are named when the thread was held by an unknown step. */
const MAX_NAMED = 10

/** Adds up the time that accounts use, which is forgotten at the rate of their budget. */
export function createUsage({ burstMs, msPerSecond }: Budget, maxAccounts = MAX_ACCOUNTS) {
  const used = new Map<string, { ms: number; atMs: number }>()
  const leftOf = (usage: { ms: number; atMs: number }, atMs: number) =>
    Math.max(0, usage.ms - ((atMs - usage.atMs) * msPerSecond) / 1_000)

  return {
    add(account: string, ms: number, atMs: number): void {
      const usage = used.get(account)
      if (usage) {
        usage.ms = leftOf(usage, atMs) + ms
        usage.atMs = atMs
        return
      }
      used.set(account, { ms, atMs })
      const oldest = used.keys().next().value
      if (used.size > maxAccounts && oldest !== undefined) used.delete(oldest)
    },

    /** Returns by how much an account is above its budget, in milliseconds; not positive within it. */
    surplusMs(account: string, atMs: number): number {
      const usage = used.get(account)
      return (usage ? leftOf(usage, atMs) : 0) - burstMs
    },
  }
}

/**
 * Measures how long the steps of requests hold the main thread, which also carries stops. An account above its budget is refused until
 * enough time has passed. A step is the work between two waits: waiting costs nothing.
 * @param count counts a step that took longer than `LONG_STEP_MS`
 */
export function createThreadTime(deps: {
  log: Log
  count: (step: string) => void
  /** Whether accounts are refused above their budget. Default: true. */
  limited?: boolean
  nowMs?: () => number
}) {
  const { log, count, limited = true, nowMs = () => performance.now() } = deps
  const usage = createUsage(BUDGET)
  /** The names of requests in progress. */
  const inProgress = new Set<{ readonly name: string }>()
  /** The longest measured step since the last check. */
  let longestMs = 0
  let checkedMs = nowMs()

  const charge = (account: string, ms: number) => usage.add(account, ms, nowMs())

  function reportLong(step: string, ms: number, details: object): void {
    count(step)
    log.warn({ step, ms: Math.round(ms), ...details }, 'a step held the main thread')
  }

  return {
    /** Charges an account for work that is not measured. */
    charge,

    /** Runs a step of a request, and charges its account. */
    measure<T>(step: string, account: string | undefined, work: () => T): T {
      const startedMs = nowMs()
      try {
        return work()
      } finally {
        const ms = nowMs() - startedMs
        if (account !== undefined && ms > FREE_STEP_MS) charge(account, ms)
        longestMs = Math.max(longestMs, ms)
        if (ms >= LONG_STEP_MS) reportLong(step, ms, { account })
      }
    },

    /** Notes a request in progress until the returned function is called. */
    begin(name: string): () => void {
      const request = { name }
      inProgress.add(request)
      return () => void inProgress.delete(request)
    },

    /** Returns after how many milliseconds an account is within its budget again; 0 if it is. */
    waitMs(account: string): number {
      const surplusMs = usage.surplusMs(account, nowMs())
      return !limited || surplusMs <= 0 ? 0 : Math.ceil((surplusMs * 1_000) / BUDGET.msPerSecond)
    },

    /** How often `checkLag` is to be called. */
    lagCheckMs: LAG_CHECK_MS,

    /** Names the requests in progress if the thread was held since the last call and no measured step was the cause. */
    checkLag(): void {
      const atMs = nowMs()
      const lagMs = atMs - checkedMs - LAG_CHECK_MS
      if (lagMs >= LONG_STEP_MS && longestMs < LONG_STEP_MS) {
        const names = new Set([...inProgress].slice(0, MAX_NAMED).map(({ name }) => name))
        reportLong('unknown', lagMs, { inProgress: [...names] })
      }
      checkedMs = atMs
      longestMs = 0
    },
  }
}
export type ThreadTime = ReturnType<typeof createThreadTime>
