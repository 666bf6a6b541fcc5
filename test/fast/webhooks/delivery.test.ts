import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOutboundRetention } from '../../../src/modules/webhooks/retention.ts'
import {
  ok,
  type Receiver,
  silence,
  startReceiver,
  status,
  verify,
} from '../../support/network/webhook-receiver.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** How far the platform's clock is ahead, so that tests do not wait for days. */
let aheadMs = 0
let world: World
const worldNow = () => Date.now() + aheadMs
beforeAll(async () => {
  world = await createWorld({ env: { WEBHOOK_ALLOW_LOOPBACK: 'true' }, now: () => new Date(worldNow()) })
})
afterAll(() => world[Symbol.asyncDispose]())

async function createWebhook(owner: TestUser, receiver: Pick<Receiver, 'url'>) {
  const { body } = await owner.post('/api/webhooks', { url: receiver.url, types: ['robot.status'] })
  const path = `/api/webhooks/${body.id}`
  return {
    id: body.id as string,
    secret: body.secret as string,
    path,
    read: async () => (await owner.get(path)).body,
    log: async () => (await owner.get(`${path}/deliveries?limit=100`)).body.deliveries,
  }
}
type Webhook = Awaited<ReturnType<typeof createWebhook>>

/** Records status events of a robot of the owner. */
const recordEvents = (owner: TestUser, count = 1) =>
  world.platform.core.transact(async (tx) => {
    for (let n = 0; n < count; n++) {
      const robot = { robot_id: crypto.randomUUID(), status: 'OFFLINE', last_heartbeat: null } as const
      tx.publish('robots.status', { robots: [{ ...robot, owner_id: owner.id, robot_type: 'x' }] })
    }
  })
/** Returns the only delivery after `attempts` completed attempts. */
const waitForAttempts = ({ log }: Webhook, attempts: number) =>
  waitFor(async () => {
    const [delivery] = await log()
    expect(delivery?.attempts).toBe(attempts)
    // An attempt is complete when the next one is due after its start.
    if (delivery.status === 'PENDING') {
      expect(Date.parse(delivery.next_attempt_at)).toBeGreaterThan(Date.parse(delivery.attempted_at))
      expect(delivery.duration_ms).not.toBeNull()
    }
    return delivery
  })

describe('a suspended owner', () => {
  test('receives nothing: pending deliveries fail, new events have none, and the stream has no gap afterwards', async () => {
    await using receiver = await startReceiver(status(500))
    const [owner, admin] = [await world.client(), await world.admin()]
    const suspension = `/api/admin/users/${owner.id}`
    const webhook = await createWebhook(owner, receiver)
    await recordEvents(owner)
    const { next_attempt_at } = await waitForAttempts(webhook, 1)
    const sent = receiver.received.length
    expect((await admin.post(`${suspension}/suspend`, { reason: 'Unsafe driving' })).status).toBe(204)
    await recordEvents(owner)
    const statuses = async () =>
      (
        await world.platform.core.db
          .selectFrom('webhook_deliveries')
          .select(['status', 'error'])
          .where('webhook_id', '=', webhook.id)
          .execute()
      ).map((row) => ({ ...row }))
    aheadMs += Date.parse(next_attempt_at) - worldNow() + 1_000
    await waitFor(async () =>
      expect(await statuses()).toEqual([
        { status: 'FAILED', error: expect.stringContaining('The account was suspended') },
      ]),
    )
    expect(receiver.received).toHaveLength(sent)
    // The event after the suspension is stored, although it has no delivery.
    const stored = () =>
      world.platform.core.db
        .selectFrom('user_events')
        .select('type')
        .where('user_id', '=', owner.id)
        .where('type', '=', 'robot.status')
        .execute()
    await waitFor(async () => expect(await stored()).toHaveLength(2))
    expect(await statuses()).toHaveLength(1)
    receiver.answerWith(ok)
    expect((await admin.post(`${suspension}/restore`)).status).toBe(204)
    aheadMs += HOUR_MS
    await recordEvents(owner)
    await waitFor(async () => expect((await webhook.log())[0]).toMatchObject({ status: 'DELIVERED' }))
    const { body } = await owner.get('/api/events?after=oldest&types=robot.status')
    expect(body.events).toHaveLength(3)
  })
})

