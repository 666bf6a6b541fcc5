import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let aheadMs = 0
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(Date.parse('2026-11-20T10:00:00Z') + aheadMs) })
})
afterAll(() => world[Symbol.asyncDispose]())

test('an overview counts robots by state, sums the costs of today and knows the first steps', async () => {
  const [owner, operator] = [await world.client(), await world.operator()]
  const read = async () => {
    const { status, body } = await owner.get('/api/client/overview')
    expect(status, JSON.stringify(body)).toBe(200)
    return body
  }
  expect(await read()).toMatchObject({
    robots: { READY: 0, DRIVING: 0, PAUSED: 0, STOPPED: 0, LOST: 0, OFFLINE: 0 },
    live: [],
    on_hold: [],
    low_batteries: [],
    went_offline: { count: 0, last_at: null, robots: [] },
    failed_invoices: [],
    not_recorded: [],
    failing_webhooks: [],
    stuck_exports: [],
    today: { sessions: 0, minutes: 0, spend_cents: 0, running_cents: 0 },
    first_steps: { registered: false, connected: false, driven: false, driven_by_others: false },
  })
  const [arm, cart] = [await world.robot(owner, { name: 'Arm' }), await world.robot(owner, { name: 'Cart' })]
  expect((await read()).first_steps).toMatchObject({ registered: true, connected: false })
  for (const robot of [arm, cart]) (await world.connect(robot)).beat()
  expect((await read()).first_steps).toMatchObject({ connected: true, driven: false })
  const first = await start(operator, arm.id)
  aheadMs += 90_000
  expect(await read()).toMatchObject({
    robots: { READY: 1, DRIVING: 1 },
    live: [{ name: 'Arm', state: 'DRIVING' }, { name: 'Cart' }],
    today: { sessions: 0, running_cents: 100 },
    first_steps: { driven: true, driven_by_others: true },
  })
  await performAction(operator, first, 'end')
  await start(operator, cart.id)
  const id = randomUUID()
  await world.platform.core.db
    .insertInto('invoices')
    .values({
      id,
      client_id: owner.id,
      month: '2026-10',
      status: 'FAILED',
      currency: 'EUR',
      total_cents: 6_300,
      session_count: 1,
      minutes: 126,
      billing_name: 'Ada',
      issued_at: new Date('2026-11-01T00:00:00Z'),
    })
    .execute()
  expect(await read()).toMatchObject({
    robots: { READY: 1, DRIVING: 1 },
    failed_invoices: [{ id, month: '2026-10', total_cents: 6_300 }],
    today: { sessions: 1, minutes: 2, spend_cents: 100, running_cents: 0 },
  })
  aheadMs += 24 * 3_600_000
  expect((await read()).today).toMatchObject({ sessions: 0, spend_cents: 0 })
  expect((await operator.get('/api/client/overview')).status).toBe(403)
})

test('an overview names robots that went offline within an hour, and low batteries', async () => {
  const owner = await world.client()
  const read = async () => (await owner.get('/api/client/overview')).body
  const robots = await Promise.all(['Arm', 'Cart', 'Lift'].map((name) => world.robot(owner, { name })))
  const links = []
  for (const robot of robots) links.push((await world.connect(robot)).beat())
  await waitFor(async () => expect((await read()).robots).toMatchObject({ READY: 3 }))
  links[0]!.send({ type: 'heartbeat', battery: 0.14 })
  await waitFor(async () =>
    expect((await read()).low_batteries).toEqual([{ id: robots[0]!.id, name: 'Arm', battery: 0.14 }]),
  )
  for (const link of links.slice(0, 2)) link.destroy()
  await waitFor(async () => expect((await read()).went_offline.count).toBe(2))
  const { went_offline, low_batteries } = await read()
  expect(went_offline.robots.map(({ name }: { name: string }) => name).sort()).toEqual(['Arm', 'Cart'])
  expect(low_batteries, 'of robots that are online').toEqual([])
  const longAgo = new Date(Date.parse('2026-11-20T10:00:00Z') + aheadMs - 61 * 60_000)
  const { db } = world.platform.core
  const ids = robots.map(({ id }) => id)
  await db.updateTable('robot_presence').set({ last_online: longAgo }).where('robot_id', 'in', ids).execute()
  expect((await read()).went_offline).toEqual({ count: 0, last_at: null, robots: [] })
})

test("an operator's overview has the open session and the next scheduled ones, earliest first", async () => {
  const [owner, operator] = [await world.client(), await world.operator()]
  const [arm, cart] = [await world.robot(owner, { name: 'Arm' }), await world.robot(owner, { name: 'Cart' })]
  for (const robot of [arm, cart]) (await world.connect(robot)).beat()
  const read = async () => (await operator.get('/api/operator/overview')).body
  expect(await read()).toMatchObject({
    open_session: null,
    planned: [],
    week: Array.from({ length: 7 }, () => ({ earnings_cents: 0, driven_seconds: 0 })),
  })
  const nowMs = Date.parse('2026-11-20T10:00:00Z') + aheadMs
  const at = (hours: number) => new Date(nowMs + hours * 3_600_000).toISOString()
  for (const hours of [5, 2]) {
    const reply = await operator.post('/api/sessions', { robotId: cart.id, scheduledFor: at(hours) })
    expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  }
  const id = await start(operator, arm.id)
  aheadMs += 60_000
  await performAction(owner, id, 'emergency_stop')
  expect(await read()).toMatchObject({
    open_session: { id, status: 'PAUSED', robot_name: 'Arm', stopped: true, robot_connected: true },
    planned: [
      { robot_name: 'Cart', scheduled_for: at(2), planned_minutes: 60 },
      { robot_name: 'Cart', scheduled_for: at(5) },
    ],
  })
  await performAction(owner, id, 'clear_stop')
  await performAction(operator, id, 'end')
  const { free, week } = await read()
  expect(free[0]).toMatchObject({ name: 'Arm', own_sessions: 1 })
  expect(week.filter((day: { earnings_cents: number }) => day.earnings_cents > 0)).toHaveLength(1)
  expect((await owner.get('/api/operator/overview')).status).toBe(403)
})
