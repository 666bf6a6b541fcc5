import { z } from 'zod'
import type { Queue } from './queue.ts'

const NoData = z.looseObject({})
type NoData = z.infer<typeof NoData>

/**
 * Defines a queue whose jobs a cron expression creates, in UTC. Its work is idempotent and takes what is due, so a job that
 * is missed or runs twice does no harm, and a run replaces the jobs that wait when it begins. A run that succeeds replaces the retries of
 * failed ones.
 */
export const cronQueue = (name: string, cron: string, description: string): Queue<NoData> => ({
  name,
  description,
  cron,
  data: NoData,
  order: 'any',
  concurrency: 1,
  pollMs: 15_000,
  retry: { limit: 3, delaySeconds: 5, maxDelaySeconds: 60 },
  expireSeconds: 600,
  heartbeatSeconds: 30,
  keepCompletedSeconds: 3_600,
})
