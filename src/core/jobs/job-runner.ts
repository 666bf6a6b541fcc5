import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import type { JobWithMetadata } from 'pg-boss'
import { startAttempt } from './job-attempt.ts'
import type { JobRunnerOptions } from './runner-options.ts'

/** Pause after a failed fetch. */
const FETCH_RETRY_MS = 1_000

/**
 * Creates the runner of a queue in this process. It has one poll per queue instead of pg-boss's one per worker, fetches a
 * job for each free slot, and refills a slot after its job has ended (docs/decisions/2026-11-22-jobs.md).
 */
export function createJobRunner(deps: JobRunnerOptions) {
  const { engine, queue, log } = deps
  const running = new Map<string, ReturnType<typeof startAttempt>>()
  const stopping = new AbortController()
  /** Aborts the running attempts. */
  const aborting = new AbortController()
  let polling: Promise<void> | undefined
  let wakeUp = new AbortController()
  let failing = false
  /** Fetches under way. */
  let fetching = 0

  function start(job: JobWithMetadata): Promise<void> {
    const attempt = startAttempt({ ...deps, job, stop: aborting.signal })
    running.set(job.id, attempt)
    return attempt.ended.finally(() => {
      running.delete(job.id)
      if (running.size === queue.concurrency - 1) wake() // jobs may have waited for a slot
    })
  }

  /** Fetches due jobs into the free slots. Returns the number of started attempts, and their end. */
  async function fetchJobs(free: number): Promise<{ started: number; ended: Promise<unknown> }> {
    const { groupConcurrency } = queue
    const limits = { batchSize: free, ...(groupConcurrency !== undefined && { groupConcurrency }) }
    fetching++
    try {
      const jobs = await (await engine()).fetch<object>(queue.name, { ...limits, includeMetadata: true })
      return { started: jobs.length, ended: Promise.all(jobs.map(start)) }
    } finally {
      fetching--
    }
  }

  const freeSlots = () => queue.concurrency - running.size
  const allEnded = () => Promise.allSettled([...running.values()].map(({ ended }) => ended))

  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      wakeUp = new AbortController()
      const free = freeSlots()
      let pauseMs = queue.pollMs
      try {
        const { started } = free > 0 ? await fetchJobs(free) : { started: 0 }
        if (free > 0 && started === free) continue // more may be due; without a free slot, the next turn waits
        if (failing) log.info({ queue: queue.name }, 'jobs can be fetched again')
        failing = false
      } catch (cause) {
        if (!failing) log.warn({ err: cause, queue: queue.name }, 'jobs could not be fetched, will retry')
        failing = true
        pauseMs = FETCH_RETRY_MS
      }
      await delay(pauseMs, undefined, { signal: wakeUp.signal }).catch(() => {})
    }
  }

  function wake(): void {
    wakeUp.abort()
  }

  return {
    start: () => {
      polling ??= poll()
    },

    /** Looks for due jobs at once. */
    wake,

    /** Aborts the attempt of a job if its claim is lost. */
    checkClaim(jobId: string): void {
      running.get(jobId)?.checkClaim()
    },

    /** Runs the due jobs and waits for those that it started. */
    async runDue(): Promise<void> {
      for (;;) {
        const { started, ended } = await fetchJobs(Math.max(1, freeSlots()))
        if (started === 0) return
        await ended
      }
    },

    /** Waits until no attempt is running or about to start. */
    async idle(): Promise<void> {
      while (fetching > 0 || running.size > 0) {
        await allEnded()
        await setImmediate()
      }
    },

    /** Stops to fetch, waits for running attempts, and aborts them after `graceMs`. */
    async close(graceMs: number): Promise<void> {
      stopping.abort()
      wake()
      await polling
      const timer = setTimeout(() => aborting.abort(), graceMs)
      while (running.size > 0) await allEnded()
      clearTimeout(timer)
    },
  }
}
export type JobRunner = ReturnType<typeof createJobRunner>
