import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Reply, TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const SESSIONS = '/api/sessions'
const ROBOTS = '/api/client/robots'

let world: World
let owner: TestUser
let database: Client
beforeAll(async () => {
  world = await createWorld()
  owner = await world.client()
  database = new Client({ connectionString: world.database.url })
  await database.connect()
})
afterAll(async () => {
  await database.end()
  await world[Symbol.asyncDispose]()
})

const times = (count: number) => Array.from({ length: count }, (_, index) => index)
const operators = (count: number) => Promise.all(times(count).map(() => world.operator()))
const count = (replies: readonly Reply[], status: number) =>
  replies.filter((reply) => reply.status === status).length
const performAction = (user: TestUser, id: string, action: string) =>
  user.patch(`${SESSIONS}/${id}`, { action })
const start = (operator: TestUser, robotId: string) => operator.post(SESSIONS, { robotId })
const robotOf = async (id: string) => (await owner.get(`${ROBOTS}/${id}`)).body
const log = async (id: string): Promise<{ seq: number; type: string }[]> =>
  (await owner.get(`${SESSIONS}/${id}/events?limit=200`)).body.events
const numbersTo = (last: number) => times(last).map((index) => index + 1)

async function onlineRobot() {
  const robot = await world.robot(owner)
  return { ...robot, link: (await world.connect(robot)).beat() }
}

/** Returns the violations of the invariants that hold at any time. */
async function contradictions(): Promise<unknown[]> {
  const { rows } = await database.query(`
    select 'status does not match the open sessions' as what, r.id, r.status, count(s.id) as open
      from robots r left join sessions s on s.robot_id = r.id and s.status in ('ACTIVE', 'PAUSED')
      group by r.id having (r.status = 'IN_SESSION') <> (count(s.id) = 1)
    union all
    select 'several open sessions of one operator', operator_id, '', count(*)
      from sessions where status in ('ACTIVE', 'PAUSED') group by operator_id having count(*) > 1
    union all
    select 'AVAILABLE though not connected', r.id, r.status, 0
      from robots r join robot_presence p on p.robot_id = r.id
      where r.status = 'AVAILABLE' and not p.connected
    union all
    select 'log with gaps', s.id, s.status, count(e.seq)
      from sessions s left join session_events e on e.session_id = s.id
      group by s.id having count(e.seq) <> s.event_seq or coalesce(max(e.seq), 0) <> s.event_seq
    union all
    select 'notifications with gaps', u.id, '', count(n.seq)
      from users u left join notifications n on n.user_id = u.id
      group by u.id having count(n.seq) <> u.notification_seq or coalesce(max(n.seq), 0) <> u.notification_seq
    union all
    select 'unread notifications counted wrongly', u.id, '', count(n.seq)
      from users u left join notifications n on n.user_id = u.id and n.read_at is null
      group by u.id having count(n.seq) <> u.notification_unread`)
  return rows
}
/** Returns the violations of the invariants that hold after every connect and disconnect is handled. */
async function unsettled(): Promise<unknown[]> {
  const { rows } = await database.query(`
    select r.id, r.status, p.connected, s.status as session
      from robots r join robot_presence p on p.robot_id = r.id
        left join sessions s on s.robot_id = r.id and s.status in ('ACTIVE', 'PAUSED')
      where r.deleted_at is null and (
        (not p.connected and (r.status = 'AVAILABLE' or s.status = 'ACTIVE'))
        or (p.connected and r.status = 'OFFLINE')
        or (s.id is not null and p.connected = (s.robot_lost_at is not null)))`)
  return rows
}

test('fifty operators start one robot: one succeeds, with one session and one notification', async () => {
  const [users, robot] = [await operators(50), await onlineRobot()]
  const before = (await owner.get('/api/notifications?limit=1')).body.notifications[0]?.id ?? '0'
  const replies = await Promise.all(users.map((operator) => start(operator, robot.id)))

  expect(count(replies, 201)).toBe(1)
  expect(count(replies, 409)).toBe(49)
  const { sessionId } = replies.find((reply) => reply.status === 201)?.body ?? {}
  const { rows } = await database.query('select id, status from sessions where robot_id = $1', [robot.id])
  expect(rows).toEqual([{ id: sessionId, status: 'ACTIVE' }])
  expect((await robotOf(robot.id)).status).toBe('IN_SESSION')
  const [newest] = (await owner.get('/api/notifications?limit=1')).body.notifications
  expect(newest).toMatchObject({ id: String(Number(before) + 1), data: { session_id: sessionId } })
  expect(await log(sessionId)).toMatchObject([{ seq: 1, type: 'session.started' }])
  expect(await contradictions()).toEqual([])
  await performAction(owner, sessionId, 'end')
})

