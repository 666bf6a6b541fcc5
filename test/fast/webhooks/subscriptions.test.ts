import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOutboundRetention } from '../../../src/modules/webhooks/retention.ts'
import { type Receiver, startReceiver, status, verify } from '../../support/network/webhook-receiver.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const HOOKS = '/api/webhooks'

let world: World
beforeAll(async () => {
  // Robots are silent; only a closed connection makes them OFFLINE.
  world = await createWorld({ env: { WEBHOOK_ALLOW_LOOPBACK: 'true', HEARTBEAT_TIMEOUT_MS: '600000' } })
})
afterAll(() => world[Symbol.asyncDispose]())

test('metrics count attempts and measure the backlog', async () => {
  await using receiver = await startReceiver()
  const owner = await world.client()
  await sendTestEvent(owner, (await createWebhook(owner, receiver)).path)
  const metrics = await (await fetch(`${world.baseUrl}/metrics`)).text()
  expect(metrics).toMatch(/^wheelhouse_webhook_attempts_total\{outcome="delivered"\} [1-9]/m)
  for (const name of [
    'outbound_events',
    'outbound_lag_seconds',
    'webhooks_due',
    'webhook_lag_seconds',
    'long_polls',
  ]) {
    expect(metrics).toMatch(new RegExp(`^wheelhouse_${name} \\d`, 'm'))
  }
})

// Not concurrent, because it cleans up for every user.
test('a webhook gets events without a read of the stream, also when it is enabled after a long time', async () => {
  await using receiver = await startReceiver()
  const { owner, robot } = await createScenario()
  const { path } = await createWebhook(owner, receiver, { types: ['robot.status'] })
  const { db } = world.platform.core
  const inDays = (days: number) => () => new Date(Date.now() + days * 24 * 3_600_000)
  await createOutboundRetention({ db, now: inDays(16) }).removeOld()
  await (await world.connect(robot)).close()
  await waitFor(() => expect(receiver.received).toHaveLength(2))

  await owner.patch(path, { enabled: false })
  await createOutboundRetention({ db, now: inDays(16) }).removeOld()
  await owner.patch(path, { enabled: true })
  await (await world.connect(robot)).close()
  await waitFor(() => expect(receiver.received).toHaveLength(4))
  const seqs = receiver.received.map(({ event }) => (event as { seq: number }).seq)
  expect(seqs, 'one number is skipped where events were not stored').toEqual([1, 2, 4, 5])
})

async function createWebhook(user: TestUser, receiver: Receiver, input: Record<string, unknown> = {}) {
  const reply = await user.post(HOOKS, { url: receiver.url, ...input })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  const path = `${HOOKS}/${reply.body.id}`
  return {
    id: reply.body.id as string,
    secret: reply.body.secret as string,
    path,
    read: async () => (await user.get(path)).body,
    log: async (query = '') => (await user.get(`${path}/deliveries${query}`)).body.deliveries,
  }
}

/** Sends a test event and returns its settled delivery. */
async function sendTestEvent(user: TestUser, path: string) {
  const { status, body } = await user.post(`${path}/test`)
  expect(status, JSON.stringify(body)).toBe(202)
  return await waitFor(async () => {
    const reply = await user.get(`${path}/deliveries/${body.id}`)
    expect(reply.body.status).not.toBe('PENDING')
    return reply.body
  })
}

