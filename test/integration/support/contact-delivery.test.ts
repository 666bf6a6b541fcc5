import { describe, expect, test } from 'vitest'
import { retryDelayMs } from '../../../src/core/mail/backoff.ts'
import { createMailer } from '../../../src/core/mail/mailer.ts'
import { CONTACT_MAILS } from '../../../src/modules/support/contact-delivery.ts'
import { createTestDatabase } from '../../support/database/database.ts'
import { type MailServer, startMailServer } from '../../support/network/smtp.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { query } from '../../support/processes/processes.ts'
import { abandonJobs, runningJobs } from '../../support/world/jobs.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World, type WorldOptions } from '../../support/world/world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const input = {
  name: 'Ada',
  email: 'ada@example.com',
  category: 'Other' as const,
  subject: 'Hello',
  message: 'Can you help me?',
}

/** Creates a platform with a mail server and a clock that the test can advance. */
async function createFixture(options: WorldOptions = {}) {
  const mail = await startMailServer()
  let aheadMs = 0
  const now = () => new Date(Date.now() + aheadMs)
  const world = await createWorld({ ...options, env: { ...mail.env, ...options.env }, now })
  const admin = await world.admin()
  return {
    mail,
    world,
    now,
    later: (ms: number) => {
      aheadMs += ms
    },
    send: (subject = input.subject) => contact(world, subject),
    message: async (id: string) => {
      const list = (await admin.get('/api/admin/contact-messages')).body.contact_messages
      return list.find((item: { id: string }) => item.id === id)
    },
    /** Runs the worker once. */
    async run() {
      await world.syncJobClock()
      await world.platform.core.jobs.runDue(CONTACT_MAILS)
    },
    async [Symbol.asyncDispose]() {
      mail.release()
      await mail.stop() // ends open connections
      await world[Symbol.asyncDispose]()
    },
  }
}

async function contact(world: World, subject: string) {
  const response = await fetch(`${world.baseUrl}/api/contact`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...input, subject }),
  })
  const body = (await response.json()) as { id: string; stored: boolean; delivered: boolean }
  return { status: response.status, body }
}

const arrives = (mail: MailServer, ...ids: string[]) =>
  waitFor(() => expect(idsOf(mail.taken)).toEqual(ids.toSorted()))
const idsOf = (mails: readonly { messageId: string }[]) =>
  mails.map((item) => /^<contact-(.+)@wheelhouse\.test>$/.exec(item.messageId)?.[1]).toSorted()
const stored = { status: 201, body: { success: true, stored: true, delivered: false } }