test('one operator starts twenty robots: one session, and the other robots remain free', async () => {
  const [operator, robots] = [await world.operator(), await Promise.all(times(20).map(onlineRobot))]
  const replies = await Promise.all(robots.map((robot) => start(operator, robot.id)))

  expect(count(replies, 201)).toBe(1)
  expect(count(replies, 409)).toBe(19)
  const statuses = await Promise.all(robots.map(async (robot) => (await robotOf(robot.id)).status))
  expect(statuses.filter((status) => status === 'IN_SESSION')).toHaveLength(1)
  expect(statuses.filter((status) => status === 'AVAILABLE')).toHaveLength(19)
  expect((await operator.get(SESSIONS)).body.sessions).toHaveLength(1)
  expect(await contradictions()).toEqual([])
  for (const robot of robots) await robot.link.close()
})

test('twenty owners register one hardware_id: one robot', async () => {
  const owners = await Promise.all(times(20).map(() => world.client()))
  const robot = { name: 'Arm', robot_type: 'testbot', hardware_id: 'contested' }
  const replies = await Promise.all(owners.map((user) => user.post(ROBOTS, robot)))

  expect(count(replies, 201)).toBe(1)
  expect(count(replies, 409)).toBe(19)
  const { rows } = await database.query(
    'select count(*)::int from robots join robot_presence on robot_id = id where hardware_id = $1',
    ['contested'],
  )
  expect(rows).toEqual([{ count: 1 }])
})

test('concurrent ends, pauses and resumes: one end, and a log without gaps that ends with it', async () => {
  const [operator, robot] = [await world.operator(), await onlineRobot()]
  for (let round = 0; round < 10; round++) {
    const { sessionId } = (await start(operator, robot.id)).body
    const actions = ['end', 'pause', 'end', 'resume', 'pause', 'end', 'pause', 'resume', 'end', 'pause']
    const replies = await Promise.all(
      actions.map((action, index) => performAction(index % 2 ? owner : operator, sessionId, action)),
    )
    const ends = replies.filter((_, index) => actions[index] === 'end')
    expect(count(ends, 200)).toBe(1)
    expect(count(ends, 409)).toBe(3)

    const events = await log(sessionId)
    expect(events.map((event) => event.seq)).toEqual(numbersTo(events.length))
    expect(events).toHaveLength(1 + count(replies, 200))
    expect(events.at(-1)?.type).toBe('session.ended')
    // Pauses and resumes alternate, in any order of success.
    const turns = events.slice(1, -1).map((event) => event.type)
    for (const [index, type] of turns.entries()) {
      expect(type).toBe(index % 2 ? 'session.resumed' : 'session.paused')
    }
    const final = (await operator.get(`${SESSIONS}/${sessionId}`)).body
    expect(final).toMatchObject({ status: 'COMPLETED', ended_at: expect.any(String), pause_reason: null })
    expect((await robotOf(robot.id)).status).toBe('AVAILABLE')
  }
  expect(await contradictions()).toEqual([])
  await robot.link.close()
})

