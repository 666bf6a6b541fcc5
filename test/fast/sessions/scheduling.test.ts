import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { query } from '../../support/processes/processes.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const SESSIONS = '/api/sessions'
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

let clockMs = Date.now()
const now = () => new Date(clockMs)
const at = (aheadMs: number) => new Date(clockMs + aheadMs).toISOString()

const read = async (user: TestUser, id: string) => (await user.get(`${SESSIONS}/${id}`)).body
const statusOf = async (user: TestUser, id: string) => (await read(user, id)).status as string
const robotStatus = async (owner: TestUser, id: string) =>
  (await owner.get(`/api/client/robots/${id}`)).body.status
const typesOf = async (user: TestUser, path: string, list: string) =>
  (await user.get(path)).body[list].map((entry: { type: string }) => entry.type)
const log = (user: TestUser, id: string) => typesOf(user, `${SESSIONS}/${id}/events`, 'events')
const notified = (user: TestUser) => typesOf(user, '/api/notifications', 'notifications')

/** Creates an owner, an operator and an online robot. */
async function actors(world: World) {
  const [owner, operator] = await Promise.all([world.client(), world.operator()])
  const robot = await world.robot(owner)
  const link = (await world.connect(robot)).beat()
  return { owner, operator, robot, link }
}
type Fixtures = Awaited<ReturnType<typeof actors>>

async function schedule({ operator, robot }: Pick<Fixtures, 'operator' | 'robot'>, aheadMs: number) {
  const reply = await operator.post(SESSIONS, { robotId: robot.id, scheduledFor: at(aheadMs) })
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 201, body: { status: 'PENDING' } })
  return reply.body.sessionId as string
}

/** Handles the sessions that are due, as the worker does every second. */
const workerRound = (world: World) => world.platform.sessions.schedule.run()

/** Copies a scheduled session, each with another robot and operator. */
async function copySession(world: World, id: string, count: number): Promise<void> {
  await query(
    world.database.url,
    `with ids as (
       select n, gen_random_uuid() as session_id, gen_random_uuid() as robot_id, gen_random_uuid() as operator_id
       from generate_series(1, $2::int) n
     ), operators as (
       insert into users select copy.* from ids, sessions s join users u on u.id = s.operator_id,
         jsonb_populate_record(u, jsonb_build_object('id', ids.operator_id, 'subject', ids.operator_id)) copy
       where s.id = $1
     ), owned as (
       insert into robots select copy.* from ids, sessions s join robots r on r.id = s.robot_id,
         jsonb_populate_record(r, jsonb_build_object('id', ids.robot_id, 'hardware_id', ids.robot_id)) copy
       where s.id = $1
     )
     insert into sessions select copy.* from ids, sessions s,
       jsonb_populate_record(s, jsonb_build_object(
         'id', ids.session_id, 'robot_id', ids.robot_id, 'operator_id', ids.operator_id)) copy
     where s.id = $1`,
    [id, count],
  )
}

describe('scheduling', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ now })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('returns 201 PENDING, leaves the robot free and notifies the client', async () => {
    const { owner, operator, robot } = await actors(world)
    const scheduledFor = at(60 * MINUTE_MS)
    const reply = await operator.post(SESSIONS, { robotId: robot.id, scheduledFor })
    expect(reply.status).toBe(201)
    expect(reply.body).toEqual({ sessionId: expect.any(String), status: 'PENDING' })

    const { sessionId } = reply.body
    for (const user of [owner, operator]) {
      expect(await read(user, sessionId)).toMatchObject({
        status: 'PENDING',
        scheduled_for: scheduledFor,
        created_at: now().toISOString(),
        started_at: null,
        ended_at: null,
        duration_minutes: null,
        paused_seconds: 0,
      })
    }
    expect(await robotStatus(owner, robot.id)).toBe('AVAILABLE')
    expect(await notified(owner)).toEqual(['session.scheduled'])
    expect(await notified(operator)).toEqual([])
    expect(await log(owner, sessionId)).toEqual(['session.scheduled'])
  })

  test('accepts a future time with any offset, up to 90 days ahead', async () => {
    const { operator, robot } = await actors(world)
    const reply = (scheduledFor: string) => operator.post(SESSIONS, { robotId: robot.id, scheduledFor })
    for (const ahead of [-DAY_MS, -1, 0, 90 * DAY_MS + 1, 400 * DAY_MS]) {
      const refused = await reply(at(ahead))
      expect(refused.status, String(ahead)).toBe(400)
      expect(refused.body).toEqual({ error: expect.stringContaining('scheduledFor') })
    }
    expect((await operator.get(SESSIONS)).body.sessions).toEqual([])

    expect(await reply(at(90 * DAY_MS))).toMatchObject({ status: 201 })
    const wall = new Date(clockMs + 5 * MINUTE_MS + 2 * 60 * MINUTE_MS).toISOString().replace('Z', '+02:00')
    const offset = await reply(wall)
    expect(await read(operator, offset.body.sessionId)).toMatchObject({ scheduled_for: at(5 * MINUTE_MS) })
  })

  test('requires a robot that is AVAILABLE now', async () => {
    const { owner, operator, robot, link } = await actors(world)
    const refused = async () => {
      const reply = await operator.post(SESSIONS, { robotId: robot.id, scheduledFor: at(MINUTE_MS) })
      expect(reply).toMatchObject({ status: 409, body: { error: expect.stringContaining('not available') } })
    }
    const otherOperator = await world.operator()
    const { sessionId } = (await otherOperator.post(SESSIONS, { robotId: robot.id })).body
    await refused()
    await otherOperator.patch(`${SESSIONS}/${sessionId}`, { action: 'end' })
    await link.close()
    await expect.poll(() => robotStatus(owner, robot.id)).toBe('OFFLINE')
    await refused()
  })
})