describe.concurrent('POST /api/contact while mail is unavailable: the message is stored and delivered later', () => {
  test('the server is down: the message is delivered exactly once after it recovers', async () => {
    await using fixture = await createFixture()
    const { mail, send, message, later, run } = fixture
    await mail.stop()
    const reply = await send()
    expect(reply).toMatchObject(stored)
    await waitFor(async () =>
      expect(await message(reply.body.id)).toMatchObject({
        delivered: false,
        attempts: 1,
        last_error: expect.stringContaining('ECONNREFUSED'),
      }),
    )
    const { created_at, next_attempt_at } = await message(reply.body.id)
    const waitMs = Date.parse(next_attempt_at) - Date.parse(created_at)
    expect(waitMs).toBeGreaterThanOrEqual(30_000)
    expect(waitMs).toBeLessThan(60_000)

    await mail.start()
    await run() // too early
    expect(mail.taken).toEqual([])
    later(MINUTE_MS)
    await arrives(mail, reply.body.id)
    await waitFor(async () =>
      expect(await message(reply.body.id)).toMatchObject({
        delivered: true,
        attempts: 2,
        last_error: null,
        next_attempt_at: null,
      }),
    )
    later(24 * HOUR_MS)
    await run()
    await arrives(mail, reply.body.id)
  })

  test('the server never greets: the visitor gets an answer nevertheless', async () => {
    await using fixture = await createFixture()
    const { mail, send, message, later, run } = fixture
    mail.is('never greets')
    const reply = await send()
    expect(reply).toMatchObject(stored)

    await mail.stop()
    mail.is('takes')
    await waitFor(async () => expect((await message(reply.body.id)).last_error).not.toBeNull())
    await mail.start()
    later(MINUTE_MS)
    await arrives(mail, reply.body.id)
    await run()
    await arrives(mail, reply.body.id)
  })

  test('the server answers after the time limit: the attempt counts, and no second attempt follows', async () => {
    await using fixture = await createFixture()
    const { mail, send, message, later, run } = fixture
    mail.is('waits')
    const reply = await send()
    expect(reply).toMatchObject(stored)
    later(HOUR_MS)
    await run()
    expect(mail.seen).toHaveLength(1)

    mail.release()
    await arrives(mail, reply.body.id)
    await waitFor(async () =>
      expect(await message(reply.body.id)).toMatchObject({ delivered: true, attempts: 1 }),
    )
    later(HOUR_MS)
    await run()
    expect(mail.seen).toHaveLength(1)
  })

  test.each([
    ['recipient', 451],
    ['message', 452],
    ['recipient', 421],
  ] as const)('the server defers the %s with %i: the worker retries soon', async (refuses, code) => {
    await using fixture = await createFixture()
    const { mail, send, message, later } = fixture
    mail.is({ refuses, code })
    const reply = await send()
    expect(reply).toMatchObject(stored)
    const waiting = await message(reply.body.id)
    expect(waiting).toMatchObject({ attempts: 1, last_error: expect.stringContaining(String(code)) })
    mail.is('takes')
    later(MINUTE_MS)
    await arrives(mail, reply.body.id)
  })

  test.each([
    ['recipient', 550],
    ['message', 554],
  ] as const)(
    'the server rejects the %s with %i: an admin sees the reason, and the worker retries hourly',
    async (refuses, code) => {
      await using fixture = await createFixture()
      const { mail, send, message, later, run } = fixture
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
      await waitFor(async () => expect((await message(reply.body.id)).attempts).toBe(2))
      mail.is('takes')
      later(HOUR_MS)
      await arrives(mail, reply.body.id)
    },
  )

  test('the server dies during a message: the message is sent again', async () => {
    await using fixture = await createFixture()
    const { mail, send, message, later } = fixture
    mail.is('dies within')
    const reply = await send()
    expect(reply).toMatchObject(stored)
    mail.is('takes')
    later(MINUTE_MS)
    await arrives(mail, reply.body.id)
    expect((await message(reply.body.id)).attempts).toBe(2)
  })

  test('the server dies after the message without an answer: it is sent again with the same ID, and the error says so', async () => {
    await using fixture = await createFixture()
    const { mail, send, message, later } = fixture
    mail.is('dies after')
    const reply = await send()
    expect(reply).toMatchObject(stored)
    expect((await message(reply.body.id)).last_error).toContain('may have been delivered')
    mail.is('takes')
    later(MINUTE_MS)
    await arrives(mail, reply.body.id)
    const [first, second, ...more] = mail.seen
    expect(more).toEqual([])
    expect(second?.messageId).toBe(first?.messageId)
    expect(second?.body).toBe(first?.body)
  })

  test('an undeliverable message does not delay other messages', async () => {
    await using fixture = await createFixture()
    const { mail, send, later, message } = fixture
    mail.is({ refuses: 'message', code: 554 })
    const stuck = (await send()).body.id
    mail.is('takes')
    const next = await send()
    expect(next.body.delivered).toBe(true)
    mail.is({ refuses: 'message', code: 451 })
    const deferred = (await send()).body.id
    mail.is('takes')
    later(MINUTE_MS)
    await arrives(mail, next.body.id, deferred)
    expect(await message(stuck)).toMatchObject({ delivered: false, attempts: 1 })
  })

  test('the database is unavailable: 503, nothing is stored or sent', async () => {
    const database = await createTestDatabase()
    const proxy = await createTcpProxy(database.url)
    try {
      await using fixture = await createFixture({ env: { DATABASE_URL: proxy.url }, database })
      const { mail, send, world } = fixture
      proxy.cut()
      const reply = await send()
      expect(reply).toMatchObject({ status: 503, body: { error: expect.any(String) } })
      proxy.restore()
      expect(mail.connections()).toBe(0)
      expect(await query(database.url, 'select id from contact_messages')).toEqual([])
      await waitFor(async () => expect((await send()).body.delivered).toBe(true))
      world.errors.length = 0 // the logged 503 is expected
    } finally {
      await proxy[Symbol.asyncDispose]()
      await database.drop()
    }
  })

  test('the database fails after the server’s 250: the delivery is recorded after it recovers', async () => {
    const database = await createTestDatabase()
    const proxy = await createTcpProxy(database.url)
    try {
      await using fixture = await createFixture({ env: { DATABASE_URL: proxy.url }, database })
      const { mail, send, later, run, world } = fixture
      mail.is('waits')
      const sending = send()
      await waitFor(() => expect(mail.held()).toBe(1))
      proxy.cut()
      mail.release()
      expect(await sending).toMatchObject({ status: 201, body: { stored: true, delivered: true } })
      // During the outage the job counts as abandoned, and its next attempt becomes due.
      later(HOUR_MS)
      await abandonJobs(database.url)
      proxy.restore()
      await waitFor(() => world.platform.core.jobs.recoverAbandoned())
      const state = () =>
        query(database.url, 'select delivered_at is not null as delivered from contact_messages')
      await waitFor(async () => expect(await state()).toEqual([{ delivered: true }]))
      later(HOUR_MS)
      await run()
      expect(mail.seen).toHaveLength(1)
      world.errors.length = 0 // the errors of the outage are expected
    } finally {
      await proxy[Symbol.asyncDispose]()
      await database.drop()
    }
  })
})

