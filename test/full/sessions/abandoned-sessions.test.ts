import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAbandonmentWorker } from '../../../src/modules/sessions/lifecycle/abandonment.worker.ts'
import { actors, createSilentGateway, MINUTE_MS, type SilentGateway } from '../../support/world/billing.ts'
import { openSessionFixture, performAction, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const GONE_MS = 5 * MINUTE_MS
const PAUSE_LIMIT_MS = 30 * MINUTE_MS

type Entry = { type: string; data: Record<string, unknown> }
const read = async (user: TestUser, id: string) => (await user.get(`/api/sessions/${id}`)).body
const typesOf = async (user: TestUser, id: string): Promise<string[]> =>
  (await user.get(`/api/sessions/${id}/events`)).body.events.map(({ type }: Entry) => type)
const notified = async (user: TestUser, type: string): Promise<Entry[]> =>
  (await user.get('/api/notifications?limit=100')).body.notifications.filter(
    (item: Entry) => item.type === type,
  )

describe('a paused session whose operator is gone', () => {
  let world: World
  let gateway: SilentGateway
  let worker: ReturnType<typeof workerOf>
  let clockMs = Date.parse('2026-05-10T12:00:00Z')
  const now = () => new Date(clockMs)
  const iso = (aheadMs: number) => new Date(clockMs + aheadMs).toISOString()
  const workerOf = (change: { operatorGoneMs?: number } = {}) =>
    createAbandonmentWorker({
      ...world.platform.core,
      ...world.platform.sessions,
      now,
      operatorJoinMs: 2 * MINUTE_MS,
      pauseLimitMs: PAUSE_LIMIT_MS,
      operatorGoneMs: GONE_MS,
      ...change,
    })
  beforeAll(async () => {
    world = await createWorld({ now, bus: 'redis', env: { ROLES: 'api,hub' } })
    gateway = await createSilentGateway(world, () => clockMs)
    worker = workerOf()
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })
  const persistence = () => world.platform.sessions.controlPersistence

  /** Starts a session that the operator drives for a minute and then leaves. */
  const left = async () => {
    const users = await actors(world, gateway)
    const id = await start(users.operator, users.robotId)
    await persistence().recordJoin(id)
    clockMs += MINUTE_MS
    expect(await persistence().operatorLost(id)).toBe(true)
    return { ...users, id }
  }

  test('is announced to both sides once, has an end that both see, and ends as abandoned', async () => {
    const { owner, operator, robotId, id } = await left()
    const goneSince = iso(0)
    expect(await read(owner, id)).toMatchObject({
      status: 'PAUSED',
      ends_at: null,
      control: { operator_gone_since: goneSince },
    })
    clockMs += GONE_MS - 1
    await worker.run()
    expect((await typesOf(owner, id)).at(-1)).toBe('session.paused')
    clockMs += 1
    await Promise.all([worker.run(), workerOf().run(), workerOf().run()])
    const ends_at = iso(5 * MINUTE_MS)
    expect((await typesOf(owner, id)).slice(-2)).toEqual(['session.paused', 'session.pause_limit_soon'])
    for (const user of [owner, operator]) {
      expect(await notified(user, 'session.pause_limit_soon')).toMatchObject([
        { data: { session_id: id, robot_id: robotId, ends_at } },
      ])
      expect(await read(user, id)).toMatchObject({ ends_at })
    }
    expect((await owner.get('/api/client/live-robots')).body.robots).toMatchObject([{ session: { ends_at } }])

    clockMs += 5 * MINUTE_MS - 1
    await worker.run()
    expect((await read(owner, id)).status).toBe('PAUSED')
    clockMs += 1
    await Promise.all([worker.run(), workerOf().run()])
    expect(await read(owner, id)).toMatchObject({
      status: 'COMPLETED',
      end_reason: 'abandoned',
      ends_at: null,
      client_charge_cents: 50,
    })
    expect((await typesOf(owner, id)).filter((type) => type === 'session.ended')).toHaveLength(1)
    expect((await owner.get(`/api/client/robots/${robotId}`)).body.status).toBe('AVAILABLE')
  })

  test('whose operator never connected ends in the same way, without a charge', async () => {
    const { owner, operator, robotId } = await actors(world, gateway)
    const id = await start(operator, robotId)
    clockMs += 2 * MINUTE_MS
    await worker.run()
    expect((await read(owner, id)).pause_reason).toBe('operator_absent')
    clockMs += GONE_MS
    await worker.run()
    clockMs += 5 * MINUTE_MS
    await worker.run()
    expect(await read(owner, id)).toMatchObject({ end_reason: 'abandoned', client_charge_cents: 0 })
  })

  test('continues once its operator is back, and the owner is notified; the next absence counts again from the start', async () => {
    const { owner, operator, id } = await left()
    clockMs += GONE_MS
    await worker.run()
    await Promise.all([persistence().recordReturn(id), persistence().recordReturn(id)])
    expect(await read(owner, id)).toMatchObject({
      status: 'PAUSED',
      ends_at: null,
      control: { operator_gone_since: null },
    })
    expect(await notified(owner, 'operator.back')).toHaveLength(1)
    expect(await notified(operator, 'operator.back')).toHaveLength(0)
    clockMs += 5 * MINUTE_MS
    await worker.run()
    expect((await read(owner, id)).status).toBe('PAUSED')

    await performAction(operator, id, 'resume')
    await persistence().operatorLost(id)
    clockMs += GONE_MS - 1
    await worker.run()
    expect(await notified(owner, 'session.pause_limit_soon')).toHaveLength(1)
    clockMs += 1
    await worker.run()
    expect(await notified(owner, 'session.pause_limit_soon')).toHaveLength(2)
    await performAction(operator, id, 'resume')
    expect(await read(owner, id)).toMatchObject({ status: 'ACTIVE', ends_at: null })
    await performAction(owner, id, 'end')
  })

  test('is not announced for a pause that the operator requested, nor with a limit of 0', async () => {
    const { owner, operator, id } = await left()
    clockMs += 2 * GONE_MS
    await workerOf({ operatorGoneMs: 0 }).run()
    expect((await read(owner, id)).ends_at).toBeNull()
    await performAction(operator, id, 'resume')
    await performAction(operator, id, 'pause')
    clockMs += GONE_MS
    await worker.run()
    expect(await read(owner, id)).toMatchObject({ status: 'PAUSED', ends_at: null })
    await performAction(owner, id, 'end')
  })

  test('whose operator returns at its end either continues or ends, never both', async () => {
    for (let round = 0; round < 10; round++) {
      const { owner, id } = await left()
      clockMs += GONE_MS
      await worker.run()
      clockMs += 5 * MINUTE_MS
      await Promise.all([persistence().recordReturn(id), worker.run(), workerOf().run()])
      const { status, end_reason } = await read(owner, id)
      const last = (await typesOf(owner, id)).at(-1)
      if (status === 'PAUSED') expect(last).toBe('operator.back')
      else expect([status, end_reason, last]).toEqual(['COMPLETED', 'abandoned', 'session.ended'])
      if (status === 'PAUSED') await performAction(owner, id, 'end')
    }
  })
})

test('a gateway records the return of the operator during the pause', async () => {
  const env = { OPERATOR_GRACE_MS: '200', OPERATOR_GONE_MS: '600000' }
  await using world = await createWorld({ env })
  const { client, operator, id } = await openSessionFixture(world)
  const first = await world.drive(operator, id)
  await first.state()
  await first.close()
  await expect
    .poll(() => read(client, id))
    .toMatchObject({ pause_reason: 'operator_lost', control: { operator_gone_since: expect.any(String) } })
  const second = await world.drive(operator, id)
  await second.state()
  await expect
    .poll(() => read(client, id))
    .toMatchObject({ status: 'PAUSED', control: { operator_gone_since: null } })
  expect((await typesOf(client, id)).at(-1)).toBe('operator.back')
  await performAction(client, id, 'end')
})

test('the platform ends abandoned sessions', async () => {
  const env = { OPERATOR_JOIN_MS: '300', OPERATOR_GONE_MS: '300' }
  await using world = await createWorld({ env })
  const { client, id } = await openSessionFixture(world)
  await expect
    .poll(() => read(client, id))
    .toMatchObject({ status: 'COMPLETED', end_reason: 'abandoned', client_charge_cents: 0 })
})
