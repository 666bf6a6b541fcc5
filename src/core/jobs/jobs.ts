import type { Transaction } from 'kysely'
import type { Pool } from 'pg'
import type { PgBoss } from 'pg-boss'
import type { Db, Tables } from '../database/tables.ts'
import type { Log } from '../log.ts'
import { createBoss, inTransaction } from './boss.ts'
import { createJobRunner, type JobRunner } from './job-runner.ts'
import { replaceLater } from './one-per-key.ts'
import type { JobHandler, NewJob, Queue } from './queue.ts'
import { ensureQueues, ensureSchedules } from './queue-settings.ts'
import type { JobObserver } from './runner-options.ts'

/** Time that running jobs have to finish when the process stops. */
const STOP_GRACE_MS = 2_000

export interface JobsOptions {
  readonly db: Db
  readonly pool: () => Promise<Pool>
  /** Messages between processes. A lost hint costs time, never a job. */
  readonly hints: JobHints
  readonly log: Log
  readonly now: () => Date
  readonly observe: JobObserver
  /** Whether this process looks for abandoned jobs and creates the scheduled ones. */
  readonly supervise: boolean
}

interface JobHints {
  /** These queues have new jobs that are due. */
  readonly created: Hint
  /** The jobs with these ids were cancelled. */
  readonly cancelled: Hint
}

interface Hint {
  publish(names: string[]): void
  /** Returns the function that unsubscribes. */
  subscribe(listener: (names: readonly string[]) => void): () => void
}

interface RegisteredQueue {
  readonly queue: Queue
  readonly handler: JobHandler<object> | undefined
}

/**
 * Creates the job engine of a process: pg-boss in the platform's own database. Modules register their queues; `open`
 * creates them in the database, `start` runs those of the process's roles.
 */
export function createJobs(deps: JobsOptions) {
  const { hints, supervise } = deps
  const boss = createBoss(deps)
  const registered = new Map<string, RegisteredQueue>()
  const runners = new Map<string, JobRunner>()
  let opening: Promise<PgBoss> | undefined
  const unsubscribe: (() => void)[] = []

  /** Returns the opened engine. Repeats a failed attempt, because the database may have been unreachable. */
  function engine(): Promise<PgBoss> {
    opening ??= open().catch((cause) => {
      opening = undefined
      throw cause
    })
    return opening
  }

  async function open(): Promise<PgBoss> {
    await boss.start()
    const entries = [...registered.values()]
    await ensureQueues(
      boss,
      entries.map(({ queue }) => queue),
    )
    const runnable = entries.filter(({ handler }) => handler).map(({ queue }) => queue)
    if (supervise) await ensureSchedules(boss, runnable, registered)
    return boss
  }

  function runnerOf(name: string): JobRunner {
    const known = runners.get(name)
    if (known) return known
    const entry = registered.get(name)
    if (!entry?.handler) throw new Error(`This process has no handler for the queue ${name}`)
    const runner = createJobRunner({ ...deps, engine, queue: entry.queue, handler: entry.handler })
    runners.set(name, runner)
    return runner
  }

  return {
    /**
     * Registers a queue, before `open`. Without a handler, this process only creates its jobs: for example, mails that
     * another process sends, which has a mail server.
     */
    register<Data extends object>(queue: Queue<Data>, handler: JobHandler<Data> | undefined): void {
      if (registered.has(queue.name)) throw new Error(`The queue ${queue.name} is registered twice`)
      registered.set(queue.name, { queue, handler: handler as JobHandler<object> | undefined })
    },

    /** The registered queues. */
    queues: (): Queue[] => [...registered.values()].map(({ queue }) => queue),

    engine,

    /** Creates the queues in the database. @throws if it is unreachable, or has another version of the job engine */
    open: async (): Promise<void> => void (await engine()),

    /** Creates jobs in the caller's transaction. Processes learn of them by `announce`, after the commit. */
    async insert(trx: Transaction<Tables>, jobs: readonly NewJob[]): Promise<void> {
      const opened = await engine()
      for (const [queue, ofQueue] of Map.groupBy(jobs, (job) => job.queue)) {
        const replacement = { boss: opened, name: queue.name, jobs: ofQueue, now: deps.now() }
        const created = queue.onePerKey ? await replaceLater(trx, replacement) : ofQueue
        if (created.length > 0)
          await opened.insert(queue.name, created.map(toInsert), { db: inTransaction(trx) })
      }
    },

    /** Wakes the processes that run the queues of these jobs. A lost announcement costs time, never a job. */
    announce(jobs: readonly NewJob[]): void {
      const due = jobs.filter(({ startAt }) => !startAt || startAt <= deps.now())
      const queues = [...new Set(due.map(({ queue }) => queue.name))]
      if (queues.length > 0) hints.created.publish(queues)
    },

    /** Starts to run the queues that have a handler here and that `runs` selects. */
    async start(runs: (queue: Queue) => boolean): Promise<void> {
      for (const { queue, handler } of registered.values()) {
        if (!handler || !runs(queue)) continue
        if (queue.runsAtStart) await (await engine()).send(queue.name, {})
        runnerOf(queue.name).start()
      }
      if (runners.size === 0) return
      unsubscribe.push(
        hints.created.subscribe((queues) => {
          for (const name of queues) runners.get(name)?.wake()
        }),
        hints.cancelled.subscribe((jobIds) => {
          for (const runner of runners.values()) for (const jobId of jobIds) runner.checkClaim(jobId)
        }),
      )
    },

    /** Runs the due jobs of a queue and waits for them. */
    runDue: async (queue: Queue): Promise<void> => await runnerOf(queue.name).runDue(),

    /** Waits until this process runs no job of a queue. */
    idle: async (queue: Queue): Promise<void> => await runnerOf(queue.name).idle(),

    /** Stops to fetch jobs. Aborts running ones after a grace period; they are due for other processes at once. */
    async drain(): Promise<void> {
      for (const end of unsubscribe) end()
      await Promise.all([...runners.values()].map((runner) => runner.close(STOP_GRACE_MS)))
    },

    /** Ends the engine. The connections belong to the caller. */
    async close(): Promise<void> {
      await opening?.catch(() => {})
      await boss.stop({ graceful: false, close: false })
    },
  }
}
export type Jobs = ReturnType<typeof createJobs>

/** Returns a job in the form of pg-boss. */
const toInsert = ({ data, key, group, startAt, priority }: NewJob) => ({
  data,
  ...(key !== undefined && { singletonKey: key }),
  ...(group !== undefined && { group: { id: group } }),
  ...(startAt && { startAfter: startAt.toISOString() }),
  ...(priority !== undefined && { priority }),
})