describe.concurrent('concurrent messages', () => {
  test('each of fifty messages is delivered once', async () => {
    await using fixture = await createFixture()
    const replies = await Promise.all(Array.from({ length: 50 }, (_, n) => fixture.send(`n${n}`)))
    expect(replies.map((reply) => reply.status)).toEqual(Array(50).fill(201))
    const ids = replies.map((reply) => reply.body.id)
    expect(new Set(ids).size).toBe(50)
    await arrives(fixture.mail, ...ids)
    // Answers with `delivered` are correct immediately. The worker delivers the other messages.
    for (const { body } of replies) {
      await waitFor(async () => expect(await fixture.message(body.id)).toMatchObject({ delivered: true }))
    }
    expect(fixture.mail.seen).toHaveLength(50)
    expect(replies.some((reply) => reply.body.delivered)).toBe(true)
  })

  test('fifty visitors while the server hangs: all receive an answer, and no message is lost or sent twice', async () => {
    await using fixture = await createFixture()
    const { mail, send, later } = fixture
    mail.is('waits')
    const replies = await Promise.all(Array.from({ length: 50 }, (_, n) => send(`n${n}`)))
    for (const reply of replies) {
      expect(reply).toMatchObject(stored)
    }
    mail.is('takes')
    mail.release()
    later(HOUR_MS)
    await waitFor(() => expect(mail.taken).toHaveLength(50))
    expect(new Set(idsOf(mail.seen)).size).toBe(50)
    expect(mail.seen).toHaveLength(50)
  })

  test('two workers and the API process send each message once', async () => {
    await using fixture = await createFixture({ bus: 'redis' })
    const { mail, world, later, send, run } = fixture
    const others = await Promise.all([world.addNode('worker', mail.env), world.addNode('worker', mail.env)])
    await mail.stop()
    const ids: string[] = []
    for (let n = 0; n < 30; n++) ids.push((await send(`n${n}`)).body.id)
    await waitFor(async () => expect(await running(world)).toBe(0))
    await mail.start()
    later(HOUR_MS)
    await Promise.all([run(), ...others.map((node) => node.platform.core.jobs.runDue(CONTACT_MAILS))])
    await arrives(mail, ...ids)
    expect(mail.seen).toHaveLength(30)
  })
})

