import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { createTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import { query } from '../../support/processes/processes.ts'
import {
  type ContactFixture,
  createContactFixture,
  HOUR_MS,
  MINUTE_MS,
  stored,
} from '../../support/world/contact-fixture.ts'
import { abandonJobs, recoverAbandoned } from '../../support/world/jobs.ts'
import { waitFor } from '../../support/world/wait.ts'

/** Runs the due jobs, and waits until the server has accepted a message once. */
async function arrivesAt(fixture: ContactFixture, id: string): Promise<void> {
  await fixture.run()
  await waitFor(() => expect(fixture.taken(id)).toHaveLength(1))
}

describe('POST /api/contact while mail is unavailable: the message is stored and delivered later', () => {
  let fixture: ContactFixture
  beforeAll(async () => {
    fixture = await createContactFixture()
  })
  afterEach(() => fixture.mail.reset())
  afterAll(() => fixture?.[Symbol.asyncDispose]())
  const arrives = (id: string) => arrivesAt(fixture, id)

  test('the server is down: the message is delivered exactly once after it recovers', async () => {
    const { mail, send, message, later, run, taken } = fixture
    await mail.stop()
    const reply = await send()
    expect(reply).toMatchObject(stored)
    const { id } = reply.body
    await waitFor(async () =>
      expect(await message(id)).toMatchObject({
        delivered: false,
        attempts: 1,
        last_error: expect.stringContaining('ECONNREFUSED'),
      }),
    )
    const { created_at, next_attempt_at } = await message(id)
    const waitMs = Date.parse(next_attempt_at) - Date.parse(created_at)
    expect(waitMs).toBeGreaterThanOrEqual(30_000)
    expect(waitMs).toBeLessThan(60_000)

    await mail.start()
    await run() // too early
    expect(taken(id)).toEqual([])
    later(MINUTE_MS)
    await waitFor(() => expect(taken(id)).toHaveLength(1)) // by the polls of the worker
    await waitFor(async () =>
      expect(await message(id)).toMatchObject({
        delivered: true,
        attempts: 2,
        last_error: null,
        next_attempt_at: null,
      }),
    )
    later(24 * HOUR_MS)
    await run()
    expect(taken(id)).toHaveLength(1)
  })

  test.each([
    ['recipient', 451],
    ['message', 452],
    ['recipient', 421],
  ] as const)('the server defers the %s with %i: the worker retries soon', async (refuses, code) => {
    const { mail, send, message, later } = fixture
    mail.is({ refuses, code })
    const reply = await send()
    expect(reply).toMatchObject(stored)
    const waiting = await message(reply.body.id)
    expect(waiting).toMatchObject({ attempts: 1, last_error: expect.stringContaining(String(code)) })
    mail.is('takes')
    later(MINUTE_MS)
    await arrives(reply.body.id)
  })

  test.each([
    ['recipient', 550],
    ['message', 554],
  ] as const)(
    'the server rejects the %s with %i: an admin sees the reason, and the worker retries hourly',
    async (refuses, code) => {
      const { mail, send, message, later, run, idle } = fixture
      mail.is({ refuses, code })
      const reply = await send()
      expect(reply).toMatchObject(stored)
      expect(await message(reply.body.id)).toMatchObject({
        delivered: false,
        attempts: 1,
        last_error: expect.stringContaining(String(code)),
      })
      later(59 * MINUTE_MS)
      await run()
      expect(await message(reply.body.id)).toMatchObject({ attempts: 1 })
      later(MINUTE_MS)
      await run()
      await waitFor(async () => expect((await message(reply.body.id)).attempts).toBe(2))
      await idle() // an attempt counts from its start
      mail.is('takes')
      later(HOUR_MS)
      await arrives(reply.body.id)
    },
  )

  test('the server dies during a message: the message is sent again', async () => {
    const { mail, send, message, later } = fixture
    mail.is('dies within')
    const reply = await send()
    expect(reply).toMatchObject(stored)
    mail.is('takes')
    later(MINUTE_MS)
    await arrives(reply.body.id)
    expect((await message(reply.body.id)).attempts).toBe(2)
  })

  test('the server dies after the message without an answer: it is sent again with the same ID, and the error says so', async () => {
    const { mail, send, message, later, seen } = fixture
    mail.is('dies after')
    const reply = await send()
    expect(reply).toMatchObject(stored)
    expect((await message(reply.body.id)).last_error).toContain('may have been delivered')
    mail.is('takes')
    later(MINUTE_MS)
    await arrives(reply.body.id)
    const [first, second, ...more] = seen(reply.body.id)
    expect(more).toEqual([])
    expect(second?.messageId).toBe(first?.messageId)
    expect(second?.body).toBe(first?.body)
  })

  test('an undeliverable message does not delay other messages', async () => {
    const { mail, send, message, later } = fixture
    mail.is({ refuses: 'message', code: 554 })
    const stuck = (await send()).body.id
    mail.is('takes')
    const next = await send()
    expect(next.body.delivered).toBe(true)
    mail.is({ refuses: 'message', code: 451 })
    const deferred = (await send()).body.id
    mail.is('takes')
    later(MINUTE_MS)
    await arrives(deferred)
    await arrives(next.body.id)
    expect(await message(stuck)).toMatchObject({ delivered: false, attempts: 1 })
  })

  test('each of fifty concurrent messages is delivered once', async () => {
    const { send, messages, seen } = fixture
    const replies = await Promise.all(Array.from({ length: 50 }, (_, n) => send(`n${n}`)))
    expect(replies.map((reply) => reply.status)).toEqual(Array(50).fill(201))
    const ids = replies.map((reply) => reply.body.id)
    expect(new Set(ids).size).toBe(50)
    // Answers with `delivered` are correct immediately. The worker delivers the other messages.
    for (const { body } of replies) if (body.delivered) expect(seen(body.id)).toHaveLength(1)
    await waitFor(async () => {
      const delivered = (await messages()).filter((item) => item.delivered).map(({ id }) => id)
      expect(delivered).toEqual(expect.arrayContaining(ids))
    })
    expect(ids.map((id) => seen(id).length)).toEqual(Array(50).fill(1))
    expect(replies.some((reply) => reply.body.delivered)).toBe(true)
  })
})

describe('POST /api/contact while the server is slower than the response waits', () => {
  let fixture: ContactFixture
  beforeAll(async () => {
    fixture = await createContactFixture({ contactWaitMs: 500 })
  })
  afterEach(() => fixture.mail.reset())
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  test('the server never greets: the visitor gets an answer nevertheless', async () => {
    const { mail, send, message, later, run, taken } = fixture
    mail.is('never greets')
    const reply = await send()
    expect(reply).toMatchObject(stored)

    await mail.stop()
    mail.is('takes')
    await waitFor(async () => expect((await message(reply.body.id)).last_error).not.toBeNull())
    await mail.start()
    later(MINUTE_MS)
    await arrivesAt(fixture, reply.body.id)
    await run()
    expect(taken(reply.body.id)).toHaveLength(1)
  })

  test('the server answers after the time limit: all visitors get an answer, attempts count, no message is sent twice', async () => {
    const { mail, send, messages, later, run, seen, taken } = fixture
    mail.is('waits')
    const first = send()
    await waitFor(() => expect(mail.held()).toBe(1))
    later(HOUR_MS)
    await run()
    expect(mail.held(), 'no second attempt').toBe(1)
    // More than the worker delivers at a time.
    const replies = await Promise.all([first, ...Array.from({ length: 19 }, (_, n) => send(`n${n}`))])
    for (const reply of replies) expect(reply).toMatchObject(stored)

    mail.is('takes')
    mail.release()
    later(HOUR_MS)
    const ids = replies.map((reply) => reply.body.id)
    await waitFor(async () => {
      const states = (await messages()).filter(({ id }) => ids.includes(id))
      expect(states).toHaveLength(20)
      for (const state of states) expect(state).toMatchObject({ delivered: true, attempts: 1 })
    })
    later(HOUR_MS)
    await run()
    for (const id of ids) expect([seen(id).length, taken(id).length]).toEqual([1, 1])
  })
})

describe('an outage of the database', () => {
  let database: TestDatabase
  let proxy: TcpProxy
  let fixture: ContactFixture
  beforeAll(async () => {
    database = await createTestDatabase()
    proxy = await createTcpProxy(database.url)
    fixture = await createContactFixture({ env: { DATABASE_URL: proxy.url }, database })
  })
  afterEach(async () => {
    await fixture.mail.reset()
    fixture.world.errors.length = 0 // the errors of the outage are expected
  })
  afterAll(async () => {
    await fixture?.[Symbol.asyncDispose]()
    await proxy?.[Symbol.asyncDispose]()
  })

  const subjects = (sent: string) =>
    query(
      database.url,
      `select delivered_at is not null as delivered from contact_messages where subject = '${sent}'`,
    )

  test('before the request: 503, nothing is stored or sent', async () => {
    const { mail, send } = fixture
    proxy.cut()
    const reply = await send('during the outage')
    expect(reply).toMatchObject({ status: 503, body: { error: expect.any(String) } })
    proxy.restore()
    expect(mail.connections()).toBe(0)
    expect(await subjects('during the outage')).toEqual([])
    await waitFor(async () => expect((await send()).body.delivered).toBe(true))
  })

  test('after the server’s 250: the delivery is recorded after the outage', async () => {
    const { mail, send, later, run, world } = fixture
    await waitFor(() => recoverAbandoned(world.platform.core.jobs)) // the database is available again
    mail.is('waits')
    const sending = send('before the outage')
    await waitFor(() => expect(mail.held()).toBe(1))
    proxy.cut()
    mail.release()
    const reply = await sending
    expect(reply).toMatchObject({ status: 201, body: { stored: true, delivered: true } })
    // During the outage the job counts as abandoned, and its next attempt becomes due.
    later(HOUR_MS)
    await abandonJobs(database.url)
    proxy.restore()
    await waitFor(() => recoverAbandoned(world.platform.core.jobs))
    await waitFor(async () => expect(await subjects('before the outage')).toEqual([{ delivered: true }]))
    later(HOUR_MS)
    await run()
    expect(fixture.seen(reply.body.id)).toHaveLength(1)
  })
})
