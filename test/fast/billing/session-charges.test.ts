import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectTo } from '../../support/database/sql.ts'
import {
  actors,
  createSilentGateway,
  HOUR_MS,
  MINUTE_MS,
  type SilentGateway,
} from '../../support/world/billing.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** Price of the standard plan, in cents per minute. */
const RATE = 50
const EARNINGS = 35

let world: World
let gateway: SilentGateway
let admin: TestUser
/** Most tests share a robot and its users, one session after another. */
let shared: Awaited<ReturnType<typeof actors>>
let clockMs = Date.parse('2026-05-10T12:00:00Z')
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(clockMs), env: { HEARTBEAT_TIMEOUT_MS: '1000' } })
  gateway = await createSilentGateway(world, () => clockMs)
  admin = await world.admin()
  shared = await actors(world, gateway)
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

/** Returns the shared users, with their robot connected: the test before may have ended its connection. */
async function ready() {
  await gateway.connect(shared.robotId)
  return shared
}

/** Returns the client's charge and the operator's earnings. Asserts that the client's view has no earnings. */
async function amounts(users: { owner: TestUser; operator: TestUser }, sessionId: string) {
  const [client, operator] = [
    (await users.owner.get(`/api/sessions/${sessionId}`)).body,
    (await users.operator.get(`/api/sessions/${sessionId}`)).body,
  ]
  expect(client).not.toHaveProperty('operator_earnings_cents')
  expect(operator.client_charge_cents).toBe(client.client_charge_cents)
  return [client.client_charge_cents, operator.operator_earnings_cents]
}
const priceOf = (minutes: number) => [minutes * RATE, minutes * EARNINGS]
const linesOf = (sessionId: string) =>
  world.platform.core.db
    .selectFrom('ledger_entries')
    .select(['account', 'user_id', 'amount_cents', 'kind', 'posting_id', 'at'])
    .where('session_id', '=', sessionId)
    .orderBy('id')
    .execute()
const auditOf = async (subjectId: string) =>
  (await admin.get(`/api/admin/audit?subject_id=${subjectId}`)).body.entries.filter(
    ({ action }: { action: string }) => action !== 'user.role_taken',
  )
const rowOf = (sessionId: string) =>
  world.platform.core.db
    .selectFrom('sessions')
    .selectAll()
    .where('id', '=', sessionId)
    .executeTakeFirstOrThrow()

