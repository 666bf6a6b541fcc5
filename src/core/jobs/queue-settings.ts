import type { PgBoss, QueueOptions } from 'pg-boss'
import type { Queue } from './queue.ts'

/** The queue that receives jobs whose retries are exhausted. Admins retry or discard them. */
export const DEAD_LETTERS = 'dead-letters'

const DAY_SECONDS = 86_400
/** PostgreSQL's largest integer. */
const UNLIMITED_RETRIES = 2_147_483_647
/** A job that still waits after this time is removed. Jobs with unlimited retries need more than any outage lasts. */
const KEEP_WAITING_SECONDS = 3_650 * DAY_SECONDS
const KEEP_DEAD_LETTERS_SECONDS = 30 * DAY_SECONDS

/** Returns pg-boss's policy for the order of a queue. */
const policyOf = ({ order }: Pick<Queue, 'order'>) => (order === 'perKey' ? 'key_strict_fifo' : 'standard')

/** Returns pg-boss's settings of a queue. */
function settingsOf(queue: Queue): QueueOptions & { deadLetter?: string } {
  const { retry } = queue
  return {
    retryLimit: retry.limit === 'unlimited' ? UNLIMITED_RETRIES : retry.limit,
    retryDelay: retry.delaySeconds,
    retryBackoff: true,
    retryDelayMax: retry.maxDelaySeconds,
    expireInSeconds: queue.expireSeconds,
    heartbeatSeconds: queue.heartbeatSeconds,
    retentionSeconds: KEEP_WAITING_SECONDS,
    deleteAfterSeconds: queue.keepCompletedSeconds,
    ...(retry.limit !== 'unlimited' && { deadLetter: DEAD_LETTERS }),
  }
}

/** Creates missing queues and applies changed settings. Safe in several processes at once. */
export async function ensureQueues(boss: PgBoss, queues: readonly Queue[]): Promise<void> {
  const existing = new Map((await boss.getQueues()).map((row) => [row.name, row]))
  if (!existing.has(DEAD_LETTERS)) {
    const keep = { retentionSeconds: KEEP_DEAD_LETTERS_SECONDS, retryLimit: 0 }
    await boss.createQueue(DEAD_LETTERS, { policy: 'standard', ...keep })
    await readIntoCache(boss, DEAD_LETTERS)
  }
  for (const queue of queues) {
    const settings = settingsOf(queue)
    const row = existing.get(queue.name) as Record<string, unknown> | undefined
    if (!row) await boss.createQueue(queue.name, { policy: policyOf(queue), ...settings })
    else if (Object.entries(settings).some(([name, value]) => row[name] !== value))
      await boss.updateQueue(queue.name, settings)
    else continue
    await readIntoCache(boss, queue.name)
  }
}

/**
 * Makes pg-boss read a new or changed queue. Otherwise the first transaction that creates a job would read it, over a second
 * connection of the pool that it may have to wait for.
 */
const readIntoCache = (boss: PgBoss, name: string) => boss.findJobs(name, { id: NIL_UUID })
const NIL_UUID = '00000000-0000-0000-0000-000000000000'

/** Sets the cron expressions of queues that this process can run. Removes those of queues that no longer exist. */
export async function ensureSchedules(
  boss: PgBoss,
  runnable: readonly Queue[],
  known: { has(name: string): boolean },
): Promise<void> {
  const existing = new Map((await boss.getSchedules()).map(({ name, cron }) => [name, cron]))
  for (const { name, cron } of runnable) {
    if (cron !== undefined && existing.get(name) !== cron) await boss.schedule(name, cron, {}, { tz: 'UTC' })
  }
  for (const name of existing.keys()) if (!known.has(name)) await boss.unschedule(name)
}