async function createScenario() {
  const [owner, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(owner)
  return { owner, operator, robot }
}

describe.concurrent('a webhook', () => {
  test('receives the events of the stream, signed, in order, with the same ids', async () => {
    await using receiver = await startReceiver()
    const { owner, operator, robot } = await createScenario()
    const { secret, path } = await createWebhook(owner, receiver)
    ;(await world.connect(robot)).beat()
    const sessionId = await start(operator, robot.id)
    await operator.post(`/api/sessions/${sessionId}/messages`, { body: 'Grüße 🤖' })
    await performAction(operator, sessionId, 'end')
    await waitFor(() => expect(receiver.types()).toContain('notification.session.ended'))
    const stream = (await owner.get('/api/events')).body.events
    await waitFor(() => expect(receiver.received).toHaveLength(stream.length))

    expect(receiver.received.map((latest) => verify(secret, latest))).toEqual(stream)
    expect(receiver.ids()).toEqual(stream.map(({ id }: { id: string }) => id))
    expect(new Set(receiver.types())).toEqual(
      new Set([
        'robot.status',
        'session.started',
        'notification.session.started',
        'chat.message',
        'session.ended',
        'notification.session.ended',
      ]),
    )
    const [first] = receiver.received
    expect(first?.headers['content-type']).toBe('application/json')
    expect(() => verify('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', first as never)).toThrow()

    const deliveries = (await owner.get(`${path}/deliveries?limit=100&status=DELIVERED`)).body.deliveries
    expect(deliveries).toHaveLength(stream.length)
    expect(deliveries[0]).toMatchObject({
      status: 'DELIVERED',
      attempts: 1,
      response_status: 200,
      response_excerpt: 'thanks',
      error: null,
      next_attempt_at: null,
      event_id: stream.at(-1).id,
      seq: stream.length,
    })
    const older = await owner.get(`${path}/deliveries?limit=2&before=${deliveries[0].id}`)
    expect(older.body.deliveries).toEqual(deliveries.slice(1, 3))
  })

  test('receives only events that match its filter and that its owner may see', async () => {
    await using wide = await startReceiver()
    await using narrow = await startReceiver()
    await using others = await startReceiver()
    const { owner, operator, robot } = await createScenario()
    const unrelatedUser = await world.client()
    await createWebhook(owner, wide, { types: ['robot.*', 'notification.session.*'] })
    await createWebhook(operator, narrow, { types: ['chat.message'] })
    await createWebhook(unrelatedUser, others)
    ;(await world.connect(robot)).beat()
    const sessionId = await start(operator, robot.id)
    await operator.post(`/api/sessions/${sessionId}/messages`, { body: 'hello' })
    await waitFor(() => expect(narrow.types()).toEqual(['chat.message']))
    await waitFor(() =>
      expect(new Set(wide.types())).toEqual(new Set(['robot.status', 'notification.session.started'])),
    )
    expect(others.received).toEqual([])
    await performAction(operator, sessionId, 'end')
  })

  test('is listed, changed and removed by its owner; only the creation returns the secret', async () => {
    await using receiver = await startReceiver()
    const owner = await world.client()
    const { id, path, secret, read } = await createWebhook(owner, receiver, { description: 'Dashboard' })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const listed = (await owner.get(HOOKS)).body.webhooks
    expect(listed).toEqual([await read()])
    expect(listed[0]).toMatchObject({
      id,
      url: receiver.url,
      description: 'Dashboard',
      types: ['*'],
      enabled: true,
      disabled_reason: null,
      failing_since: null,
      old_secret_until: null,
    })
    expect(JSON.stringify(listed)).not.toContain(secret.slice(6))
    const changed = await owner.patch(path, { types: ['session.*'], description: null })
    expect(changed.body).toMatchObject({ types: ['session.*'], description: null })
    const rows = await world.platform.core.db
      .selectFrom('webhooks')
      .selectAll()
      .where('id', '=', id)
      .execute()
    expect(JSON.stringify(rows), 'the database stores the encrypted secret').not.toContain(secret.slice(6))
    const actions = await world.platform.core.db
      .selectFrom('audit_log')
      .select('action')
      .where('subject_id', '=', id)
      .execute()
    expect(actions).toEqual([{ action: 'webhook.created' }])
    expect((await owner.delete(path)).status).toBe(204)
    expect((await owner.get(path)).status).toBe(404)
    expect((await owner.get(`${path}/deliveries`)).status).toBe(404)
  })

  test('is rejected for other schemes, credentials in the URL, unknown events and beyond the limit', async () => {
    const owner = await world.client()
    const refused = async (input: Record<string, unknown>) => {
      const reply = await owner.post(HOOKS, input)
      expect(reply.status, JSON.stringify(input)).toBe(400)
      return reply.body.error as string
    }
    const url = 'http://127.0.0.1:9/'
    for (const bad of [
      '',
      'x',
      'ftp://127.0.0.1/',
      'http://a:b@127.0.0.1/',
      'http://127.0.0.1/#x',
      'file:///etc',
    ]) {
      await refused({ url: bad })
    }
    for (const internal of ['http://10.0.0.1/', 'https://169.254.169.254/latest', 'https://[fd00::1]/']) {
      expect(await refused({ url: internal })).toBe(
        'url: its host must have a name that resolves to public addresses only',
      )
    }
    for (const types of [[], ['nothing.such'], ['session'], ['s*'], ['session.**'], ['Session.*']]) {
      await refused({ url, types })
    }
    await refused({ url, secret: 'mine' })
    const replies = await Promise.all(Array.from({ length: 12 }, () => owner.post(HOOKS, { url })))
    expect(replies.filter((reply) => reply.status === 201)).toHaveLength(10)
    expect(replies.filter((reply) => reply.status === 409)).toHaveLength(2)
  })

  test('signs with both secrets for a day after a rotation, or only with the new one without keep_old', async () => {
    await using receiver = await startReceiver()
    const owner = await world.client()
    const webhook = await createWebhook(owner, receiver)
    const rotated = await owner.post(`${webhook.path}/rotate-secret`)
    expect(rotated.status).toBe(200)
    expect(Date.parse(rotated.body.old_secret_until) - Date.now()).toBeGreaterThan(23 * 3_600_000)
    await sendTestEvent(owner, webhook.path)
    const both = receiver.received.at(-1)!
    expect(verify(webhook.secret, both)).toEqual(verify(rotated.body.secret, both))
    expect((both.headers['webhook-signature'] as string).split(' ')).toHaveLength(2)

    const again = await owner.post(`${webhook.path}/rotate-secret`, { keep_old: false })
    expect(again.body.old_secret_until).toBeNull()
    await sendTestEvent(owner, webhook.path)
    const latest = receiver.received.at(-1)!
    verify(again.body.secret, latest)
    expect(() => verify(rotated.body.secret, latest)).toThrow()
  })

  test('gets a test event once, without retries', async () => {
    await using receiver = await startReceiver(status(500))
    const owner = await world.client()
    const { id, path, secret, read } = await createWebhook(owner, receiver, { types: ['chat.message'] })
    expect(await sendTestEvent(owner, path)).toMatchObject({
      status: 'FAILED',
      type: 'webhook.test',
      seq: null,
      attempts: 1,
      response_status: 500,
      response_excerpt: 'answered 500',
      error: 'The receiver returned status 500',
      event: { type: 'webhook.test', data: { webhook_id: id } },
    })
    expect(verify(secret, receiver.received[0]!)).toEqual(receiver.received[0]?.event)
    expect(await read()).toMatchObject({ enabled: true, failing_since: expect.any(String) })
    expect((await owner.get('/api/events')).body.events).toEqual([])
  })

  test('fails its pending deliveries when disabled, and gets only new events when enabled', async () => {
    await using receiver = await startReceiver(status(500))
    const { owner, robot } = await createScenario()
    const { path, log } = await createWebhook(owner, receiver)
    const link = await world.connect(robot)
    await waitFor(async () => expect(await log()).toMatchObject([{ status: 'PENDING', attempts: 1 }]))
    const off = await owner.patch(path, { enabled: false })
    expect(off.body).toMatchObject({
      enabled: false,
      disabled_reason: 'user',
      disabled_at: expect.any(String),
    })
    expect(await log()).toMatchObject([{ status: 'FAILED', error: expect.stringContaining('disabled') }])
    expect((await owner.post(`${path}/test`)).status).toBe(409)
    await link.close()
    await waitFor(async () => expect((await owner.get('/api/events')).body.events).toHaveLength(2))
    expect(await log()).toHaveLength(1)

    receiver.answerWith(status(204))
    expect((await owner.patch(path, { enabled: true })).body).toMatchObject({
      enabled: true,
      disabled_at: null,
    })
    await world.connect(robot)
    await waitFor(() => expect(receiver.received.at(-1)?.event.seq).toBe(3))
    expect(receiver.received.map(({ event }) => event.seq)).toEqual([1, 3])
    // Missed events are replayed on request: a single delivery, or all since a time.
    const [, failed] = await log()
    expect((await owner.post(`${path}/deliveries/${failed.id}/replay`)).status).toBe(202)
    await waitFor(() => expect(receiver.received.at(-1)?.event.seq).toBe(1))
    expect(receiver.ids().at(-1)).toBe(receiver.ids()[0])
    await waitFor(async () => expect(await log('?status=PENDING')).toEqual([]))
    const replay = await owner.post(`${path}/replay`, { since: '2020-01-01T00:00:00Z' })
    expect(replay).toMatchObject({ status: 202, body: { replayed: 1, more: false } })
    await waitFor(() => expect(receiver.received.map(({ event }) => event.seq)).toEqual([1, 3, 1, 2]))
  })

  test('of another user returns 404 on every route', async () => {
    await using receiver = await startReceiver()
    const [owner, unrelatedUser] = [await world.client(), await world.client()]
    const { path } = await createWebhook(owner, receiver)
    const delivery = await sendTestEvent(owner, path)
    const { key } = await unrelatedUser.key()
    const requests = [
      ['GET', path],
      ['PATCH', path, { enabled: false }],
      ['DELETE', path],
      ['POST', `${path}/test`],
      ['POST', `${path}/rotate-secret`],
      ['POST', `${path}/replay`, { since: '2020-01-01T00:00:00Z' }],
      ['GET', `${path}/deliveries`],
      ['GET', `${path}/deliveries/${delivery.id}`],
      ['POST', `${path}/deliveries/${delivery.id}/replay`],
    ] as const
    for (const [method, route, body] of requests) {
      for (const credential of [unrelatedUser.token, key]) {
        expect(
          (await unrelatedUser.request(method, route, body, credential)).status,
          `${method} ${route}`,
        ).toBe(404)
      }
    }
    // A delivery of another user is not reachable through the caller's own webhook either.
    const own = await createWebhook(unrelatedUser, receiver)
    expect((await unrelatedUser.get(`${own.path}/deliveries/${delivery.id}`)).status).toBe(404)
    expect((await unrelatedUser.get(`${own.path}/deliveries?before=${randomUUID()}`)).status).toBe(404)
    expect((await sendTestEvent(owner, path)).status).toBe('DELIVERED')
  })
})
