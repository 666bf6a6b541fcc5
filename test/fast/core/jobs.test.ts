import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ClaimLostError, RetryAt } from '../../../src/core/jobs/queue.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { query } from '../../support/processes/processes.ts'
import { createEngine, testQueue } from '../../support/world/job-engine.ts'
import { abandonJobs, recoverAbandoned } from '../../support/world/jobs.ts'
import { waitFor } from '../../support/world/wait.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterEach(() =>
  query(
    database.url,
    `select pgboss.delete_queue(name) from pgboss.queue where name in ('test-items', 'others');
     delete from pgboss.job where name = 'dead-letters';
     delete from job_progress`,
  ),
)
afterAll(() => database?.drop())

const queue = testQueue()
const allJobs = () =>
  query(
    database.url,
    `select name, state, data ->> 'name' as item, retry_count, output, source_output from pgboss.job
     where name in ('test-items', 'dead-letters') order by created_on, item`,
  )
const makeDue = () => query(database.url, `update pgboss.job set start_after = now() where state < 'active'`)

describe('a job', () => {
  test('exists only if the transaction that creates it commits', async () => {
    const ran: string[] = []
    await using engine = await createEngine(database, queue, async ({ data }) => void ran.push(data.name))
    await expect(
      engine.transact(async (tx) => {
        tx.enqueue({ queue, data: { name: 'lost' } })
        throw new Error('rolled back')
      }),
    ).rejects.toThrow('rolled back')
    await engine.enqueue({ name: 'kept' })
    await engine.jobs.runDue(queue)
    expect(ran).toEqual(['kept'])
  })

  test('starts at its time, and before jobs of a lower priority', async () => {
    const ran: string[] = []
    const one = testQueue({ concurrency: 1 })
    await using engine = await createEngine(database, one, async ({ data }) => void ran.push(data.name))
    await engine.enqueue({ name: 'later', startAt: new Date(Date.now() + 3_600_000) }, { name: 'ordinary' })
    await engine.enqueue({ name: 'urgent', priority: 10 })
    await engine.jobs.runDue(one)
    expect(ran).toEqual(['urgent', 'ordinary'])
    await makeDue()
    await engine.jobs.runDue(one)
    expect(ran).toEqual(['urgent', 'ordinary', 'later'])
  })

  test('runs again after failures, and becomes a dead letter with its error after the last one', async () => {
    const attempts: unknown[] = []
    await using engine = await createEngine(database, queue, async ({ number, previous }) => {
      attempts.push([number, previous])
      throw new Error(`failure ${number}`)
    })
    await engine.enqueue({ name: 'x' })
    for (let attempt = 1; attempt <= 3; attempt++) {
      await makeDue()
      await engine.jobs.runDue(queue)
    }
    expect(attempts).toEqual([
      [1, undefined],
      [2, 'failed'],
      [3, 'failed'],
    ])
    const letter = {
      name: 'dead-letters',
      state: 'created',
      item: 'x',
      source_output: { message: 'failure 3' },
    }
    expect(await allJobs()).toMatchObject([letter])
  })

  test('runs again at the time that its handler chooses', async () => {
    const at = new Date(Date.now() + 7_200_000)
    await using engine = await createEngine(database, queue, async () => {
      throw new RetryAt(at, 'ask again in two hours')
    })
    await engine.enqueue({ name: 'x' })
    await engine.jobs.runDue(queue)
    const rows = await query(
      database.url,
      `select state, start_after, output from pgboss.job where name = 'test-items'`,
    )
    expect(rows).toEqual([{ state: 'retry', start_after: at, output: { message: 'ask again in two hours' } }])
  })

  test('with data that its queue does not allow fails, and others run', async () => {
    const ran: string[] = []
    await using engine = await createEngine(database, queue, async ({ data }) => void ran.push(data.name))
    await engine.enqueue({ name: 'bad' }, { name: 'good' })
    await query(database.url, `update pgboss.job set data = '{"name": 5}' where data ->> 'name' = 'bad'`)
    await engine.jobs.runDue(queue)
    expect(ran).toEqual(['good'])
    expect(engine.outcomes.toSorted()).toEqual(['completed', 'failed'])
  })

  test('stores its progress', async () => {
    await using engine = await createEngine(database, queue, async ({ progress }) => {
      await progress(1, 10)
      await progress(4, 10)
    })
    await engine.enqueue({ name: 'x' })
    await engine.jobs.runDue(queue)
    expect(await query(database.url, 'select done::int, total::int from job_progress')).toEqual([
      { done: 4, total: 10 },
    ])
  })
})

