import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Attempt, ClaimLostError, type Queue } from '../../../src/core/jobs/queue.ts'
import { addQueue, quietQueue } from '../../support/world/jobs.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const JOBS = '/api/admin/jobs'

let world: World
let admin: TestUser
beforeAll(async () => {
  world = await createWorld()
  admin = await world.admin()
})
afterAll(() => world[Symbol.asyncDispose]())

let serial = 0

/** Adds a queue whose jobs do what the test sets. */
async function queueOf(retryLimit = 0, settings: Partial<Queue> = {}) {
  const retry = { limit: retryLimit, delaySeconds: 3_600, maxDelaySeconds: 3_600 }
  const queue = quietQueue({ name: `test-${++serial}`, retry, ...settings })
  const ran: Attempt[] = []
  const handler = { run: async (_attempt: Attempt): Promise<void> => {} }
  await addQueue(world.platform.core.jobs, queue, async (attempt) => {
    ran.push(attempt)
    await handler.run(attempt)
  })
  return { queue, ran, handler }
}

const enqueue = (queue: Queue, data: object = {}, startAt?: Date) =>
  world.platform.core.transact(async (tx) => tx.enqueue({ queue, data, ...(startAt && { startAt }) }))

async function list(state: string, { name }: Queue) {
  const { status, body } = await admin.get(`${JOBS}?state=${state}&queue=${name}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.jobs
}

/** Waits until a queue has one job in this state. */
const only = (state: string, queue: Queue) =>
  waitFor(async () => {
    const found = await list(state, queue)
    expect(found).toHaveLength(1)
    return found[0]
  })

async function counts({ name }: Queue) {
  const { status, body } = await admin.get(`${JOBS}/queues`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.queues.find((row: { name: string }) => row.name === name)
}

const audited = async (id: string) =>
  (await admin.get(`/api/admin/audit?subject_id=${id}`)).body.entries.map(
    ({ action, data, actor_id }: { action: string; data: unknown; actor_id: string }) => ({
      action,
      data,
      actor_id,
    }),
  )

const failing = (message: string) => async () => {
  throw new Error(message)
}

test('a failed job is listed with its error; a retry runs it at once, and only once', async () => {
  const { queue, ran, handler } = await queueOf()
  handler.run = failing('the disk is on fire')
  await enqueue(queue, { itemId: 'a' })
  const job = await only('failed', queue)
  expect(job).toEqual({
    id: expect.any(String),
    queue: queue.name,
    state: 'failed',
    data: { itemId: 'a' },
    attempts: 1,
    error: 'the disk is on fire',
    created_at: expect.stringMatching(/Z$/),
    started_at: null,
    failed_at: expect.stringMatching(/Z$/),
    next_attempt_at: null,
    progress: null,
  })
  expect(await counts(queue)).toMatchObject({ due: 0, retrying: 0, running: 0, failed: 1 })

  handler.run = async () => {}
  expect(await admin.post(`${JOBS}/${job.id}/retry`)).toMatchObject({
    status: 200,
    body: { id: job.id, queue: queue.name },
  })
  await waitFor(async () => expect(ran).toHaveLength(2))
  expect(ran[1]?.data).toEqual({ itemId: 'a' })
  expect(await list('failed', queue)).toEqual([])
  expect(await counts(queue)).toMatchObject({ failed: 0 })

  const again = await admin.post(`${JOBS}/${job.id}/retry`)
  expect(again.status).toBe(409)
  expect(again.headers.get('Wheelhouse-Error')).toBe('job_gone')
  expect(await audited(job.id)).toEqual([
    { action: 'job.retried', data: { queue: queue.name }, actor_id: admin.id },
  ])
})

test('a retrying job runs at once', async () => {
  const { queue, ran, handler } = await queueOf(5)
  handler.run = failing('not yet')
  await enqueue(queue)
  const job = await only('retrying', queue)
  expect(job).toMatchObject({ error: 'not yet', attempts: 1 })
  expect(Date.parse(job.next_attempt_at)).toBeGreaterThan(Date.now() + 600_000)
  handler.run = async () => {}
  expect((await admin.post(`${JOBS}/${job.id}/retry`)).status).toBe(200)
  await waitFor(async () => expect(ran.map(({ number }) => number)).toEqual([1, 2]))
  await waitFor(async () => expect(await list('retrying', queue)).toEqual([]))
})

test('a running job shows its progress; a discard aborts it at once', async () => {
  const { queue, handler } = await queueOf(5)
  const aborted = Promise.withResolvers<unknown>()
  handler.run = async ({ progress, signal }) => {
    await progress(3, 10)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    aborted.resolve(signal.reason)
    throw signal.reason
  }
  await enqueue(queue)
  const job = await waitFor(async () => {
    const [found] = await list('running', queue)
    expect(found).toMatchObject({ attempts: 1, progress: { done: 3, total: 10 } })
    return found
  })
  const retry = await admin.post(`${JOBS}/${job.id}/retry`)
  expect(retry.status).toBe(409)
  expect(retry.headers.get('Wheelhouse-Error')).toBe('job_running')

  expect((await admin.post(`${JOBS}/${job.id}/discard`)).status).toBe(200)
  expect(await aborted.promise).toBeInstanceOf(ClaimLostError) // the next heartbeat is 20 minutes away
  await waitFor(async () =>
    expect(await counts(queue)).toMatchObject({ running: 0, retrying: 0, due: 0, failed: 0 }),
  )
  expect(await audited(job.id)).toMatchObject([{ action: 'job.discarded' }])
})

test('a job that starts later can be discarded, once', async () => {
  const { queue, ran } = await queueOf()
  await enqueue(queue, {}, new Date(Date.now() + 86_400_000))
  const job = await only('waiting', queue)
  expect(job).toMatchObject({ attempts: 0, error: null, started_at: null })
  expect(await counts(queue)).toMatchObject({ due: 0, later: 1, oldest_due_seconds: 0 })
  expect((await admin.post(`${JOBS}/${job.id}/discard`)).status).toBe(200)
  expect(await list('waiting', queue)).toEqual([])
  for (const action of ['discard', 'retry']) {
    const reply = await admin.post(`${JOBS}/${job.id}/${action}`)
    expect(reply.headers.get('Wheelhouse-Error')).toBe('job_gone')
  }
  expect(ran).toEqual([])
  expect(await audited(job.id)).toHaveLength(1)
})

test('a failed job can be discarded', async () => {
  const { queue, handler } = await queueOf()
  handler.run = failing('x')
  await enqueue(queue)
  const job = await only('failed', queue)
  expect((await admin.post(`${JOBS}/${job.id}/discard`)).status).toBe(200)
  expect(await list('failed', queue)).toEqual([])
})

test('a job that money waits for cannot be discarded', async () => {
  const { queue, ran } = await queueOf(5, { undiscardable: true })
  await enqueue(queue, {}, new Date(Date.now() + 86_400_000))
  const job = await only('waiting', queue)
  const reply = await admin.post(`${JOBS}/${job.id}/discard`)
  expect([reply.status, reply.headers.get('Wheelhouse-Error')]).toEqual([409, 'job_required'])
  expect(await audited(job.id)).toEqual([])
  expect((await admin.post(`${JOBS}/${job.id}/retry`)).status).toBe(200)
  await waitFor(async () => expect(ran).toHaveLength(1))
})

test('two admins who retry the same job start it once', async () => {
  const { queue, ran, handler } = await queueOf()
  handler.run = failing('x')
  await enqueue(queue)
  const job = await only('failed', queue)
  handler.run = async () => {}
  const replies = await Promise.all(Array.from({ length: 4 }, () => admin.post(`${JOBS}/${job.id}/retry`)))
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
  await waitFor(async () => expect(ran).toHaveLength(2))
  expect(await counts(queue)).toMatchObject({ due: 0, running: 0, failed: 0 })
  expect(ran).toHaveLength(2)
})

test('lists have pages, newest first, and are complete', async () => {
  const { queue } = await queueOf()
  const later = new Date(Date.now() + 86_400_000)
  // Jobs of one transaction have the same time of creation.
  await world.platform.core.transact(async (tx) => {
    for (let n = 0; n < 3; n++) tx.enqueue({ queue, data: { n }, startAt: later })
  })
  for (let n = 3; n < 5; n++) await enqueue(queue, { n }, later)
  const found: number[] = []
  let next: string | null = ''
  while (next !== null) {
    const before: string = next && `&before=${next}`
    const { body } = await admin.get(`${JOBS}?state=waiting&queue=${queue.name}&limit=2${before}`)
    found.push(...body.jobs.map((job: { data: { n: number } }) => job.data.n))
    expect(body.jobs.length).toBeLessThanOrEqual(2)
    next = body.next
  }
  expect(found.slice(0, 2)).toEqual([4, 3])
  expect(found.slice(2).sort()).toEqual([0, 1, 2])
  for (const before of ['x', '1.2', `9.${'-'.repeat(36)}`])
    expect((await admin.get(`${JOBS}?before=${before}`)).status, before).toBe(400)
})

test('every queue is described, and cron queues show when they run', async () => {
  const { body } = await admin.get(`${JOBS}/queues`)
  for (const { name, description } of body.queues) expect(description, name).not.toBe('')
  expect(body.queues.find((row: { name: string }) => row.name === 'job-clean-up').cron).toBe('29 * * * *')
})

test('the metrics show unfinished jobs by queue and state', async () => {
  const { queue, handler } = await queueOf()
  handler.run = failing('x')
  await enqueue(queue)
  await only('failed', queue)
  await enqueue(queue, {}, new Date(Date.now() + 86_400_000))
  const text = await (await fetch(`${world.baseUrl}/metrics`)).text()
  expect(text).toContain(`wheelhouse_jobs{queue="${queue.name}",state="failed"} 1`)
  expect(text).toContain(`wheelhouse_jobs{queue="${queue.name}",state="later"} 1`)
  expect(text).toContain(`wheelhouse_jobs{queue="${queue.name}",state="due"} 0`)
  expect(text).toContain(`wheelhouse_job_oldest_due_seconds{queue="${queue.name}"} 0`)
})
