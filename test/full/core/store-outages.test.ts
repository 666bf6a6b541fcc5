import type { SessionLogEvent } from '@wheelhouse/protocol'
import { Client } from 'pg'
import { describe, expect, type TestContext, test } from 'vitest'
import { HubClient } from '../../../packages/sdk/index.ts'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import { createTestDatabase } from '../../support/database/database.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { startWheelhouse } from '../../support/processes/processes.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { WAIT_LIMIT_MS } from '../../support/wait-limit.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

type Finish = Pick<TestContext, 'onTestFinished'>

async function follow({ onTestFinished }: Finish, url: string, { owner, id }: SessionFixture) {
  const log: SessionLogEvent[] = []
  const client = new HubClient({ url, token: owner.token, reconnect: { baseMs: 5, maxMs: 50 } })
  onTestFinished(() => client.close())
  await client.connect()
  await client.watch(id, { onEvent: (event) => log.push(event) })
  return {
    client,
    log,
    reaches: (seq: number) => waitFor(() => expect(log.at(-1)?.seq).toBe(seq)),
  }
}

async function sendMessage({ id, operator }: SessionFixture, body: string): Promise<number> {
  const reply = await operator.post(`/api/sessions/${id}/messages`, { body })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.seq
}

/** Starts a node that reaches Redis through a proxy, and a world with a direct connection. */
async function connectPastProxy({ onTestFinished }: Finish) {
  const redis = await createTcpProxy(serviceUrl('redisUrl'))
  const world = await createWorld({ bus: 'redis', env: { OPERATOR_GRACE_MS: '60000' } })
  onTestFinished(async () => {
    redis.restore()
    await world[Symbol.asyncDispose]()
    await redis[Symbol.asyncDispose]()
  })
  const fixture = await openSessionFixture(world)
  await world.drained() // the first hub relays, so the second receives every event over Redis
  const node = await world.addNode('hub,gateway', { REDIS_URL: redis.url })
  return { redis, fixture, node }
}

describe.concurrent('Redis', () => {
  test('whose connections die silently: the hub notices by itself, and no client misses an event', async (context) => {
    const { redis, fixture, node } = await connectPastProxy(context)
    const observer = await follow(context, node.hubUrl, fixture)
    await observer.reaches(await sendMessage(fixture, 'before'))
    redis.abandon()
    // One message and no other after it: the hub itself must detect that its subscription is dead.
    await observer.reaches(await sendMessage(fixture, 'into the silence'))
    await observer.reaches(await sendMessage(fixture, 'afterwards'))
  })

  test('that does not answer for a while: REST and hubs keep working, and every event is published once it is back', async (context) => {
    const { redis, fixture, node } = await connectPastProxy(context)
    const observer = await follow(context, node.hubUrl, fixture)
    redis.silence()
    for (let count = 0; count < 5; count++) await observer.client.sendChat(fixture.id, `${count}`)
    expect((await fetch(`${node.hubUrl}/readyz`)).status).toBe(200)
    redis.restore()
    await observer.reaches(6)
    await observer.reaches(await sendMessage(fixture, 'afterwards'))
  })

  const wrong: [string, () => Promise<string>][] = [
    ['refuses connections', async () => `redis://127.0.0.1:${await freePort()}`],
    ['has an unknown host name', async () => 'redis://redis.invalid:6379'],
  ]
  test.for(wrong)(
    'that %s when a process starts: the process starts and serves all the same',
    async ([, url], context) => {
      await using world = await createWorld({ env: { REDIS_URL: await url() } })
      const fixture = await openSessionFixture(world)
      const observer = await follow(context, world.hubUrl, fixture)
      await observer.reaches(await sendMessage(fixture, 'without Redis'))
      expect((await fetch(`${world.baseUrl}/readyz`)).status).toBe(200)
      const health = await fetch(`${world.baseUrl}/api/health`)
      expect(await health.json()).toEqual({ status: 'ok', db: 'ok', timestamp: expect.any(String) })
    },
  )
})

