import { exampleIds, idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { line, queryInteger, timestamp } from '../../core/http/fields.ts'

const count = z.number().int()
const queueName = z.string().meta({ examples: ['notification-mails'] })

/** A queue of background jobs, as admins see it. */
export const QueueView = z
  .object({
    name: queueName,
    description: z.string().meta({ examples: ['Mails a notification'] }),
    cron: z
      .string()
      .nullable()
      .meta({ description: 'When a job is created, as a cron expression in UTC.', examples: [null] }),
    due: count.meta({ description: 'Jobs that wait for a free process.', examples: [3] }),
    later: count.meta({ description: 'Jobs that start later.', examples: [12] }),
    running: count.meta({ examples: [2] }),
    retrying: count.meta({ description: 'Jobs that failed and run again.', examples: [1] }),
    failed: count.meta({ description: 'Jobs whose retries are exhausted.', examples: [1] }),
    oldest_due_seconds: z
      .number()
      .meta({ description: 'Time since the oldest waiting job became due.', examples: [0.4] }),
  })
  .meta({ id: 'JobQueue', description: 'A queue of background jobs. Counts end at 100,000.' })

export const JobState = z.enum(['failed', 'retrying', 'running', 'waiting']).meta({ id: 'JobState' })
export type JobState = z.infer<typeof JobState>

/** A background job, as admins see it. */
export const JobView = z
  .object({
    id: idOf('job'),
    queue: queueName,
    state: JobState,
    data: z.record(z.string(), z.unknown()).meta({
      description: 'Ids of the records that the job is about. Never secrets.',
      examples: [{ id: exampleIds.event }],
    }),
    attempts: count.meta({ description: 'Attempts that have started.', examples: [6] }),
    error: z
      .string()
      .nullable()
      .meta({
        description: 'The message of the last error.',
        examples: ['connect ECONNREFUSED 192.0.2.10:587'],
      }),
    created_at: timestamp,
    started_at: timestamp.nullable().meta({ description: 'Start of the last attempt.' }),
    failed_at: timestamp.nullable().meta({ description: 'When the last retry failed; null otherwise.' }),
    next_attempt_at: timestamp
      .nullable()
      .meta({ description: 'When a waiting or retrying job is due.', examples: [null] }),
    progress: z
      .object({
        done: count.meta({ examples: [12_400] }),
        total: count.meta({ description: 'An estimate.', examples: [50_000] }),
      })
      .nullable()
      .meta({ description: 'How far a long job is.', examples: [null] }),
  })
  .meta({ id: 'Job', description: 'A background job that has not finished.' })
export type JobView = z.infer<typeof JobView>

const CURSOR = /^(\d{1,16})\.([0-9a-f-]{36})$/

/** A position in the list of jobs: microseconds since 1970, and the id of the job. */
const JobCursor = z
  .string()
  .regex(CURSOR, 'must be the `next` of a response')
  .refine((text) => z.uuid().safeParse(text.split('.')[1]).success, 'must be the `next` of a response')

export const ListJobs = z.strictObject({
  state: JobState.default('failed').meta({ examples: ['failed'] }),
  queue: line(100)
    .meta({ examples: ['notification-mails'] })
    .optional(),
  before: JobCursor.meta({
    description: 'The `next` of the previous page.',
    examples: [`1795167031000000.${exampleIds.job}`],
  }).optional(),
  limit: queryInteger(1, 200).default(50),
})
export type ListJobs = z.output<typeof ListJobs>

/** Response of GET /api/admin/jobs. */
export const JobPage = z.object({
  jobs: z.array(JobView),
  next: z
    .string()
    .nullable()
    .meta({ description: 'The `before` of the next page; null on the last one.', examples: [null] }),
})

/** The job that an admin retried or discarded. */
export const JobReceipt = z
  .object({ id: idOf('job'), queue: queueName })
  .meta({ id: 'JobReceipt', description: 'A job, and its queue.' })
export type JobReceipt = z.infer<typeof JobReceipt>