describe('the charge of a session', () => {
  test('is final when the session ends, visible to both participants, posted to the ledger and audited', async () => {
    const users = await ready()
    const { owner, operator, robotId } = users
    const id = await start(operator, robotId)
    clockMs += 10 * MINUTE_MS + 1
    expect(await amounts(users, id)).toEqual([null, null])
    await performAction(operator, id, 'end')

    expect(await amounts(users, id)).toEqual([550, 385])
    const lines = await linesOf(id)
    expect(lines).toMatchObject([
      { account: 'client_receivable', user_id: owner.id, amount_cents: 550 },
      { account: 'operator_pending', user_id: operator.id, amount_cents: -385 },
      { account: 'platform_revenue', user_id: null, amount_cents: -165 },
    ])
    expect(new Set(lines.map((line) => line.posting_id)).size).toBe(1)
    for (const line of lines) expect(line).toMatchObject({ kind: 'session_charge', at: new Date(clockMs) })
    expect(await auditOf(id)).toMatchObject([
      {
        action: 'session.charged',
        actor_id: operator.id,
        subject_type: 'session',
        data: {
          plan: 'standard',
          rate_cents_per_minute: 50,
          share_percent: 70,
          billable_minutes: 11,
          active_ms: 10 * MINUTE_MS + 1,
          outage_ms: 0,
          client_charge_cents: 550,
          operator_earnings_cents: 385,
        },
      },
    ])
    clockMs += HOUR_MS
    expect(await amounts(users, id)).toEqual([550, 385])
  })

  test('of zero time has no postings, and is audited', async () => {
    const users = await ready()
    const id = await start(users.operator, users.robotId)
    await performAction(users.owner, id, 'end')
    expect(await amounts(users, id)).toEqual(priceOf(0))
    expect(await linesOf(id)).toEqual([])
    expect(await auditOf(id)).toMatchObject([{ action: 'session.charged', actor_id: users.owner.id }])
  })

  test('excludes every pause, regardless of its reason', async () => {
    const users = await ready()
    const { owner, operator, robotId } = users
    const id = await start(operator, robotId)
    for (const [user, reason] of [
      [operator, 'robot_lost'],
      [owner, 'operator_lost'],
      [owner, undefined],
    ] as const) {
      clockMs += 2 * MINUTE_MS
      await performAction(user, id, 'pause', reason)
      clockMs += HOUR_MS
      await performAction(operator, id, 'resume')
    }
    clockMs += 3 * MINUTE_MS
    await performAction(operator, id, 'end', 'robot_lost')
    expect(await amounts(users, id)).toEqual(priceOf(9))
    expect(await rowOf(id)).toMatchObject({ active_ms: 9 * MINUTE_MS, outage_ms: 0 })
  })

  test('does not grow between a remote stop and the resume, even after repeated stops', async () => {
    const users = await ready()
    const { owner, operator, robotId } = users
    const id = await start(operator, robotId)
    clockMs += 4 * MINUTE_MS
    await performAction(owner, id, 'emergency_stop')
    clockMs += HOUR_MS
    await performAction(operator, id, 'emergency_stop')
    clockMs += HOUR_MS
    await performAction(owner, id, 'clear_stop')
    clockMs += HOUR_MS
    await performAction(operator, id, 'resume')
    clockMs += 2 * MINUTE_MS
    await performAction(owner, id, 'end')
    expect(await amounts(users, id)).toEqual(priceOf(6))
  })

  test('does not grow while the session is PAUSED before it ends', async () => {
    const users = await ready()
    const id = await start(users.operator, users.robotId)
    clockMs += 5 * MINUTE_MS
    await performAction(users.operator, id, 'pause')
    clockMs += HOUR_MS
    await performAction(users.operator, id, 'end')
    expect(await amounts(users, id)).toEqual(priceOf(5))
  })

  test('ignores a clock that steps back and never becomes negative', async () => {
    const users = await ready()
    const { operator, robotId } = users
    const id = await start(operator, robotId)
    clockMs += 5 * MINUTE_MS
    await performAction(operator, id, 'pause')
    clockMs -= HOUR_MS
    await performAction(operator, id, 'resume')
    clockMs -= HOUR_MS
    await performAction(operator, id, 'end')
    clockMs += 3 * HOUR_MS
    expect(await amounts(users, id)).toEqual(priceOf(5))
  })

  test('is null before the end of the session and after a cancellation', async () => {
    const users = await ready()
    const { operator, robotId } = users
    const scheduledFor = new Date(clockMs + HOUR_MS).toISOString()
    const id = (await operator.post('/api/sessions', { robotId, scheduledFor })).body.sessionId
    expect(await amounts(users, id)).toEqual([null, null])
    expect(await rowOf(id)).toMatchObject({ plan_id: null, client_rate_cents_per_minute: null })
    await performAction(operator, id, 'cancel')
    expect(await amounts(users, id)).toEqual([null, null])
    expect(await linesOf(id)).toEqual([])
    expect(await auditOf(id)).toEqual([])
  })
})