const running = (world: World) => runningJobs(world.database.url, CONTACT_MAILS.name)

describe.concurrent('process starts and stops', () => {
  test('messages without a mail server stay pending until a process with a mail server delivers them', async () => {
    await using mail = await startMailServer()
    await using world = await createWorld({ bus: 'redis' })
    const [first, second] = [await contact(world, 'one'), await contact(world, 'two')]
    for (const reply of [first, second]) expect(reply).toMatchObject(stored)

    await world.addNode('worker', mail.env)
    await arrives(mail, first.body.id, second.body.id)
    // The process with a mail server also delivers messages that another process stores.
    const third = await contact(world, 'three')
    expect(third).toMatchObject(stored)
    await arrives(mail, first.body.id, second.body.id, third.body.id)
    expect(mail.seen).toHaveLength(3)
  })

  test('the next worker continues after a worker that stops between attempts', async () => {
    await using fixture = await createFixture({ bus: 'redis', env: { SMTP_URL: '' } })
    const { mail, world, later } = fixture
    await mail.stop()
    const reply = await contact(world, 'x')
    const worker = await world.addNode('worker', mail.env)
    await waitFor(async () => expect((await fixture.message(reply.body.id)).attempts).toBe(1))
    await worker.stop()
    await mail.start()
    later(MINUTE_MS)
    expect(mail.taken).toEqual([])
    await world.addNode('worker', mail.env)
    await arrives(mail, reply.body.id)
  })

  test('a process that stops while it waits for the server’s answer records the answer', async () => {
    await using fixture = await createFixture({ bus: 'redis', env: { SMTP_URL: '' } })
    const { mail, world } = fixture
    mail.is('waits')
    const reply = await contact(world, 'x')
    const worker = await world.addNode('worker', mail.env)
    await waitFor(() => expect(mail.held()).toBe(1))
    const stopped = worker.stop()
    mail.release()
    await stopped
    expect(await fixture.message(reply.body.id)).toMatchObject({ delivered: true, attempts: 1 })
    expect(mail.seen).toHaveLength(1)
  })

  test('a process that stops before the server greets releases the message immediately', async () => {
    await using fixture = await createFixture({ bus: 'redis', env: { SMTP_URL: '' } })
    const { mail, world } = fixture
    mail.is('never greets')
    const reply = await contact(world, 'x')
    const worker = await world.addNode('worker', mail.env)
    await waitFor(() => expect(mail.connections()).toBe(1))
    await worker.stop()
    expect(await running(world)).toBe(0)
    mail.is('takes')
    await world.addNode('worker', mail.env)
    await arrives(mail, reply.body.id)
  })

  test('another process takes over from a killed process after its heartbeats stop', async () => {
    await using fixture = await createFixture({ bus: 'redis', env: { SMTP_URL: '' } })
    const { mail, world, later } = fixture
    const reply = await contact(world, 'x')
    const { id } = reply.body
    // A process takes the job and ends without a result.
    await query(
      world.database.url,
      `update pgboss.job set state = 'active', started_on = pgboss.job_now(), heartbeat_on = pgboss.job_now()
       where name = '${CONTACT_MAILS.name}'`,
    )
    const worker = await world.addNode('worker', mail.env)
    await worker.platform.core.jobs.recoverAbandoned()
    await worker.platform.core.jobs.runDue(CONTACT_MAILS)
    expect(mail.connections(), 'its heartbeats are recent').toBe(0)

    later(MINUTE_MS)
    await world.syncJobClock()
    await worker.platform.core.jobs.recoverAbandoned()
    await worker.platform.core.jobs.runDue(CONTACT_MAILS)
    expect(mail.connections(), 'the process may still be alive').toBe(0)
    later(MINUTE_MS)
    await arrives(mail, id)
    await waitFor(async () =>
      expect(await fixture.message(id)).toMatchObject({ delivered: true, attempts: 1 }),
    )
  })

  test('a job lasts while its process is alive, even with a slow server', async () => {
    await using fixture = await createFixture({ bus: 'redis', env: { SMTP_URL: '' } })
    const { mail, world } = fixture
    const workers = [await world.addNode('worker', mail.env), await world.addNode('worker', mail.env)]
    const { id } = (await contact(world, 'x')).body
    mail.is('waits')
    await waitFor(() => expect(mail.held()).toBe(1))
    for (let round = 0; round < 5; round++) {
      for (const { platform } of workers) {
        await platform.core.jobs.recoverAbandoned()
        await platform.core.jobs.runDue(CONTACT_MAILS)
      }
    }
    expect(mail.seen).toHaveLength(1)
    mail.release()
    await waitFor(async () =>
      expect(await fixture.message(id)).toMatchObject({ delivered: true, attempts: 1 }),
    )
  })
})

