import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { NOTIFICATION_PUSHES, PUSH_MESSAGES } from '../../../src/modules/notifications/push/push-queues.ts'
import { type FakePushService, startPushService, verifySender } from '../../support/network/push-service.ts'
import {
  createMailFixture,
  HOUR_MS,
  type MailFixture,
  MINUTE_MS,
} from '../../support/world/notification-mails.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'

const SUBSCRIPTIONS = '/api/notifications/push/subscriptions'

let fixture: MailFixture
let service: FakePushService
beforeAll(async () => {
  service = await startPushService()
  fixture = await createMailFixture({ env: { WEBHOOK_ALLOW_LOOPBACK: 'true' } })
})
afterEach(() => service.answer(201))
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

/** Subscribes a new browser of a user. */
async function subscribe(user: TestUser) {
  const browser = service.browser()
  const reply = await user.post(SUBSCRIPTIONS, browser.subscription)
  expect(reply.status).toBe(201)
  return { ...browser, id: reply.body.id as string }
}
const listOf = async (user: TestUser) => (await user.get(SUBSCRIPTIONS)).body.subscriptions
const runPushes = () => fixture.world.runJobs(NOTIFICATION_PUSHES, PUSH_MESSAGES)
const arrived = (browser: ReturnType<FakePushService['browser']>, count: number) =>
  waitFor(async () => {
    await runPushes()
    expect(browser.received()).toHaveLength(count)
  })
/** Waits until no push of a user is pending before `until`. */
const settled = (user: TestUser) =>
  waitFor(async () => {
    await runPushes()
    const queues = [NOTIFICATION_PUSHES.name, PUSH_MESSAGES.name]
    const { rows } = await sql<{ count: string }>`
      select count(*) from pgboss.job where name = any(${queues}) and data ->> 'userId' = ${user.id}
        and state < 'completed' and start_after <= ${fixture.now()}`.execute(fixture.db)
    expect(Number(rows[0]?.count)).toBe(0)
  })

test('a notification reaches every browser of its user, encrypted and signed', async () => {
  const user = await fixture.world.operator()
  const { body: key } = await user.get('/api/notifications/push/key')
  const [phone, laptop] = [await subscribe(user), await subscribe(user)]
  await fixture.decide(user)
  await arrived(phone, 1)
  await arrived(laptop, 1)
  expect(phone.messages()).toEqual([
    {
      id: '1',
      tag: 'notification-1',
      title: 'You are certified for "type-1"',
      text: expect.stringContaining('You can operate them now.'),
      path: '/dashboard',
    },
  ])
  const [message] = phone.received()
  expect(message?.headers).toMatchObject({ ttl: '86400', urgency: 'low', topic: 'notification-1' })
  const sender = verifySender(message!)
  expect(sender).toMatchObject({ key: key.public_key, valid: true, claims: { aud: service.origin } })
  await waitFor(async () =>
    expect(await listOf(user)).toEqual([
      expect.objectContaining({ id: laptop.id, last_success_at: expect.any(String) }),
      expect.objectContaining({ id: phone.id, last_success_at: expect.any(String) }),
    ]),
  )
  const keys = await fixture.db.selectFrom('vapid_keys').selectAll().execute()
  expect(keys).toEqual([expect.objectContaining({ public_key: key.public_key })])
  // The private key of P-256 has 32 bytes, 43 characters. Encrypted, it is longer.
  expect(keys[0]?.sealed_private_key.length).toBeGreaterThan(43)
})

test('a remote stop is pushed with high urgency to the owner and links to the session', async () => {
  const { owner, operator, path, id } = await fixture.session()
  const browser = await subscribe(owner)
  expect((await operator.patch(path, { action: 'emergency_stop' })).status).toBe(200)
  await arrived(browser, 1)
  expect(browser.messages()[0]).toMatchObject({ path: `/dashboard?session=${id}` })
  expect(browser.received()[0]?.headers).toMatchObject({ urgency: 'high', ttl: '3600' })
})

test('a message is in the language that the user has chosen', async () => {
  const user = await fixture.world.operator()
  expect((await user.patch('/api/notifications/settings', { language: 'de' })).status).toBe(200)
  const browser = await subscribe(user)
  await fixture.decide(user)
  await arrived(browser, 1)
  expect(browser.messages()[0]).toMatchObject({ title: 'Sie sind für „type-1“ zertifiziert' })
})

describe('the push service', () => {
  test('gets a message again after 503, and not before Retry-After', async () => {
    const user = await fixture.world.operator()
    const browser = await subscribe(user)
    service.answer(503, { 'Retry-After': '600' })
    await fixture.decide(user)
    await arrived(browser, 1)
    service.answer(201)
    fixture.later(5 * MINUTE_MS)
    await settled(user)
    expect(browser.received()).toHaveLength(1)
    fixture.later(6 * MINUTE_MS)
    await arrived(browser, 2)
    await settled(user)
    expect(browser.messages()[1]).toEqual(browser.messages()[0])
  })

  test.each([404, 410])('ends a subscription with %i', async (status) => {
    const user = await fixture.world.operator()
    await subscribe(user)
    service.answer(status)
    await fixture.decide(user)
    await waitFor(async () => {
      await runPushes()
      expect(await listOf(user)).toEqual([])
    })
  })

  test('cannot redirect a message', async () => {
    const user = await fixture.world.operator()
    const [browser, other] = [await subscribe(user), service.browser()]
    service.answer(307, { Location: other.subscription.endpoint })
    await fixture.decide(user)
    await arrived(browser, 1)
    await settled(user)
    expect(other.received()).toEqual([])
    expect(await listOf(user)).toHaveLength(1)
  })
})

