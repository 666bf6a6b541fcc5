import { pino } from 'pino'
import { z } from 'zod'
import { connectOrm, queries } from '../../../src/app/database/orm.ts'
import { createMemoryBus } from '../../../src/core/events/bus.ts'
import { createTransactor } from '../../../src/core/events/transactor.ts'
import { createJobs } from '../../../src/core/jobs/jobs.ts'
import type { JobHandler, NewJob, Queue } from '../../../src/core/jobs/queue.ts'
import { writeNotifications } from '../../../src/modules/notifications/notify.ts'
import type { TestDatabase } from '../database/database.ts'
import { noHints } from './jobs.ts'

const Item = z.strictObject({ name: z.string() })
export type Item = z.infer<typeof Item>

/** Returns a queue for tests. Its retries begin after a second. */
export const testQueue = (change: Partial<Queue<Item>> = {}): Queue<Item> => ({
  name: 'test-items',
  description: 'Runs test items',
  data: Item,
  order: 'any',
  concurrency: 5,
  pollMs: 100,
  retry: { limit: 2, delaySeconds: 1, maxDelaySeconds: 1 },
  expireSeconds: 60,
  heartbeatSeconds: 10,
  keepCompletedSeconds: 60,
  ...change,
})

/** Creates the job engine of one process on a database. Several of them are several processes. */
export async function createEngine(
  database: TestDatabase,
  queue: Queue<Item>,
  handler: JobHandler<Item>,
  { supervise = false } = {},
) {
  const orm = await connectOrm({ url: database.url, poolSize: 5, applicationName: 'jobs-test' })
  const db = queries(orm.em.fork())
  const outcomes: string[] = []
  const jobs = createJobs({
    db,
    pool: () => orm.em.getConnection().getNativeClient(),
    hints: noHints,
    log: pino({ level: 'silent' }),
    now: () => new Date(),
    observe: (_queue, { outcome }) => void outcomes.push(outcome),
    supervise,
  })
  jobs.register(queue, handler)
  await jobs.open()
  const transact = createTransactor({
    db,
    bus: createMemoryBus(() => {}),
    forkEntityManager: () => orm.em.fork(),
    writeNotifications,
    jobs,
  })
  let closed = false
  return {
    jobs,
    db,
    transact,
    /** The outcomes of the attempts in this process, in their order. */
    outcomes,
    enqueue: (...items: (Omit<NewJob<Item>, 'queue' | 'data'> & { name: string })[]) =>
      transact(async (tx) => {
        for (const { name, ...options } of items) tx.enqueue({ queue, data: { name }, ...options })
      }),
    start: () => jobs.start(() => true),
    async [Symbol.asyncDispose]() {
      if (closed) return
      closed = true
      await jobs.drain()
      await jobs.close()
      await orm.close(true)
    },
  }
}