describe('a webhook has one unfinished job at most', () => {
  const unfinishedJobs = async ({ id }: Webhook) =>
    (
      await sql`
        select state from pgboss.job
        where name = 'webhook-deliveries' and singleton_key = ${id} and state < 'completed'`.execute(
        world.platform.core.db,
      )
    ).rows.length

  test('while its receiver fails and shortens its Retry-After each time', async () => {
    let seconds = 3_600
    await using receiver = await startReceiver((response, item) => {
      seconds = Math.ceil(seconds / 2)
      status(429, { 'Retry-After': String(seconds) })(response, item)
    })
    const owner = await world.client()
    const webhook = await createWebhook(owner, receiver)
    for (let failed = 1; failed <= 5; failed++) {
      await recordEvents(owner)
      await waitFor(async () => {
        const log: { response_status: number | null }[] = await webhook.log()
        expect(log.map(({ response_status }) => response_status)).toEqual(Array(failed).fill(429))
      })
      // Ends the pause, so that the next event is sent at once. The failed ones stay due later.
      await owner.patch(webhook.path, { url: receiver.url })
      expect(await unfinishedJobs(webhook)).toBeLessThanOrEqual(1)
    }
    await waitFor(async () => expect(await unfinishedJobs(webhook)).toBe(1))
    receiver.answerWith(ok)
    aheadMs += DAY_MS
    await waitFor(async () => {
      const log: { status: string }[] = await webhook.log()
      expect(log.map((item) => item.status)).toEqual(Array(5).fill('DELIVERED'))
    })
    expect(receiver.mostUnderWay).toBe(1)
    aheadMs = 0
  })

  test('also with jobs of an earlier version, which multiplied', async () => {
    await using receiver = await startReceiver(status(500))
    const owner = await world.client()
    const webhook = await createWebhook(owner, receiver)
    await recordEvents(owner)
    await waitForAttempts(webhook, 1)
    const boss = await world.platform.core.jobs.engine()
    const copies = Array.from({ length: 5 }, () => ({
      data: { webhookId: webhook.id },
      singletonKey: webhook.id,
    }))
    await boss.insert('webhook-deliveries', copies)
    await waitFor(async () => expect(await unfinishedJobs(webhook)).toBe(1))
    receiver.answerWith(ok)
    aheadMs += HOUR_MS
    await waitFor(async () => expect((await webhook.log())[0]).toMatchObject({ status: 'DELIVERED' }))
    await waitFor(async () => expect(await unfinishedJobs(webhook)).toBe(0))
    aheadMs = 0
  })
})