describe('quiet hours', () => {
  /** Turns on quiet hours that began an hour ago and end in two. */
  const quiet = async (user: TestUser, more: object = {}) => {
    const clockIn = (ms: number) => new Date(fixture.now().getTime() + ms).toISOString().slice(11, 16)
    const hours = { start: clockIn(-HOUR_MS), end: clockIn(2 * HOUR_MS), time_zone: 'UTC' }
    const quiet_hours = { ...hours, days: [1, 2, 3, 4, 5, 6, 7], ...more }
    expect((await user.patch('/api/notifications/settings', { quiet_hours })).status).toBe(200)
  }

  test('hold messages back; then the last one is pushed', async () => {
    const user = await fixture.world.operator()
    const browser = await subscribe(user)
    await quiet(user)
    await fixture.decide(user, 3)
    await settled(user)
    expect(browser.received()).toEqual([])
    fixture.later(2 * HOUR_MS)
    await arrived(browser, 1)
    await settled(user)
    expect(browser.messages()).toMatchObject([{ id: '3' }])
  })

  test('let a remote stop pass, unless the user holds it back', async () => {
    const [passing, held] = [await fixture.session(), await fixture.session()]
    const [loud, silent] = [await subscribe(passing.owner), await subscribe(held.owner)]
    await quiet(passing.owner)
    await quiet(held.owner, { safety_passes: false })
    for (const { operator, path } of [held, passing])
      expect((await operator.patch(path, { action: 'emergency_stop' })).status).toBe(200)
    await arrived(loud, 1)
    await settled(held.owner)
    expect(silent.received()).toEqual([])
  })
})

describe('no message is sent', () => {
  test('for a group that is turned off', async () => {
    const user = await fixture.world.operator()
    const browser = await subscribe(user)
    const body = { matrix: { account: { push: false } } }
    expect((await user.patch('/api/notifications/settings', body)).status).toBe(200)
    await fixture.decide(user)
    await settled(user)
    expect(browser.received()).toEqual([])
  })

  test('after the user has read the notification', async () => {
    const user = await fixture.world.operator()
    const browser = await subscribe(user)
    service.answer(503)
    await fixture.decide(user)
    await arrived(browser, 1)
    service.answer(201)
    expect((await user.post('/api/notifications/1/read')).status).toBe(200)
    fixture.later(HOUR_MS)
    await settled(user)
    expect(browser.received()).toHaveLength(1)
  })

  test('to a browser that was removed, for example by a sign-out', async () => {
    const user = await fixture.world.operator()
    const [removed, kept] = [await subscribe(user), await subscribe(user)]
    expect((await user.delete(`${SUBSCRIPTIONS}/${removed.id}`)).status).toBe(204)
    expect((await user.delete(`${SUBSCRIPTIONS}/${removed.id}`)).status).toBe(404)
    await fixture.decide(user)
    await arrived(kept, 1)
    await settled(user)
    expect(removed.received()).toEqual([])
  })

  test('to a suspended user', async () => {
    const [admin, user] = [await fixture.world.admin(), await fixture.world.operator()]
    const browser = await subscribe(user)
    service.answer(503)
    await fixture.decide(user)
    await arrived(browser, 1)
    service.answer(201)
    const reply = await admin.post(`/api/admin/users/${user.id}/suspend`, { reason: 'Test' })
    expect(reply.status).toBeLessThan(300)
    fixture.later(HOUR_MS)
    await settled(user)
    expect(browser.received()).toHaveLength(1)
  })
})

describe('subscriptions', () => {
  test('are at most ten: a further one replaces the oldest, also when many arrive at once', async () => {
    const user = await fixture.world.operator()
    const oldest = await subscribe(user)
    await Promise.all(Array.from({ length: 12 }, () => subscribe(user)))
    const list = await listOf(user)
    expect(list).toHaveLength(10)
    expect(list.map(({ id }: { id: string }) => id)).not.toContain(oldest.id)
  })

  test('belong to one user; only the same browser passes one on', async () => {
    const [first, second] = [await fixture.world.operator(), await fixture.world.operator()]
    const browser = await subscribe(first)
    const forged = { ...browser.subscription, keys: service.browser().subscription.keys }
    expect((await second.post(SUBSCRIPTIONS, forged)).status).toBe(409)
    expect((await second.delete(`${SUBSCRIPTIONS}/${browser.id}`)).status).toBe(404)
    expect(await listOf(first)).toHaveLength(1)
    expect((await second.post(SUBSCRIPTIONS, browser.subscription)).status).toBe(201)
    expect(await listOf(first)).toEqual([])
  })

  test.each([
    'http://push.example.com/send',
    'https://10.0.0.1/send',
    'https://169.254.169.254/latest',
    'https://[fd00::1]/send',
    'ftp://127.0.0.1/send',
    'https://user:secret@push.example.com/',
    'not a URL',
  ])('refuse the endpoint %s', async (endpoint) => {
    const user = await fixture.world.operator()
    const { keys } = service.browser().subscription
    expect((await user.post(SUBSCRIPTIONS, { endpoint, keys })).status).toBe(400)
    expect(await listOf(user)).toEqual([])
  })

  test('refuse keys with which no message can be encrypted', async () => {
    const user = await fixture.world.operator()
    const { endpoint, keys } = service.browser().subscription
    const p256dh = Buffer.alloc(65, 4).toString('base64url') // no point of the curve
    for (const wrong of [
      { ...keys, p256dh },
      { ...keys, p256dh: keys.auth },
      { ...keys, auth: p256dh },
    ])
      expect((await user.post(SUBSCRIPTIONS, { endpoint, keys: wrong })).status).toBe(400)
    expect(await listOf(user)).toEqual([])
  })
})