test('a robot that is started and lost concurrently is never AVAILABLE in a session, nor ACTIVE while offline', async () => {
  const [operator, robot] = [await world.operator(), await world.robot(owner)]
  const outcomes = new Set<number>()
  for (let round = 0; round < 20; round++) {
    const link = (await world.connect(robot)).beat()
    await expect.poll(async () => (await robotOf(robot.id)).status).toBe('AVAILABLE')
    // Varies from a loss recorded before the start to a start before the loss.
    if (round % 4 === 0) link.destroy()
    if (round === 0) {
      await expect.poll(async () => (await robotOf(robot.id)).status).toBe('OFFLINE')
    }
    const started = start(operator, robot.id)
    if (round === 19) await started
    for (let turn = 0; turn < round; turn++) await new Promise((resolve) => setImmediate(resolve))
    link.destroy()
    const reply = await started
    outcomes.add(reply.status)
    await link.closed

    const presence = async () => {
      expect(await contradictions()).toEqual([])
      const { rows } = await database.query('select connected from robot_presence where robot_id = $1', [
        robot.id,
      ])
      return rows[0].connected
    }
    await expect.poll(presence).toBe(false)
    await expect.poll(unsettled).toEqual([])
    if (reply.status === 409) {
      expect((await robotOf(robot.id)).status).toBe('OFFLINE')
      continue
    }
    expect(reply.status).toBe(201)
    const { sessionId } = reply.body
    expect((await operator.get(`${SESSIONS}/${sessionId}`)).body).toMatchObject({
      status: 'PAUSED',
      pause_reason: 'robot_lost',
    })
    expect(await log(sessionId)).toMatchObject([{ type: 'session.started' }, { type: 'robot.lost' }])
    expect(await performAction(operator, sessionId, 'end')).toMatchObject({ status: 200 })
    expect((await robotOf(robot.id)).status).toBe('OFFLINE')
  }
  expect([...outcomes].sort(), 'both outcomes of the race').toEqual([201, 409])
})

test('robots that are lost while their sessions end are OFFLINE, never AVAILABLE', async () => {
  const robots = await Promise.all(times(10).map(() => world.robot(owner)))
  const users = await operators(10)
  for (let round = 0; round < 6; round++) {
    const ends = robots.map(async (robot, index) => {
      const [operator, link] = [users[index] as TestUser, (await world.connect(robot)).beat()]
      const { status, body } = await start(operator, robot.id)
      expect(status).toBe(201)
      const ended = performAction(operator, body.sessionId, 'end')
      for (let turn = 0; turn < 2 * index; turn++) await new Promise((resolve) => setImmediate(resolve))
      link.destroy()
      expect(await ended).toMatchObject({ status: 200, body: { status: 'COMPLETED' } })
    })
    await Promise.all(ends)
    const statuses = async () =>
      await Promise.all(robots.map(async (robot) => (await robotOf(robot.id)).status))
    await expect.poll(statuses).toEqual(times(10).map(() => 'OFFLINE'))
    expect(await contradictions()).toEqual([])
  }
})

test('a robot that is started and removed concurrently is either in a session or removed', async () => {
  const operator = await world.operator()
  const outcomes: string[] = []
  for (let round = 0; round < 10; round++) {
    const robot = await onlineRobot()
    const scheduledFor = new Date(Date.now() + (round + 1) * 3_600_000).toISOString()
    const planned = await operator.post(SESSIONS, { robotId: robot.id, scheduledFor, plannedMinutes: 30 })
    expect(planned.status).toBe(201)
    const [started, removed] = await Promise.all([
      start(operator, robot.id),
      owner.delete(`${ROBOTS}/${robot.id}`),
    ])
    outcomes.push(`${started.status} ${removed.status}`)
    const { body } = await operator.get(`${SESSIONS}/${planned.body.sessionId}`)
    expect(body.status).toBe(removed.status === 204 ? 'CANCELLED' : 'PENDING')
    if (started.status === 201) {
      await performAction(operator, started.body.sessionId, 'end')
      expect(await owner.delete(`${ROBOTS}/${robot.id}`)).toMatchObject({ status: 204 })
    }
    expect(await robot.link.closed).toBe(4401)
  }
  for (const outcome of outcomes) expect(['201 409', '404 204', '409 204']).toContain(outcome)
  expect(await contradictions()).toEqual([])
})