describe('a queue with one job per key', () => {
  const single = testQueue({ order: 'perKey', onePerKey: true })
  const hours = (count: number) => new Date(Date.now() + count * 3_600_000)
  const unfinished = () =>
    query(
      database.url,
      `select singleton_key as key, state, start_after, group_id from pgboss.job
       where name = 'test-items' and state < 'completed' order by key`,
    )

  test('keeps the earliest of the times at which a job of the key is to start', async () => {
    await using engine = await createEngine(database, single, async () => {})
    const [first, earlier, later] = [hours(2), hours(1), hours(3)]
    const enqueue = (startAt: Date, group?: string) =>
      engine.transact(async (tx) => {
        for (const key of ['a', 'b'])
          tx.enqueue({ queue: single, data: { name: key }, key, startAt, ...(group && { group }) })
      })
    const bothAt = (start_after: Date, group_id: string | null) =>
      ['a', 'b'].map((key) => ({ key, state: 'created', start_after, group_id }))
    await enqueue(first, 'slow')
    await enqueue(later)
    expect(await unfinished()).toEqual(bothAt(first, 'slow'))
    await enqueue(earlier)
    expect(await unfinished()).toEqual(bothAt(earlier, null))
  })

  test('creates one job for several of a transaction, and none while one runs or waits for its retry', async () => {
    const started = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    await using engine = await createEngine(database, single, async () => {
      started.resolve()
      await release.promise
      throw new Error('broken')
    })
    const enqueue = (...startAts: (Date | undefined)[]) =>
      engine.transact(async (tx) => {
        for (const startAt of startAts)
          tx.enqueue({ queue: single, data: { name: 'x' }, key: 'x', ...(startAt && { startAt }) })
      })
    await enqueue(hours(1), undefined, hours(2))
    const run = engine.jobs.runDue(single)
    await started.promise
    await enqueue(undefined)
    expect(await unfinished()).toMatchObject([{ state: 'active' }])
    release.resolve()
    await run
    const [retry] = await unfinished()
    expect(retry).toMatchObject({ state: 'retry' })
    await enqueue(undefined)
    expect(await unfinished()).toEqual([retry])
  })

  test('creates the successor of a job with its completion', async () => {
    await using engine = await createEngine(database, single, (attempt) =>
      engine.transact(async (tx) => {
        tx.enqueue({ queue: single, data: { name: 'next' }, key: 'x', startAt: hours(1) })
        await attempt.complete(tx)
      }),
    )
    await engine.transact(async (tx) => tx.enqueue({ queue: single, data: { name: 'x' }, key: 'x' }))
    await engine.jobs.runDue(single)
    expect(await unfinished()).toMatchObject([{ key: 'x', state: 'created' }])
  })
})