describe.concurrent('the mailer', () => {
  const mailOf = (n: number) => ({
    to: 'support@wheelhouse.test',
    subject: 'x',
    text: 'x',
    messageId: `<${n}@wheelhouse.test>`,
  })
  const from = { name: '', address: 'hub@wheelhouse.test' }

  test('aborts if the server does not greet or answer within the limits', async () => {
    await using mail = await startMailServer()
    const send = (n: number, limits: { connectMs: number; answerMs: number }) =>
      createMailer({ url: mail.url, from, limits: { handOverMs: 20_000, stopMs: 100, ...limits } }).send(
        mailOf(n),
      )
    mail.is('never greets')
    await expect(send(1, { connectMs: 300, answerMs: 20_000 })).rejects.toMatchObject({
      kind: 'away',
      handedOver: false,
    })
    mail.is('waits')
    await expect(send(2, { connectMs: 20_000, answerMs: 900 })).rejects.toMatchObject({
      kind: 'away',
      handedOver: true,
    })
  })

  test('distinguishes a rejection, a deferral and a missing answer', async () => {
    await using mail = await startMailServer()
    const mailer = createMailer({ url: mail.url, from })
    mail.is({ refuses: 'message', code: 554 })
    await expect(mailer.send(mailOf(1))).rejects.toMatchObject({ kind: 'refused', handedOver: false })
    mail.is({ refuses: 'recipient', code: 450 })
    await expect(mailer.send(mailOf(2))).rejects.toMatchObject({ kind: 'deferred', handedOver: false })
    mail.is('dies within')
    await expect(mailer.send(mailOf(3))).rejects.toMatchObject({ kind: 'away' })
    await mail.stop()
    await expect(mailer.send(mailOf(4))).rejects.toMatchObject({ kind: 'away', handedOver: false })
  })

  test('does not reveal the password of the mail server', async () => {
    await using mail = await startMailServer()
    await mail.stop()
    const url = mail.url.replace('smtp://', 'smtp://user:hunter2@')
    const error = await createMailer({ url, from })
      .send(mailOf(1))
      .catch((cause: Error) => cause)
    expect(String(error)).not.toContain('hunter2')
  })
})

test('retry delays grow from half a minute to an hour', () => {
  const delays = Array.from({ length: 60 }, (_, n) => retryDelayMs(n + 1, 'away', () => 0))
  expect(delays.slice(0, 9)).toEqual([30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600].map((s) => s * 1_000))
  expect(delays.at(-1)).toBe(HOUR_MS)
  expect(retryDelayMs(1, 'deferred', () => 0.999)).toBeLessThanOrEqual(37_500)
  expect(retryDelayMs(1, 'deferred', () => 0.999)).toBeGreaterThan(37_000)
  expect(retryDelayMs(40, 'away', () => 0.999)).toBe(HOUR_MS)
  expect(retryDelayMs(1, 'refused', () => 0)).toBe(HOUR_MS)
})