describe('a receiver that fails', () => {
  test('gets retries with the same id for three days, then the delivery fails', async () => {
    await using receiver = await startReceiver(status(500))
    const owner = await world.client()
    const webhook = await createWebhook(owner, receiver)
    await recordEvents(owner)
    const waits: number[] = []
    for (let attempts = 1; attempts < 10; attempts++) {
      const { status, next_attempt_at, attempted_at, response_status } = await waitForAttempts(
        webhook,
        attempts,
      )
      expect([status, response_status]).toEqual(['PENDING', 500])
      waits.push((Date.parse(next_attempt_at) - Date.parse(attempted_at)) / 1_000)
      aheadMs += Date.parse(next_attempt_at) - worldNow()
    }
    const planned = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
    for (const [index, seconds] of planned.entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(seconds)
      expect(waits[index]).toBeLessThan(seconds * 1.2 + 5)
    }
    expect(await waitForAttempts(webhook, 10)).toMatchObject({ status: 'FAILED', next_attempt_at: null })
    expect(new Set(receiver.ids()).size).toBe(1)
    expect(receiver.received).toHaveLength(10)
    expect(await webhook.read()).toMatchObject({ enabled: true })
    aheadMs = 0
  })

  test('and then recovers gets the missed deliveries, and its failures are reset', async () => {
    await using receiver = await startReceiver(status(503))
    const owner = await world.client()
    const webhook = await createWebhook(owner, receiver)
    await recordEvents(owner)
    await waitForAttempts(webhook, 1)
    expect(await webhook.read()).toMatchObject({ failing_since: expect.any(String), last_success_at: null })
    receiver.answerWith(ok)
    aheadMs += 10_000
    expect(await waitForAttempts(webhook, 2)).toMatchObject({
      status: 'DELIVERED',
      response_status: 200,
      error: null,
    })
    expect(new Set(receiver.ids()).size).toBe(1)
    expect(await webhook.read()).toMatchObject({ failing_since: null, last_success_at: expect.any(String) })
    aheadMs = 0
    for (const item of receiver.received) verify(webhook.secret, { ...item })
  })

  // src/modules/webhooks/delivery-schedule.test.ts has the limits of the pause.
  test('and sends Retry-After gets that pause', async () => {
    const owner = await world.client()
    await using receiver = await startReceiver(status(429, { 'Retry-After': '7200' }))
    const webhook = await createWebhook(owner, receiver)
    await recordEvents(owner)
    const { next_attempt_at, attempted_at } = await waitForAttempts(webhook, 1)
    const waitMs = Date.parse(next_attempt_at) - Date.parse(attempted_at)
    expect(waitMs).toBeGreaterThanOrEqual(2 * HOUR_MS)
    expect(waitMs).toBeLessThan(2 * HOUR_MS + 5_000)
  })

  test('with status 410 is disabled at once, and the owner is notified', async () => {
    await using receiver = await startReceiver(status(410))
    const owner = await world.client()
    const webhook = await createWebhook(owner, receiver)
    await recordEvents(owner, 3)
    await waitFor(async () => {
      expect(await webhook.read()).toMatchObject({ enabled: false, disabled_reason: 'gone' })
    })
    expect(receiver.received).toHaveLength(1)
    expect((await webhook.log()).map((item: { status: string }) => item.status)).toEqual(
      Array(3).fill('FAILED'),
    )
    const { notifications } = (await owner.get('/api/notifications')).body
    expect(notifications).toMatchObject([
      {
        type: 'webhook.disabled',
        data: { webhook_id: webhook.id, host: `127.0.0.1:${receiver.port}`, reason: 'gone' },
      },
    ])
  })

  test('for five days without a success is disabled, and the owner is notified', async () => {
    await using receiver = await startReceiver(status(500))
    const owner = await world.client()
    const webhook = await createWebhook(owner, receiver)
    await recordEvents(owner)
    await waitForAttempts(webhook, 1)
    aheadMs += 4.9 * DAY_MS
    await waitForAttempts(webhook, 2)
    expect(await webhook.read()).toMatchObject({ enabled: true })
    aheadMs += 0.2 * DAY_MS
    await waitFor(async () => {
      expect(await webhook.read()).toMatchObject({ enabled: false, disabled_reason: 'failing' })
    })
    const notified = (await owner.get('/api/notifications')).body.notifications
    expect(notified).toMatchObject([{ type: 'webhook.disabled', data: { reason: 'failing' } }])
    aheadMs = 0
  })
})

test('receivers that never respond do not delay others', async () => {
  const owner = await world.client()
  await using hung = await startReceiver(silence)
  await using quick = await startReceiver()
  const creations = [hung, hung, hung, hung, hung, hung, hung, quick].map((receiver) =>
    createWebhook(owner, receiver),
  )
  const webhooks = await Promise.all(creations)
  await recordEvents(owner, 10)
  await waitFor(() => expect(quick.received).toHaveLength(10))
  expect(quick.received.map(({ event }) => event.seq)).toEqual(Array.from({ length: 10 }, (_, n) => n + 1))
  expect(quick.mostUnderWay).toBe(1)
  expect(hung.received, 'one request at a time per receiver').toHaveLength(7)
  for (const { path } of webhooks) await owner.delete(path)
})

test('the numbers of logged and pending deliveries are limited', async () => {
  await using receiver = await startReceiver()
  const owner = await world.client()
  const webhook = await createWebhook(owner, receiver)
  await recordEvents(owner, 6)
  await waitFor(() => expect(receiver.received).toHaveLength(6))
  receiver.answerWith(status(500))
  await recordEvents(owner, 3)
  const statuses = async () => (await webhook.log()).map((item: { status: string }) => item.status)
  await waitFor(async () => expect(await statuses()).toHaveLength(9))
  const retention = (now: Date) =>
    createOutboundRetention({
      db: world.platform.core.db,
      now: () => now,
      limits: { deliveriesPerWebhook: 4, waitingPerWebhook: 2 },
    })
  await waitFor(async () => {
    await retention(new Date()).removeSurplus() // skips a delivery whose attempt is just being recorded
    expect(await statuses()).toEqual(['PENDING', 'PENDING', 'FAILED', ...Array(4).fill('DELIVERED')])
  })
  await retention(new Date(Date.now() + 8 * DAY_MS)).removeOld()
  expect(await statuses()).toEqual(['PENDING', 'PENDING'])
})
