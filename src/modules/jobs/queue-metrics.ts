import pTimeout from 'p-timeout'
import type { CoreServices } from '../../core/core-services.ts'
import { COUNT_LIMIT, type QueueCounts, readQueueCounts } from './queue-counts.ts'

const MEASURE_TIMEOUT_MS = 1_000
const STATES = ['due', 'later', 'running', 'retrying', 'failed'] as const

/** Registers gauges of the queues. A scrape reads them with one query, and omits them while the database does not respond. */
export function registerQueueMetrics({ metrics, db, jobs }: Pick<CoreServices, 'metrics' | 'db' | 'jobs'>) {
  const measure = async (): Promise<readonly QueueCounts[]> => {
    try {
      const queues = jobs.queues().map(({ name }) => name)
      return await pTimeout(readQueueCounts(db, queues), { milliseconds: MEASURE_TIMEOUT_MS })
    } catch {
      return []
    }
  }
  /** All gauges of a response and concurrent responses share a query. */
  let measuring: ReturnType<typeof measure> | undefined
  const counts = () => {
    measuring ??= measure().finally(() => {
      measuring = undefined
    })
    return measuring
  }
  metrics.gauges(
    'wheelhouse_jobs',
    `Unfinished background jobs (counted up to ${COUNT_LIMIT})`,
    ['queue', 'state'],
    async () =>
      (await counts()).flatMap((row) =>
        STATES.map((state) => [{ queue: row.queue, state }, row[state]] as const),
      ),
  )
  metrics.gauges(
    'wheelhouse_job_oldest_due_seconds',
    'Time since the oldest waiting job of the queue became due',
    ['queue'],
    async () =>
      (await counts()).map(({ queue, oldest_due_seconds }) => [{ queue }, oldest_due_seconds] as const),
  )
}
