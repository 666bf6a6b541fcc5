import { sql } from 'kysely'
import type { JobWithMetadata } from 'pg-boss'
import { inTransaction } from './boss.ts'
import { storeProgress } from './job-progress.ts'
import { ClaimLostError, RetryAt } from './queue.ts'
import type { JobOutcome, JobRunnerOptions } from './runner-options.ts'

/** Heartbeats per heartbeat timeout. */
const BEATS_PER_TIMEOUT = 3
/** Longest error that is stored with a job, in characters. */
const MAX_ERROR_LENGTH = 1_000

interface AttemptOptions extends JobRunnerOptions {
  readonly job: JobWithMetadata
  /** Aborts when the process stops. */
  readonly stop: AbortSignal
}

/** Starts one attempt of a job. `ended` never rejects; the outcome is recorded by then. */
export function startAttempt(deps: AttemptOptions) {
  const claim = createClaim(deps)
  return { ended: runAttempt(deps, claim), checkClaim: claim.check }
}

async function runAttempt(deps: AttemptOptions, claim: Claim): Promise<void> {
  const { queue, job, log, observe } = deps
  const startedMs = performance.now()
  let outcome: JobOutcome = 'completed'
  try {
    await runHandler(deps, claim)
  } catch (cause) {
    outcome = cause instanceof ClaimLostError ? 'lost' : 'failed'
    const fields = { err: cause, queue: queue.name, jobId: job.id, attempt: job.retryCount + 1 }
    if (outcome === 'failed' && !(cause instanceof RetryAt)) log.warn(fields, 'a job failed')
    if (outcome === 'failed')
      await recordFailure(deps, cause).catch((err) => {
        // The job misses its heartbeats and runs again.
        log.warn({ ...fields, err }, 'the failure of a job could not be recorded')
      })
  }
  observe(queue.name, { outcome, ms: performance.now() - startedMs })
}

/** Creates the claim of this process on a job, which its heartbeats keep. */
function createClaim({ engine, queue, job }: AttemptOptions) {
  const lost = new AbortController()
  const attempt = { id: job.id, retryCount: job.retryCount }
  let completed = false
  return {
    attempt,
    signal: lost.signal,
    isCompleted: () => completed,
    /** Ends the claim: the handler completed the job. */
    complete() {
      completed = true
    },
    abort: (reason: Error) => lost.abort(reason),
    /** Sends a heartbeat. Aborts the attempt when another process has the job, or it was cancelled. */
    check() {
      engine()
        .then((boss) => boss.touch(queue.name, [attempt]))
        .then(
          (response) => affectedBy(response) === 0 && !completed && lost.abort(claimLost()),
          () => {}, // a heartbeat that fails says nothing about the claim
        )
    },
  }
}
type Claim = ReturnType<typeof createClaim>

async function runHandler(deps: AttemptOptions, claim: Claim): Promise<void> {
  const { engine, queue, handler, job, db, stop } = deps
  const boss = await engine()
  const abort = () => claim.abort(new Error('The process stops'))
  stop.addEventListener('abort', abort, { once: true })
  if (stop.aborted) abort()
  const heartbeat = setInterval(claim.check, (queue.heartbeatSeconds * 1_000) / BEATS_PER_TIMEOUT)
  try {
    // This run takes all that is due, so it replaces the jobs that wait, such as those of minutes that the run before it took.
    if (queue.cron !== undefined) await deleteJobs(deps, 'created')
    await handler({
      id: job.id,
      data: queue.data.parse(job.data),
      number: job.retryCount + 1,
      previous: previousOutcome(job),
      signal: claim.signal,
      complete: async (tx) => {
        const response = await boss.complete(queue.name, [claim.attempt], null, { db: inTransaction(tx.db) })
        if (affectedBy(response) === 0) throw claimLost()
        claim.complete()
      },
      progress: (done, total) => storeProgress(db, { jobId: job.id, done, total }),
    })
    // It has done the work of failed runs too. Until then, their retries lead to the dead letters.
    if (queue.cron !== undefined) await deleteJobs(deps, 'retry')
    if (claim.isCompleted()) return
    if (affectedBy(await boss.complete(queue.name, [claim.attempt])) === 0) throw claimLost()
  } finally {
    stop.removeEventListener('abort', abort)
    clearInterval(heartbeat)
  }
}

/** Deletes the jobs of the queue that wait for their first attempt, or for another one. A job that a process is just taking stays. */
async function deleteJobs({ engine, queue, db }: AttemptOptions, state: 'created' | 'retry'): Promise<void> {
  const boss = await engine()
  await db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: string }>`
      select id from pgboss.job where name = ${queue.name} and state = ${state}::pgboss.job_state
      for update skip locked`.execute(trx)
    const ids = rows.map(({ id }) => id)
    if (ids.length > 0) await boss.deleteJob(queue.name, ids, { db: inTransaction(trx) })
  })
}

/** Fails the attempt. The job runs again at the handler's choice, at once when the process stops, or after the queue's delay. */
async function recordFailure(deps: AttemptOptions, cause: unknown): Promise<void> {
  const { engine, queue, job, db, stop, now } = deps
  const boss = await engine()
  const message = (cause instanceof Error ? cause.message : String(cause)).slice(0, MAX_ERROR_LENGTH)
  const retryAt = cause instanceof RetryAt ? cause.at : stop.aborted ? now() : undefined
  await db.transaction().execute(async (trx) => {
    const within = { db: inTransaction(trx) }
    await boss.fail(queue.name, [{ id: job.id, retryCount: job.retryCount }], { message }, within)
    if (isLastAttempt(deps)) await boss.deleteJob(queue.name, job.id, within)
    else if (retryAt) await boss.update(queue.name, undefined, { id: job.id, startAfter: retryAt, ...within })
  })
}

/** Returns whether a failure moves the job to the dead letters. The original would hold back the jobs of its key. */
const isLastAttempt = ({ queue, job }: Parameters<typeof runAttempt>[0]): boolean =>
  queue.retry.limit !== 'unlimited' && job.retryCount >= queue.retry.limit

const claimLost = () => new ClaimLostError('Another process runs the job by now, or it was cancelled')

/** Returns how many jobs a command changed. The types of pg-boss leave the field out. */
const affectedBy = (response: object): unknown => Reflect.get(response, 'affected')

/** The outputs that pg-boss stores when it takes a job from a process: no heartbeat, or the time limit of the attempt. */
const ABANDONED = new Set(['job heartbeat timeout', 'job timed out'])

function previousOutcome({ retryCount, output }: JobWithMetadata): 'failed' | 'abandoned' | undefined {
  if (retryCount === 0) return undefined
  const { value } = (output ?? {}) as { value?: { message?: string } }
  return value?.message !== undefined && ABANDONED.has(value.message) ? 'abandoned' : 'failed'
}