test('a storm of concurrent actions violates no invariant', async () => {
  const [users, robots] = [await operators(6), await Promise.all(times(6).map(onlineRobot))]
  const choose = chooser(20_260_901)
  const replies: Reply[] = []
  const open = new Set<string>()
  const step = async (operator: TestUser, own: (typeof robots)[number]) => {
    const robot = robots[choose(robots.length)] as typeof own
    const id = [...open][choose(Math.max(1, open.size))]
    const kind = choose(10)
    if (kind < 3 || !id) {
      const reply = await start(operator, robot.id)
      if (reply.status === 201) open.add(reply.body.sessionId)
      replies.push(reply)
    } else if (kind < 5) {
      replies.push(await operator.post(`${SESSIONS}/${id}/messages`, { body: `m${replies.length}` }))
    } else if (kind < 9) {
      const action = ['pause', 'resume', 'end', 'end'][choose(4)] as string
      replies.push(await performAction(choose(2) ? operator : owner, id, action))
    } else {
      own.link.destroy() // each loop breaks the connection of only one robot, so that loops do not interfere
      own.link = (await world.connect(own)).beat()
    }
  }
  const walk = async (operator: TestUser, index: number) => {
    for (let steps = 0; steps < 25; steps++) await step(operator, robots[index] as (typeof robots)[number])
  }
  let over = false
  const watch = async () => {
    while (!over) expect(await contradictions()).toEqual([])
  }
  const walks = Promise.all(users.map(walk)).finally(() => {
    over = true
  })
  await Promise.all([walks, watch()])

  const unexpected = replies.filter((reply) => ![200, 201, 404, 403, 409].includes(reply.status))
  expect(unexpected.map((reply) => [reply.status, reply.body])).toEqual([])
  await expect.poll(unsettled).toEqual([])
  expect(await contradictions()).toEqual([])
  for (const id of open) await performAction(owner, id, 'end')
  for (const robot of robots) expect((await robotOf(robot.id)).status).toBe('AVAILABLE')
})

/** Returns pseudo-random numbers below a limit, the same in every run. */
function chooser(seed: number) {
  let state = seed
  return (limit: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

test('a session starts when it has claimed its robot, not when the request began to wait', async () => {
  const [robot, operator] = [await onlineRobot(), await world.operator()]
  await database.query('begin')
  await database.query('select 1 from robots where id = $1 for update', [robot.id])
  const starting = start(operator, robot.id)
  await waitFor(async () => {
    await database.query('select pg_stat_clear_snapshot()')
    const waiting =
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%update \"robots\"%'"
    expect((await database.query(waiting)).rowCount).toBe(1)
  })
  const freedMs = Date.now()
  await database.query('commit')
  const { status, body } = await starting
  expect(status).toBe(201)
  const session = (await operator.get(`${SESSIONS}/${body.sessionId}`)).body
  expect(Date.parse(session.started_at)).toBeGreaterThanOrEqual(freedMs)
  expect((await performAction(operator, body.sessionId, 'end')).status).toBe(200)
  await robot.link.close()
})

describe('two workers', () => {
  test('and operators who start due sessions concurrently start each session once', async () => {
    let aheadMs = 0
    await using shared = await createWorld({
      bus: 'redis',
      now: () => new Date(Date.now() + aheadMs),
    })
    await shared.addNode('worker')
    const client = await shared.client()
    const operators = await Promise.all(times(8).map(() => shared.operator()))
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString()
    const ids: string[] = []
    for (const operator of operators) {
      const robot = await shared.robot(client)
      ;(await shared.connect(robot)).beat()
      ids.push((await operator.post(SESSIONS, { robotId: robot.id, scheduledFor })).body.sessionId)
    }
    aheadMs = 3_600_000
    const statuses = async () => {
      // Half of the operators also start their session; the second start receives 409, because it is no longer PENDING.
      const asked = await Promise.all(
        operators
          .slice(4)
          .map((operator, index) => performAction(operator, ids[index + 4] as string, 'start')),
      )
      for (const { status } of asked) expect([200, 409]).toContain(status)
      const reads = await Promise.all(ids.map((id) => client.get(`${SESSIONS}/${id}`)))
      return reads.map((reply) => reply.body.status)
    }
    await expect.poll(statuses).toEqual(Array(8).fill('ACTIVE'))

    for (const [index, id] of ids.entries()) {
      const events = (await client.get(`${SESSIONS}/${id}/events`)).body.events
      expect(events).toMatchObject([
        { seq: 1, type: 'session.scheduled' },
        { seq: 2, type: 'session.started' },
      ])
      const { notifications } = (await operators[index]?.get('/api/notifications'))?.body ?? {}
      expect(notifications).toMatchObject([{ id: '1', type: 'session.started' }])
    }
    const started = (await client.get('/api/notifications?limit=100')).body.notifications
    expect(started.filter((item: { type: string }) => item.type === 'session.started')).toHaveLength(8)
  })
})