describe('several processes', () => {
  test('run each job once', async () => {
    const ran: string[] = []
    const handler = async ({ data }: { data: { name: string } }) => void ran.push(data.name)
    await using first = await createEngine(database, queue, handler)
    await using second = await createEngine(database, queue, handler)
    const names = Array.from({ length: 100 }, (_, n) => `n${n}`)
    await first.enqueue(...names.map((name) => ({ name })))
    for (const { start } of [first, second]) start()
    await waitFor(() => expect(ran).toHaveLength(100))
    expect(ran.toSorted()).toEqual(names.toSorted())
  })

  test('run the jobs of a key one at a time and in order, while other keys go on', async () => {
    const ordered = testQueue({ order: 'perKey' })
    const running = new Set<string>()
    const ran: string[] = []
    const handler = async ({ data: { name } }: { data: { name: string } }) => {
      const key = name.slice(0, 1)
      expect(running.has(key), `two jobs of ${key} at the same time`).toBe(false)
      running.add(key)
      await new Promise(setImmediate)
      ran.push(name)
      running.delete(key)
    }
    await using first = await createEngine(database, ordered, handler)
    await using second = await createEngine(database, ordered, handler)
    for (let n = 0; n < 10; n++) await first.enqueue({ name: `a${n}`, key: 'a' }, { name: `b${n}`, key: 'b' })
    for (const { start } of [first, second]) start()
    await waitFor(() => expect(ran).toHaveLength(20))
    for (const key of ['a', 'b'])
      expect(ran.filter((name) => name.startsWith(key))).toEqual(
        Array.from({ length: 10 }, (_, n) => `${key}${n}`),
      )
    await waitFor(() => expect([...first.outcomes, ...second.outcomes]).toEqual(Array(20).fill('completed')))
  })

  test('go on with the next job of a key after one has become a dead letter', async () => {
    const ordered = testQueue({ order: 'perKey', retry: { limit: 0, delaySeconds: 1, maxDelaySeconds: 1 } })
    const ran: string[] = []
    await using engine = await createEngine(database, ordered, async ({ data }) => {
      ran.push(data.name)
      if (data.name === 'first') throw new Error('broken')
    })
    await engine.enqueue({ name: 'first', key: 'k' })
    await engine.enqueue({ name: 'second', key: 'k' })
    await engine.jobs.runDue(ordered)
    expect(ran).toEqual(['first', 'second'])
  })

  test('limit the jobs of a group', async () => {
    const limited = testQueue({ groupConcurrency: 1, concurrency: 4 })
    const release = Promise.withResolvers<void>()
    const started: string[] = []
    await using engine = await createEngine(database, limited, async ({ data }) => {
      started.push(data.name)
      await release.promise
    })
    await engine.enqueue(
      { name: 'slow 1', group: 'slow' },
      { name: 'slow 2', group: 'slow' },
      { name: 'free' },
    )
    engine.start()
    await waitFor(() => expect(started).toHaveLength(2))
    expect(started.toSorted()).toEqual(['free', expect.stringContaining('slow')])
    await engine.enqueue({ name: 'another' })
    await waitFor(() => expect(started).toContain('another'))
    expect(started, 'the second job of the group still waits').toHaveLength(3)
    release.resolve()
    await waitFor(() => expect(started).toHaveLength(4))
  })

  test('take over a job whose process ended, and know that it may have had effects', async () => {
    const previous: unknown[] = []
    const hangs = Promise.withResolvers<void>()
    await using dead = await createEngine(database, queue, () => hangs.promise)
    await using alive = await createEngine(
      database,
      queue,
      async (attempt) => void previous.push(attempt.previous),
    )
    await dead.enqueue({ name: 'x' })
    const hanging = dead.jobs.runDue(queue)
    await waitFor(async () => expect(await allJobs()).toMatchObject([{ state: 'active' }]))
    await recoverAbandoned(alive.jobs)
    await makeDue()
    await alive.jobs.runDue(queue)
    expect(previous, 'its heartbeats are recent').toEqual([])

    await abandonJobs(database.url)
    await recoverAbandoned(alive.jobs)
    await makeDue()
    await alive.jobs.runDue(queue)
    expect(previous).toEqual(['abandoned'])
    hangs.resolve()
    await hanging
    expect(dead.outcomes, 'its result does not count any more').toEqual(['lost'])
    expect(await allJobs()).toMatchObject([{ state: 'completed' }])
  })

  test('of which one stops: its running job is due for the others at once', async () => {
    const ran: string[] = []
    await using stopping = await createEngine(database, queue, async ({ signal }) => {
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    await using other = await createEngine(database, queue, async ({ data }) => void ran.push(data.name))
    await stopping.enqueue({ name: 'x' })
    stopping.start()
    await waitFor(async () => expect(await allJobs()).toMatchObject([{ state: 'active' }]))
    await stopping.jobs.drain()
    await other.jobs.runDue(queue)
    expect(ran).toEqual(['x'])
  })
})

describe('a result and the completion of its job', () => {
  test('are one transaction', async () => {
    const tokens: string[] = []
    await using engine = await createEngine(database, queue, (attempt) =>
      engine.transact(async (tx) => {
        tx.enqueue({
          queue,
          data: { name: `after ${attempt.data.name}` },
          startAt: new Date(Date.now() + 60_000),
        })
        tokens.push(attempt.data.name)
        await attempt.complete(tx)
        if (tokens.length === 1) throw new Error('the commit fails')
      }),
    )
    await engine.enqueue({ name: 'x' })
    await engine.jobs.runDue(queue)
    expect(await allJobs()).toMatchObject([{ item: 'x', state: 'retry' }])
    await makeDue()
    await engine.jobs.runDue(queue)
    expect(await allJobs()).toMatchObject([
      { item: 'x', state: 'completed' },
      { item: 'after x', state: 'created' },
    ])
  })

  test('are both discarded when the job was cancelled in between', async () => {
    let failure: unknown
    await using engine = await createEngine(database, queue, async (attempt) => {
      await (await engine.jobs.engine()).cancel(queue.name, attempt.id)
      await engine
        .transact(async (tx) => {
          tx.enqueue({ queue, data: { name: 'must not exist' } })
          await attempt.complete(tx)
        })
        .catch((cause) => {
          failure = cause
          throw cause
        })
    })
    await engine.enqueue({ name: 'x' })
    await engine.jobs.runDue(queue)
    expect(failure).toBeInstanceOf(ClaimLostError)
    expect(engine.outcomes).toEqual(['lost'])
    expect(await allJobs()).toMatchObject([{ item: 'x', state: 'cancelled' }])
  })
})

test('jobs of a cron queue do not multiply while runs are slow or fail', async () => {
  const minutely = testQueue({ cron: '* * * * *', concurrency: 1 })
  const ran: string[] = []
  await using engine = await createEngine(database, minutely, async ({ data: { name } }) => {
    ran.push(name)
    if (name !== 'failing') return
    // A job of the next minute. It stays: this run may have looked before.
    await engine.enqueue({ name: 'next' })
    throw new Error('broken')
  })
  const states = async () => (await allJobs()).map((row) => Reflect.get(row as object, 'state'))
  for (const name of ['first', 'second', 'third']) await engine.enqueue({ name })
  await engine.jobs.runDue(minutely)
  expect(ran, 'one run replaces the others').toEqual(['first'])
  expect(await states()).toEqual(['completed'])

  await engine.enqueue({ name: 'failing' })
  await engine.jobs.runDue(minutely)
  expect(ran).toEqual(['first', 'failing', 'next'])
  expect(await states(), 'also the retry').toEqual(['completed', 'completed'])
})

test('each failed run of a cron queue reaches the dead letters, although newer runs begin before its retries', async () => {
  const minutely = testQueue({ cron: '* * * * *', concurrency: 1 })
  await using engine = await createEngine(database, minutely, async () => {
    throw new Error('broken')
  })
  await engine.enqueue({ name: 'first' })
  await engine.jobs.runDue(minutely)
  await engine.enqueue({ name: 'second' })
  await engine.jobs.runDue(minutely)
  for (let retry = 1; retry <= 2; retry++) {
    await makeDue()
    await engine.jobs.runDue(minutely)
  }
  expect(await allJobs()).toMatchObject([
    { name: 'dead-letters', item: 'first' },
    { name: 'dead-letters', item: 'second' },
  ])
})

test('a worker sets the schedules of cron queues, and changes them with the queue', async () => {
  const schedules = () => query(database.url, 'select name, cron, timezone from pgboss.schedule')
  const hourly = testQueue({ cron: '7 * * * *' })
  {
    await using _worker = await createEngine(database, hourly, async () => {}, { supervise: true })
    expect(await schedules()).toEqual([{ name: 'test-items', cron: '7 * * * *', timezone: 'UTC' }])
  }
  {
    await using _worker = await createEngine(database, testQueue({ cron: '8 * * * *' }), async () => {}, {
      supervise: true,
    })
    expect(await schedules()).toEqual([{ name: 'test-items', cron: '8 * * * *', timezone: 'UTC' }])
  }
  await using _worker = await createEngine(database, testQueue({ name: 'others' }), async () => {}, {
    supervise: true,
  })
  expect(await schedules()).toEqual([])
})