describe('at the scheduled time', () => {
  // Without a worker: the tests run its rounds.
  let world: World
  beforeAll(async () => {
    world = await createWorld({ now, bus: 'redis', env: { ROLES: 'api,hub,gateway' } })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('a session starts automatically, not earlier, and both sides are notified', async () => {
    const [first, second] = [await actors(world), await actors(world)]
    const due = await schedule(first, 10 * MINUTE_MS)
    const later = await schedule(second, 10 * MINUTE_MS + 1)
    clockMs += 10 * MINUTE_MS
    await workerRound(world)
    expect(await statusOf(first.owner, due)).toBe('ACTIVE')
    expect(await statusOf(second.owner, later)).toBe('PENDING')

    expect(await read(first.owner, due)).toMatchObject({ started_at: now().toISOString(), ended_at: null })
    expect(await robotStatus(first.owner, first.robot.id)).toBe('IN_SESSION')
    expect(await first.link.next('session')).toMatchObject({ session_id: due, status: 'ACTIVE' })
    expect(await log(first.owner, due)).toEqual(['session.scheduled', 'session.started'])
    expect(await notified(first.owner)).toEqual(['session.started', 'session.scheduled'])
    expect(await notified(first.operator)).toEqual(['session.started'])

    clockMs += 1
    await workerRound(world)
    expect(await statusOf(second.owner, later)).toBe('ACTIVE')
  })

  test('a cancelled session does not start', async () => {
    const users = await actors(world)
    const id = await schedule(users, MINUTE_MS)
    await users.owner.patch(`${SESSIONS}/${id}`, { action: 'cancel' })
    clockMs += MINUTE_MS
    await workerRound(world)
    expect(await statusOf(users.owner, id)).toBe('CANCELLED')
    expect(await robotStatus(users.owner, users.robot.id)).toBe('AVAILABLE')
  })

  test('the worker retries an impossible start until 15 minutes after its time', async () => {
    const users = await actors(world)
    const id = await schedule(users, MINUTE_MS)
    await users.link.close()
    await expect.poll(() => robotStatus(users.owner, users.robot.id)).toBe('OFFLINE')
    clockMs += MINUTE_MS
    await workerRound(world)
    expect(await statusOf(users.owner, id)).toBe('PENDING')
    clockMs += 15 * MINUTE_MS - 1
    await workerRound(world)
    expect(await statusOf(users.owner, id)).toBe('PENDING')

    ;(await world.connect(users.robot)).beat()
    await workerRound(world)
    expect(await statusOf(users.owner, id)).toBe('ACTIVE')
    expect(await log(users.owner, id)).toEqual(['session.scheduled', 'session.started'])
  })

  test.each(['robot', 'operator'] as const)(
    'a session whose %s is busy for 15 minutes is cancelled as not_started',
    async (busy) => {
      const users = await actors(world)
      const id = await schedule(users, MINUTE_MS)
      const elsewhere = busy === 'operator' ? await actors(world) : users
      const otherOperator = busy === 'robot' ? await world.operator() : users.operator
      const open = await otherOperator.post(SESSIONS, { robotId: elsewhere.robot.id })
      expect(open.status).toBe(201)

      clockMs += MINUTE_MS
      await workerRound(world)
      expect(await statusOf(users.owner, id)).toBe('PENDING')
      clockMs += 15 * MINUTE_MS
      await workerRound(world)
      expect(await statusOf(users.owner, id)).toBe('CANCELLED')
      expect(await read(users.owner, id)).toMatchObject({
        end_reason: 'not_started',
        started_at: null,
        client_charge_cents: null,
      })
      expect(await log(users.owner, id)).toEqual(['session.scheduled', 'session.cancelled'])
      expect((await notified(users.owner))[0]).toBe('session.cancelled')
      expect((await notified(users.operator))[0]).toBe('session.cancelled')
      expect(await statusOf(otherOperator, open.body.sessionId)).toBe('ACTIVE') // the blocking session continues
      await otherOperator.patch(`${SESSIONS}/${open.body.sessionId}`, { action: 'end' })
    },
  )

  test('hundreds of sessions that cannot start yet do not delay one that can', async () => {
    const [greedy, patient] = [await actors(world), await actors(world)]
    const id = await schedule(patient, MINUTE_MS)
    const waiting = await schedule(greedy, MINUTE_MS + 1)
    await greedy.link.close()
    await expect.poll(() => robotStatus(greedy.owner, greedy.robot.id)).toBe('OFFLINE')
    await copySession(world, waiting, 209)
    const left = async () => {
      const { body } = await greedy.owner.get(`${SESSIONS}?status=PENDING&limit=100`)
      return body.sessions.length
    }
    expect(await left()).toBe(100)

    clockMs += MINUTE_MS + 1
    await workerRound(world)
    expect(await statusOf(patient.owner, id)).toBe('ACTIVE')
    clockMs += 20 * MINUTE_MS
    for (let round = 0; round < 2; round++) await workerRound(world)
    expect(await left()).toBe(0)
    await patient.operator.patch(`${SESSIONS}/${id}`, { action: 'end' })
  })
})

describe('the schedule survives the end of its worker', () => {
  const withoutWorker = () => createWorld({ now, bus: 'redis', env: { ROLES: 'api,hub,gateway' } })

  test('a session that cannot be cancelled does not keep the others waiting', async () => {
    await using world = await withoutWorker()
    const [other, stuck] = [await actors(world), await actors(world)]
    const otherId = await schedule(other, MINUTE_MS)
    const stuckId = await schedule(stuck, 2 * MINUTE_MS) // the first one that a round handles
    await query(
      world.database.url,
      `create function keep_session() returns trigger language plpgsql as $$
       begin raise exception 'not this one'; end $$;
       create trigger keep_session before update on sessions for each row
         when (old.id = '${stuckId}') execute function keep_session()`,
    )
    clockMs += 3 * 60 * MINUTE_MS

    await workerRound(world)
    expect(await statusOf(other.owner, otherId)).toBe('CANCELLED')
    expect(await statusOf(stuck.owner, stuckId)).toBe('PENDING')
    expect(world.errors.join(), 'the log names the session').toContain(stuckId)
    world.errors.splice(0)
    await query(world.database.url, 'drop trigger keep_session on sessions')
    await workerRound(world)
    expect(await statusOf(stuck.owner, stuckId)).toBe('CANCELLED')
  })

  test('a session due without a worker starts with the next worker', async () => {
    await using world = await withoutWorker()
    const users = await actors(world)
    const first = await world.addNode('worker')
    await workerRound(world)
    const id = await schedule(users, MINUTE_MS)
    await first.stop()
    clockMs += MINUTE_MS + 1
    expect(await statusOf(users.owner, id)).toBe('PENDING')

    await world.addNode('worker')
    await expect.poll(() => statusOf(users.owner, id)).toBe('ACTIVE')
    expect(await log(users.owner, id)).toEqual(['session.scheduled', 'session.started'])
  })

  test('a session overdue by more than 15 minutes is cancelled by the next worker', async () => {
    await using world = await withoutWorker()
    const users = await actors(world)
    const id = await schedule(users, MINUTE_MS)
    clockMs += 3 * 60 * MINUTE_MS

    await world.addNode('worker')
    await expect.poll(() => statusOf(users.owner, id)).not.toBe('PENDING')
    expect(await read(users.owner, id)).toMatchObject({ status: 'CANCELLED', end_reason: 'not_started' })
    expect(await robotStatus(users.owner, users.robot.id)).toBe('AVAILABLE')
  })
})