describe('an outage', () => {
  test('ends the billed time at the robot’s last sign of life, even if the loss is detected later', async () => {
    const users = await ready()
    const { operator, robotId } = users
    const id = await start(operator, robotId)
    clockMs += 3 * MINUTE_MS
    const lastSignMs = clockMs
    clockMs += 20 * MINUTE_MS // simulates an outage of the database
    await gateway.lose(robotId, lastSignMs)
    expect(await rowOf(id)).toMatchObject({
      status: 'PAUSED',
      active_ms: 23 * MINUTE_MS,
      outage_ms: 20 * MINUTE_MS,
    })
    clockMs += HOUR_MS
    await gateway.connect(robotId)
    clockMs += HOUR_MS
    await performAction(operator, id, 'resume')
    clockMs += 4 * MINUTE_MS
    await performAction(operator, id, 'end')
    expect(await amounts(users, id)).toEqual(priceOf(7))
  })

  test('is limited to the current ACTIVE interval, so that no pause is subtracted twice', async () => {
    const users = await ready()
    const { operator, robotId } = users
    const id = await start(operator, robotId)
    clockMs += 3 * MINUTE_MS
    const lastSignMs = clockMs // the robot disconnects while the session is paused
    await performAction(operator, id, 'pause')
    clockMs += HOUR_MS
    await performAction(operator, id, 'resume')
    clockMs += MINUTE_MS
    await gateway.lose(robotId, lastSignMs)
    expect(await rowOf(id)).toMatchObject({ active_ms: 4 * MINUTE_MS, outage_ms: MINUTE_MS })
    await performAction(operator, id, 'end')
    expect(await amounts(users, id)).toEqual(priceOf(3))
  })

  test('that begins before a pause and is detected during the pause counts once, up to the pause', async () => {
    const users = await ready()
    const { operator, robotId } = users
    const id = await start(operator, robotId)
    clockMs += 3 * MINUTE_MS
    const lastSignMs = clockMs
    clockMs += 2 * MINUTE_MS
    await performAction(operator, id, 'pause') // the robot no longer responds
    expect(await rowOf(id)).toMatchObject({ active_ms: 5 * MINUTE_MS, outage_ms: 0 })
    clockMs += MINUTE_MS
    for (const _time of ['found', 'found again']) {
      await gateway.lose(robotId, lastSignMs)
      expect(await rowOf(id)).toMatchObject({ active_ms: 5 * MINUTE_MS, outage_ms: 2 * MINUTE_MS })
      clockMs += MINUTE_MS
      await gateway.connect(robotId)
    }
    await performAction(operator, id, 'end')
    expect(await amounts(users, id)).toEqual(priceOf(3))
  })

  test('during a pause subtracts no time', async () => {
    const users = await ready()
    const { operator, robotId } = users
    const id = await start(operator, robotId)
    clockMs += 3 * MINUTE_MS
    await performAction(operator, id, 'pause')
    clockMs += MINUTE_MS
    await gateway.lose(robotId, clockMs - 30_000)
    expect(await rowOf(id)).toMatchObject({ active_ms: 3 * MINUTE_MS, outage_ms: 0 })
    clockMs += MINUTE_MS
    await performAction(operator, id, 'end')
    expect(await amounts(users, id)).toEqual(priceOf(3))
  })

  test('counts from the last sign of life if the robot reconnects before the session is notified', async () => {
    const users = await ready()
    const { operator, robotId } = users
    const id = await start(operator, robotId)
    clockMs += 3 * MINUTE_MS
    const lastSignMs = clockMs
    clockMs += 2 * MINUTE_MS
    const [lost] = await gateway.disconnect(robotId, lastSignMs)
    expect(lost).toEqual({ robotId, lastSign: new Date(lastSignMs) })
    await gateway.connect(robotId)
    await world.platform.sessions.presence.handleRobotLost(robotId, lost!.lastSign)
    const row = await rowOf(id)
    expect(row).toMatchObject({ status: 'PAUSED', robot_lost_at: null })
    expect(row.active_ms - row.outage_ms).toBe(3 * MINUTE_MS)
    await performAction(operator, id, 'end')
    expect(await amounts(users, id)).toEqual(priceOf(3))
  })

  test('changes nothing if it is reported after the robot has reconnected and the operator has resumed', async () => {
    const users = await ready()
    const { operator, robotId } = users
    const id = await start(operator, robotId)
    clockMs += 3 * MINUTE_MS
    const [lost] = await gateway.disconnect(robotId, clockMs)
    await world.platform.sessions.presence.handleRobotInferredLost(robotId)
    clockMs += MINUTE_MS
    await gateway.connect(robotId)
    clockMs += MINUTE_MS
    await performAction(operator, id, 'resume')
    clockMs += 2 * MINUTE_MS
    await world.platform.sessions.presence.handleRobotLost(robotId, lost!.lastSign)
    expect(await rowOf(id)).toMatchObject({ status: 'ACTIVE', robot_lost_at: null })
    await performAction(operator, id, 'end')
    expect(await amounts(users, id)).toEqual(priceOf(5))
  })

  test.each(['pause', 'end'])(
    'counts if a participant requests %s before the session is notified',
    async (action) => {
      const users = await ready()
      const { operator, robotId } = users
      const id = await start(operator, robotId)
      clockMs += 3 * MINUTE_MS
      const lastSignMs = clockMs
      clockMs += 10 * MINUTE_MS
      await gateway.disconnect(robotId, lastSignMs)
      // The worker may detect the loss first. The charge is the same.
      await operator.patch(`/api/sessions/${id}`, { action })
      if (action === 'pause') await performAction(operator, id, 'end')
      expect(await amounts(users, id)).toEqual(priceOf(3))
    },
  )

  test('that a worker detects counts from the last sign of life, and the ended session is charged', async () => {
    const users = await ready()
    const { operator, owner, robotId } = users
    const id = await start(operator, robotId)
    clockMs += 2 * MINUTE_MS
    const lastSignMs = clockMs
    clockMs += 5 * MINUTE_MS
    await gateway.disconnect(robotId, lastSignMs) // the gateway process dies before it notifies the session
    const status = async () => (await owner.get(`/api/sessions/${id}`)).body.status
    await expect.poll(status).toBe('PAUSED')
    clockMs += 61_000 // longer than the grace period
    await expect.poll(status).toBe('COMPLETED')
    expect(await amounts(users, id)).toEqual(priceOf(2))
    expect(await linesOf(id)).toHaveLength(3)
    expect(await auditOf(id)).toMatchObject([{ action: 'session.charged', actor_id: null }])
  })

  test('of a whole gateway counts from the last persisted heartbeat', async () => {
    const dying = await createSilentGateway(world, () => clockMs)
    const [owner, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(owner)
    await dying.connect(robot.id)
    const id = await start(operator, robot.id)
    clockMs += 4 * MINUTE_MS
    await world.platform.core.db
      .updateTable('robot_presence')
      .set({ last_heartbeat: new Date(clockMs) })
      .where('robot_id', '=', robot.id)
      .execute()
    clockMs += 6 * MINUTE_MS
    dying.fallSilent()
    const read = async () => (await owner.get(`/api/sessions/${id}`)).body.status
    await expect.poll(read).toBe('PAUSED')
    await performAction(operator, id, 'end')
    expect(await amounts({ owner, operator }, id)).toEqual(priceOf(4))
    await dying[Symbol.asyncDispose]()
  })
})

describe('the plan of a client', () => {
  const assign = (clientId: string, plan: unknown, user = admin) =>
    user.post(`/api/admin/clients/${clientId}/plan`, { plan })

  test('GET /api/public/pricing: lists the public plans in price-list order without authentication', async () => {
    const reply = await admin.request('GET', '/api/public/pricing', undefined, '')
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({
      currency: 'EUR',
      plans: [
        ...[['standard', 'Standard', 50, 70] as const, ['fleet', 'Fleet', 40, 75] as const].map(
          ([id, name, rate, share]) => ({
            id,
            name,
            description: expect.any(String),
            client_rate_cents_per_minute: rate,
            operator_share_percent: share,
          }),
        ),
      ],
    })
    const {
      core: { db },
    } = world.platform
    await db.updateTable('pricing_plans').set({ is_public: false }).where('id', '=', 'fleet').execute()
    const fewer = await admin.get('/api/public/pricing')
    expect(fewer.body.plans.map((plan: { id: string }) => plan.id)).toEqual(['standard'])
    await db.updateTable('pricing_plans').set({ is_public: true }).where('id', '=', 'fleet').execute()
  })

  test('applies from the next session start; a started session keeps its price', async () => {
    const users = await actors(world, gateway)
    const { owner, operator, robotId } = users
    const before = await start(operator, robotId)
    expect(await assign(owner.id, 'fleet')).toMatchObject({
      status: 200,
      body: { client_id: owner.id, plan: 'fleet' },
    })
    clockMs += 10 * MINUTE_MS
    await performAction(operator, before, 'pause')
    await performAction(operator, before, 'resume') // a resume does not count as a start
    await performAction(operator, before, 'end')
    expect(await amounts(users, before)).toEqual([500, 350])

    const after = await start(operator, robotId)
    await world.platform.core.db
      .updateTable('pricing_plans')
      .set({ client_rate_cents_per_minute: 9_999, operator_share_percent: 1 })
      .where('id', '=', 'fleet')
      .execute()
    clockMs += 10 * MINUTE_MS
    await performAction(operator, after, 'end')
    expect(await amounts(users, after)).toEqual([400, 300])
    expect(await rowOf(after)).toMatchObject({
      plan_id: 'fleet',
      client_rate_cents_per_minute: 40,
      operator_share_percent: 75,
    })
    await world.platform.core.db
      .updateTable('pricing_plans')
      .set({ client_rate_cents_per_minute: 40, operator_share_percent: 75 })
      .where('id', '=', 'fleet')
      .execute()

    expect(await assign(owner.id, null)).toMatchObject({ status: 200, body: { plan: null } })
    const back = await start(operator, robotId)
    expect(await rowOf(back)).toMatchObject({ plan_id: 'standard', client_rate_cents_per_minute: 50 })
    await performAction(operator, back, 'end')
  })

  test('applies to a scheduled session as assigned at its start', async () => {
    const users = await actors(world, gateway)
    const { owner, operator, robotId } = users
    const scheduledFor = new Date(clockMs + HOUR_MS).toISOString()
    const id = (await operator.post('/api/sessions', { robotId, scheduledFor })).body.sessionId
    await assign(owner.id, 'fleet')
    await performAction(operator, id, 'start')
    clockMs += MINUTE_MS
    await performAction(operator, id, 'end')
    expect(await amounts(users, id)).toEqual([40, 30])
  })

  test('is audited with the admin and the previous plan', async () => {
    const { id } = await world.client()
    await assign(id, 'fleet')
    await assign(id, 'standard')
    const entry = { action: 'client.plan_assigned', actor_id: admin.id, subject_type: 'client' }
    expect(await auditOf(id)).toMatchObject([
      { ...entry, data: { plan: 'standard', plan_before: 'fleet' } },
      { ...entry, data: { plan: 'fleet', plan_before: null } },
    ])
  })

  test('POST /api/admin/clients/{id}/plan: rejects unknown clients and plans without changes', async () => {
    const [client, operator] = [await world.client(), await world.operator()]
    for (const id of [randomUUID(), operator.id]) {
      expect(await assign(id, 'fleet')).toMatchObject({ status: 404, body: { error: 'Client not found' } })
    }
    for (const plan of ['gold', '', 'a\0', undefined, 7]) {
      const reply = await assign(client.id, plan)
      expect(reply).toMatchObject({ status: 400, body: { error: expect.stringContaining('plan') } })
    }
    expect(await assign(client.id, 'fleet', client)).toMatchObject({ status: 403 })
    expect(await auditOf(client.id)).toEqual([])
  })
})

describe('the ledger', () => {
  test('has one posting for a session that concurrent requests end', async () => {
    const users = await ready()
    const { owner, operator, robotId } = users
    const id = await start(operator, robotId)
    clockMs += 2 * MINUTE_MS
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 ? owner : operator).patch(`/api/sessions/${id}`, { action: 'end' }),
      ),
    )
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array(11).fill(409)])
    expect(await linesOf(id)).toHaveLength(3)
    expect(await auditOf(id)).toHaveLength(1)
    expect(await amounts(users, id)).toEqual(priceOf(2))
  })

  test('adds up to zero over all postings and matches the sessions', async () => {
    const { rows } = await (async () => {
      await using client = await connectTo(world.database.url)
      return await client.query(`
        select (select coalesce(sum(amount_cents), 0) from ledger_entries)::int as everything,
          (select count(*) from (select posting_id from ledger_entries group by 1 having sum(amount_cents) <> 0) x)::int
            as unbalanced,
          (select sum(amount_cents) from ledger_entries where account = 'client_receivable')::int as receivable,
          (select sum(client_charge_cents) from sessions)::int as charged,
          (select -sum(amount_cents) from ledger_entries where account in ('operator_pending', 'operator_payable'))::int as payable,
          (select sum(operator_earnings_cents) from sessions)::int as earned`)
    })()
    const [sums] = rows
    expect(sums).toMatchObject({ everything: 0, unbalanced: 0 })
    expect(sums.charged).toBeGreaterThan(0)
    expect(sums.receivable).toBe(sums.charged)
    expect(sums.payable).toBe(sums.earned)
  })
})
