import { afterEach, expect, test, vi } from 'vitest'
import { connectTo } from '../../support/database/sql.ts'
import { actors, createSilentGateway, MINUTE_MS } from '../../support/world/billing.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld } from '../../support/world/world.ts'

const GRACE_MS = 60_000

afterEach(() => vi.restoreAllMocks())

const read = async (user: TestUser, id: string) => (await user.get(`/api/sessions/${id}`)).body
const logOf = async (user: TestUser, id: string) =>
  (await user.get(`/api/sessions/${id}/events`)).body.events.map(({ type }: { type: string }) => type)

/** Creates a platform with a test clock, and robots that connect and disconnect on demand. */
async function createFixture() {
  const clock = { ms: Date.parse('2026-05-10T12:00:00Z') }
  const world = await createWorld({
    now: () => new Date(clock.ms),
    env: { ROBOT_GRACE_MS: String(GRACE_MS) },
  })
  const gateway = await createSilentGateway(world, () => clock.ms)
  return {
    world,
    gateway,
    clock,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    },
  }
}

test('a session that cannot be ended does not delay the others, and ends when it becomes possible', async () => {
  await using fixture = await createFixture()
  const { world, gateway, clock } = fixture
  const users = [await actors(world, gateway), await actors(world, gateway), await actors(world, gateway)]
  const sessions: { owner: TestUser; id: string; robotId: string }[] = []
  for (const { owner, operator, robotId } of users) {
    sessions.push({ owner, robotId, id: await start(operator, robotId) })
  }
  sessions.sort((a, b) => (a.robotId < b.robotId ? -1 : 1))
  const [stuck, ...others] = sessions as [(typeof sessions)[0], ...typeof sessions]
  await using database = await connectTo(world.database.url)
  await database.query(`
    create function refuse_posting() returns trigger language plpgsql as $$
    begin raise exception 'not this one'; end $$;
    create trigger refuse_posting before insert on ledger_entries for each row
      when (new.session_id = '${stuck.id}') execute function refuse_posting()`)
  clock.ms += MINUTE_MS
  for (const { robotId } of sessions) await gateway.lose(robotId, clock.ms)
  clock.ms += GRACE_MS + 1
  for (const { owner, id } of others) {
    await expect.poll(async () => (await read(owner, id)).status).toBe('COMPLETED')
  }
  expect((await read(stuck.owner, stuck.id)).status).toBe('PAUSED')
  await database.query('drop trigger refuse_posting on ledger_entries')
  await expect.poll(async () => (await read(stuck.owner, stuck.id)).status).toBe('COMPLETED')
  expect(world.errors.join(), 'the log names the session').toContain(stuck.id)
  world.errors.splice(0)
})

test('a session can be ended after half a year at the highest possible rate', async () => {
  await using fixture = await createFixture()
  const { world, gateway, clock } = fixture
  const { owner, operator, robotId } = await actors(world, gateway)
  await world.platform.core.db
    .insertInto('pricing_plans')
    .values({
      id: 'dear',
      name: 'Dear',
      description: '',
      is_public: false,
      client_rate_cents_per_minute: 10_000,
      operator_share_percent: 99,
    })
    .execute()
  await (await world.admin()).post(`/api/admin/clients/${owner.id}/plan`, { plan: 'dear' })
  const id = await start(operator, robotId)
  clock.ms += 183 * 24 * 60 * MINUTE_MS
  await gateway.lose(robotId, clock.ms)
  clock.ms += GRACE_MS + 1
  await expect.poll(async () => (await read(owner, id)).status).toBe('COMPLETED')
  expect((await read(operator, id)).client_charge_cents).toBe(2_147_483_647)
  expect((await read(operator, id)).operator_earnings_cents).toBe(2_126_008_810)
})