describe.concurrent('PostgreSQL', () => {
  test.each([
    ['refuses connections', async () => `postgres://user@127.0.0.1:${await freePort()}/wheelhouse`],
    ['has an unknown host name', async () => 'postgres://user@postgres.invalid:5432/wheelhouse'],
  ])('%s when a process starts: the process reports it and exits', async (_how, url) => {
    await using node = startWheelhouse({
      ROLES: 'worker',
      DATABASE_URL: await url(),
      REDIS_URL: serviceUrl('redisUrl'),
      SECRET_KEY: 'a key for tests only, at least 32 characters',
    })
    expect((await node.exited).code).toBe(1)
    expect(node.errorOutput).toMatch(/did not start.*Cannot use the database.*DATABASE_URL/s)
  })

  test('does not answer: no request, command or handshake hangs, and requests succeed again once it is back', async ({
    onTestFinished,
  }) => {
    const database = await createTestDatabase()
    const proxy = await createTcpProxy(database.url)
    const world = await createWorld({ env: { DATABASE_URL: proxy.url, OPERATOR_GRACE_MS: '60000' } })
    onTestFinished(async () => {
      proxy.restore()
      await world[Symbol.asyncDispose]()
      await proxy[Symbol.asyncDispose]()
      await database.drop()
    })
    const fixture = await openSessionFixture(world)
    const { operator, id } = fixture
    const hub = await fixture.owner.hub()
    proxy.silence()
    const isReady = async () => (await fetch(`${world.baseUrl}/readyz`)).status === 200
    // Every answer below arrives during the outage. More than the pool has connections, and some while others already wait.
    const replies: Promise<{ status: number; headers: Headers; body: unknown }>[] = []
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 25; n++) replies.push(operator.post(`/api/sessions/${id}/messages`, { body: 'x' }))
      await waitFor(async () => expect(await isReady()).toBe(false)) // it has waited for two seconds
    }
    const command = hub.socket.timeout(WAIT_LIMIT_MS).emitWithAck('robots:watch', {})
    const newcomer = await fixture.owner.hub().then(
      () => 'let in',
      (cause: { data?: { status: number } }) => cause,
    )
    expect(newcomer).toMatchObject({ data: { status: 503 } })
    expect(await command).toMatchObject({ ok: false, status: 503 })
    for (const { status, headers, body } of await Promise.all(replies)) {
      expect(status).toBe(503)
      expect(headers.get('Retry-After')).toBe('1')
      expect(body).toEqual({ error: 'The database is unreachable. Try again shortly.' })
    }
    expect((await fetch(`${world.baseUrl}/readyz`)).status).toBe(503)
    proxy.restore()
    await waitFor(async () => expect((await fetch(`${world.baseUrl}/readyz`)).status).toBe(200))
    await waitFor(async () => expect((await operator.get('/api/sessions')).status).toBe(200))
    world.errors.length = 0 // every 503 is logged
  })

  test('has no free connection: excess requests get 503 with Retry-After, and the others are served', async () => {
    await using world = await createWorld()
    const client = await world.client()
    const blocker = new Client({ connectionString: world.database.url })
    await blocker.connect()
    try {
      await blocker.query('begin')
      await blocker.query('select from users where id = $1 for update', [client.id])
      const replies = Array.from({ length: 30 }, () =>
        client.post('/api/auth/profile', { display_name: 'Busy' }),
      )
      const refused = await Promise.race(replies)
      expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '1'])
      expect(refused.body).toEqual({ error: 'The database is unreachable. Try again shortly.' })
      await blocker.query('rollback')
      const statuses = new Set((await Promise.all(replies)).map(({ status }) => status))
      expect(statuses).toEqual(new Set([200, 503]))
      expect((await client.get('/api/auth/profile')).status).toBe(200)
    } finally {
      await blocker.end()
    }
    world.errors.length = 0 // every 503 is logged
  })
})

test('Redis and PostgreSQL both unavailable: driving and stopping continue, and the stop is recorded afterwards', async ({
  onTestFinished,
}) => {
  const database = await createTestDatabase()
  const [postgres, redis] = [await createTcpProxy(database.url), await createTcpProxy(serviceUrl('redisUrl'))]
  const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, OPERATOR_GRACE_MS: '60000' }
  const world = await createWorld({ env })
  onTestFinished(async () => {
    for (const proxy of [postgres, redis]) proxy.restore()
    await world[Symbol.asyncDispose]()
    for (const proxy of [postgres, redis]) await proxy[Symbol.asyncDispose]()
    await database.drop()
  })
  const { operator, client, link, id, log } = await openSessionFixture(world)
  const console = await world.drive(operator, id)
  const observer = await world.drive(client, id, 'watch')
  await Promise.all([console.state(), observer.state()])
  for (const proxy of [postgres, redis]) proxy.cut()
  console.control()
  await link.next('control')
  observer.send({ type: 'stop', reason: 'smoke' })
  await waitFor(async () => expect((await link.next('stop')).reason).toBe('smoke'))
  for (const proxy of [postgres, redis]) proxy.restore()
  await observer.state(({ stop }) => stop?.recorded)
  const stops = await waitFor(async () => {
    const entries = await log()
    return entries.filter(({ type }) => type === 'session.stopped')
  })
  expect(stops).toMatchObject([{ data: { reason: 'smoke' } }])
  world.errors.length = 0
})
