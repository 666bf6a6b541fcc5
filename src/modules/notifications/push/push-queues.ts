import { z } from 'zod'
import type { Queue } from '../../../core/jobs/queue.ts'

const PushJob = z.strictObject({ userId: z.uuid(), seq: z.number().int() })
export type PushJob = z.infer<typeof PushJob>

const PushMessageJob = z.strictObject({ userId: z.uuid(), seq: z.number().int(), subscriptionId: z.uuid() })
export type PushMessageJob = z.infer<typeof PushMessageJob>

const common = {
  order: 'any',
  concurrency: 5,
  pollMs: 1_000,
  retry: { limit: 'unlimited', delaySeconds: 5, maxDelaySeconds: 300 },
  expireSeconds: 60,
  heartbeatSeconds: 20,
  keepCompletedSeconds: 600,
} as const

/** The queue of decisions whether to push a notification to the browsers of its user. */
export const NOTIFICATION_PUSHES: Queue<PushJob> = {
  ...common,
  name: 'notification-pushes',
  description: 'Decides whether to push a notification to the browsers of a user',
  data: PushJob,
}

/** The queue of messages to push services, one for each browser. */
export const PUSH_MESSAGES: Queue<PushMessageJob> = {
  ...common,
  name: 'push-messages',
  description: 'Pushes a notification to a browser',
  data: PushMessageJob,
}