test('a session whose robot returns right before its end continues', async () => {
  await using fixture = await createFixture()
  const { world, gateway, clock } = fixture
  const { owner, operator, robotId } = await actors(world, gateway)
  const id = await start(operator, robotId)
  await gateway.lose(robotId, clock.ms)
  await gateway.connect(robotId)
  await performAction(operator, id, 'resume')
  // Simulates a worker that selected the session before the robot returned.
  const lookups = vi.spyOn(world.platform.sessions.presence, 'lostSince')
  lookups.mockResolvedValue([{ id, robot_id: robotId }])
  clock.ms += 2 * GRACE_MS
  await expect.poll(() => lookups.mock.calls.length).toBeGreaterThan(2)
  expect(await read(owner, id)).toMatchObject({ status: 'ACTIVE', end_reason: null })
  // Lost again: the full grace period starts.
  await gateway.lose(robotId, clock.ms)
  const before = lookups.mock.calls.length
  await expect.poll(() => lookups.mock.calls.length).toBeGreaterThan(before + 2)
  expect(await read(owner, id)).toMatchObject({ status: 'PAUSED', end_reason: null })
  clock.ms += GRACE_MS + 1
  await expect.poll(async () => (await read(owner, id)).end_reason).toBe('robot_lost')
})

test('a session resumed before the return of its robot was recorded is paused by the next loss', async () => {
  await using fixture = await createFixture()
  const { world, gateway, clock } = fixture
  const { owner, operator, robotId } = await actors(world, gateway)
  const id = await start(operator, robotId)
  clock.ms += MINUTE_MS
  await gateway.lose(robotId, clock.ms)
  // The robot is connected, and the process that should record its return is slow or dead.
  const silent = vi.spyOn(world.platform.sessions.presence, 'handleRobotReturned').mockResolvedValue()
  await gateway.connect(robotId)
  expect((await read(owner, id)).control).toMatchObject({ connected: true })
  await performAction(operator, id, 'resume')
  expect(await logOf(owner, id)).toEqual(['session.started', 'robot.lost', 'robot.back', 'session.resumed'])
  clock.ms += MINUTE_MS
  await gateway.lose(robotId, clock.ms)
  expect((await read(owner, id)).status).toBe('PAUSED')
  silent.mockRestore()
  clock.ms += 10 * MINUTE_MS
  await expect.poll(async () => (await read(owner, id)).status).toBe('COMPLETED')
  expect((await logOf(owner, id)).slice(4)).toEqual(['robot.lost', 'session.ended'])
  expect((await read(owner, id)).client_charge_cents).toBe(100)
})

test('a robot that reconnects elsewhere before the death of its gateway is detected still counts as lost', async () => {
  let aheadMs = -10 * MINUTE_MS
  const now = () => new Date(Date.now() + aheadMs)
  // Without a worker, no sweep detects dead gateways.
  await using world = await createWorld({ now, bus: 'redis', env: { ROLES: 'api,hub,gateway' } })
  await using dying = await createSilentGateway(world, () => now().getTime())
  const [owner, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(owner)
  await dying.connect(robot.id)
  const id = await start(operator, robot.id)
  aheadMs += 2 * MINUTE_MS - 1_000
  await world.platform.core.db
    .updateTable('robot_presence')
    .set({ last_heartbeat: now() })
    .where('robot_id', '=', robot.id)
    .execute()
  dying.fallSilent()
  aheadMs = 0

  const link = (await world.connect(robot)).beat()
  await expect.poll(() => logOf(owner, id)).toEqual(['session.started', 'robot.lost', 'robot.back'])
  expect(await read(owner, id)).toMatchObject({ status: 'PAUSED', pause_reason: 'robot_lost' })
  expect((await link.next('stop')).latched).toBe(false)
  await performAction(operator, id, 'end')
  expect((await read(owner, id)).client_charge_cents).toBe(100)
})

test('a robot that reconnects to another gateway without a gap in its heartbeats is not lost', async () => {
  // Long enough to reconnect on a busy machine.
  await using world = await createWorld({ bus: 'redis', env: { HEARTBEAT_TIMEOUT_MS: '2500' } })
  const other = await world.addNode('gateway')
  const [owner, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(owner)
  const first = (await world.connect(robot)).beat(100)
  const id = await start(operator, robot.id)
  // Stays connected for longer than the heartbeat timeout.
  for (let count = 0; count < 30; count++) await first.next('heartbeat_ack')
  const second = (await world.connect(robot, other.gatewayUrl)).beat(100)
  expect(await first.closed).toBe(4000)
  for (let count = 0; count < 10; count++) await second.next('heartbeat_ack')
  expect(await logOf(owner, id)).toEqual(['session.started'])
  await performAction(operator, id, 'end')
})
