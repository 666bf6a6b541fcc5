import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { createTestDatabase } from '../../support/database/database.ts'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import type { TestHubSocket } from '../../support/hub/hub-socket.ts'
import { createTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import { query } from '../../support/processes/processes.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { stopWallClock } from '../../support/world/wall-clock.ts'
import { createWorld, type World, type WorldOptions } from '../../support/world/world.ts'

const reaches = (read: () => unknown, expected: unknown) =>
  waitFor(async () => expect(await read()).toEqual(expected))

/** Creates a platform with a proxy in front of its database, for every node or only for added nodes. */
async function createWorldBehindProxy(options: WorldOptions & { only?: 'added nodes' } = {}) {
  const database = await createTestDatabase()
  const proxy = await createTcpProxy(database.url)
  const url = options.only ? database.url : proxy.url
  const world = await createWorld({ ...options, env: { ...options.env, DATABASE_URL: url } })
  return {
    world,
    proxy,
    /** Queries the database directly, without the proxy. */
    ask: (sql: string, values?: unknown[]) => query(database.url, sql, values),
    async [Symbol.asyncDispose]() {
      proxy.restore()
      try {
        await world[Symbol.asyncDispose]()
        expect(
          await query(database.url, 'select robot_id from robot_presence where connected'),
          'robots left connected',
        ).toEqual([])
      } finally {
        await proxy[Symbol.asyncDispose]()
        await database.drop()
      }
    },
  }
}

const urlOf = (robot: { id: string }, gateway: string) => `${gateway}/robots/${robot.id}/control`
const viewOf = async (owner: TestUser, robot: { id: string }) =>
  (await owner.get(`/api/client/robots/${robot.id}`)).body
const statusesOf = (observer: TestHubSocket, robot: { id: string }): string[] =>
  observer
    .of('robot:status')
    .filter((event) => event.robot_id === robot.id)
    .map((event) => event.status)

async function logOf(user: TestUser, sessionId: string): Promise<{ type: string; seq: number }[]> {
  return (await user.get(`/api/sessions/${sessionId}/events`)).body.events
}
const typesOf = async (user: TestUser, sessionId: string) =>
  (await logOf(user, sessionId)).map((event) => event.type)
const notifiedOf = async (user: TestUser) => {
  const list = (await user.get('/api/notifications')).body.notifications as { type: string }[]
  return list.map((item) => item.type).reverse()
}

/** Creates a robot in a session with an operator. The robot sends heartbeats. */
async function robotInSession(world: World, gateway = world.gatewayUrl) {
  const owner = await world.client()
  const operator = await world.operator()
  const robot = await world.robot(owner)
  const observer = await owner.hub()
  await observer.send('robots:watch')
  const link = (await world.connect(robot, gateway)).beat(100)
  const started = await operator.post('/api/sessions', { robotId: robot.id })
  expect(started.status, JSON.stringify(started.body)).toBe(201)
  const sessionId = started.body.sessionId as string
  await link.next('session')
  const session = async () => (await owner.get(`/api/sessions/${sessionId}`)).body
  return { owner, operator, robot, observer, link, sessionId, session }
}

/** Waits for this many acknowledgements of heartbeats. */
async function acks(link: TestRobot, count: number): Promise<{ t: number }> {
  for (let n = 1; n < count; n++) await link.next('heartbeat_ack')
  return await link.next('heartbeat_ack')
}

/** How long a robot may be lost on the hasty platform. */
const GRACE_MS = 1_000

describe.concurrent('an unreachable database', () => {
  test('after a crash that lost a commit, disconnected robots do not remain recorded as connected', async () => {
    await using world = await createWorld()
    const owner = await world.client()
    const robot = await world.robot(owner)
    const link = await world.connect(robot)
    const [{ node_id: node, epoch }] = (await query(
      world.database.url,
      'select node_id, epoch from robot_presence where robot_id = $1',
      [robot.id],
    )) as [{ node_id: string; epoch: number }]
    await link.close()
    await reaches(async () => (await viewOf(owner, robot)).status, 'OFFLINE')
    // Simulates a lost commit of the disconnect.
    await query(
      world.database.url,
      'update robot_presence set connected = true, node_id = $2, epoch = $3 where robot_id = $1',
      [robot.id, node, epoch],
    )
    await query(world.database.url, `update robots set status = 'AVAILABLE' where id = $1`, [robot.id])
    // A connection must be unknown to the gateway in two rounds.
    await waitFor(async () => {
      world.platform.core.guards.gateway.runRound('timer:reconcile')
      expect((await viewOf(owner, robot)).status).toBe('OFFLINE')
    })
  })

  test('robots stay connected and acknowledged, heartbeats are persisted later, and no robot is declared lost', async () => {
    await using fixture = await createWorldBehindProxy({ env: { HEARTBEAT_TIMEOUT_MS: '2000' } })
    const { world, proxy, ask } = fixture
    const { owner, robot, observer, link, sessionId, session } = await robotInSession(world)
    const other = await world.robot(owner)
    const idle = (await world.connect(other)).beat()
    await observer.saw('robot:status', { robot_id: other.id, status: 'AVAILABLE' })

    proxy.cut()
    idle.frames.length = 0
    link.frames.length = 0
    await Promise.all([acks(link, 25), acks(idle, 25)]) // much longer than the timeout
    proxy.restore()

    const later = (await acks(link, 1)).t
    await waitFor(async () => {
      const [row] = await ask('select last_heartbeat from robot_presence where robot_id = $1', [robot.id])
      expect(row.last_heartbeat.getTime()).toBeGreaterThanOrEqual(later)
    })
    await acks(link, 20) // the sweep has run many times by now
    for (const item of [link, idle]) expect(item.socket.readyState).toBe(WebSocket.OPEN)
    expect(statusesOf(observer, other)).toEqual(['AVAILABLE'])
    expect(await session()).toMatchObject({ status: 'ACTIVE' })
    expect(await typesOf(owner, sessionId)).toEqual(['session.started'])
  })

  test('a heartbeat acknowledged during the outage is persisted afterwards, to the millisecond', async () => {
    await using fixture = await createWorldBehindProxy()
    const { world, proxy, ask } = fixture
    const robot = await world.robot(await world.client())
    const link = await world.connect(robot)
    const telemetry = setInterval(() => {
      if (link.socket.readyState === WebSocket.OPEN) link.send({ type: 'telemetry', data: 1 })
    }, 200)
    link.closed.finally(() => clearInterval(telemetry))
    proxy.cut()
    link.send({ type: 'heartbeat', seq: 1 })
    const { t } = await link.next('heartbeat_ack')
    // Long enough for an attempt to persist the heartbeat to fail.
    await waitFor(async () => {
      await expect(world.platform.core.db.selectFrom('robots').select('id').execute()).rejects.toThrow()
    })
    proxy.restore()
    await reaches(
      async () =>
        (
          await ask('select last_heartbeat from robot_presence where robot_id = $1', [robot.id])
        )[0].last_heartbeat?.getTime(),
      t,
    )
  })

  test.each([
    ['sends heartbeats before its welcome', 250],
    ['sends telemetry at 50 Hz before its welcome', 20],
    ['waits silently for its welcome', undefined],
  ])(
    'a robot that connects during the outage and %s is admitted when the database is back',
    async (_name, everyMs) => {
      await using fixture = await createWorldBehindProxy()
      const { world, proxy } = fixture
      const owner = await world.client()
      const [robot, clock] = [await world.robot(owner), await world.robot(owner)]
      const earlier = (await world.connect(clock)).beat()
      proxy.cut()
      const link = new TestRobot(urlOf(robot, world.gatewayUrl), robot.token)
      if (everyMs) {
        const timer = setInterval(() => {
          if (link.socket.readyState === WebSocket.OPEN) {
            link.send(everyMs > 100 ? { type: 'heartbeat', seq: 1 } : { type: 'telemetry', data: 1 })
          }
        }, everyMs)
        link.closed.finally(() => clearInterval(timer))
      }
      earlier.frames.length = 0
      await acks(earlier, 15) // three times the heartbeat timeout
      proxy.restore()
      try {
        expect((await link.next('welcome')).robot_id).toBe(robot.id)
        if (everyMs && everyMs > 100) await link.next('heartbeat_ack')
        await reaches(async () => (await viewOf(owner, robot)).status, 'AVAILABLE')
      } finally {
        link.destroy()
      }
    },
  )

  test('a gateway that lost only its own database connection releases its robots to other gateways', async () => {
    const env = { HEARTBEAT_TIMEOUT_MS: '2000' }
    await using fixture = await createWorldBehindProxy({ bus: 'redis', env, only: 'added nodes' })
    const { world, proxy } = fixture
    const gateway = await world.addNode('gateway', { DATABASE_URL: proxy.url })
    const { owner, robot, observer, link, sessionId, session } = await robotInSession(
      world,
      gateway.gatewayUrl,
    )
    const other = await world.robot(owner)
    const idle = (await world.connect(other, gateway.gatewayUrl)).beat()

    proxy.cut()
    await observer.saw('robot:status', { robot_id: other.id, status: 'OFFLINE' })
    await reaches(session, expect.objectContaining({ status: 'PAUSED', pause_reason: 'robot_lost' }))
    // The robots cannot detect it, and the gateway continues to serve them.
    idle.frames.length = 0
    await acks(idle, 3)
    proxy.restore()
    expect(await idle.closed).toBe(4503)
    expect(await link.closed).toBe(4503)
    const again = [await world.connect(other), await world.connect(robot, gateway.gatewayUrl)]
    for (const item of again) item.beat()
    await reaches(async () => (await viewOf(owner, other)).status, 'AVAILABLE')
    await reaches(() => typesOf(owner, sessionId), ['session.started', 'robot.lost', 'robot.back'])
    for (const item of again) await item.close()
  })
})

describe.concurrent('a gateway that died without a shutdown', () => {
  test.each([
    ['the shortest possible timeout', '100', '300'],
    ['a timeout of one second', '200', '1000'],
    ['the default timeout', '1000', '3500'],
  ])(
    'with %s: the sweep disconnects its robots and keeps those of a live gateway',
    async (_name, interval, timeout) => {
      const env = { HEARTBEAT_INTERVAL_MS: interval, HEARTBEAT_TIMEOUT_MS: timeout }
      await using world = await createWorld({ env })
      const { owner, robot, observer, sessionId } = await robotInSession(world)
      const living = await world.robot(owner)
      ;(await world.connect(living)).beat(100)
      const orphans = [await world.robot(owner), await world.robot(owner)]
      const dead = randomUUID()
      const ask = (sql: string, values: unknown[]) => query(world.database.url, sql, values)
      await ask(`insert into gateway_nodes (id, url) values ($1, 'ws://gone')`, [dead])
      const ids = orphans.map(({ id }) => id)
      await ask(
        `update robot_presence set connected = true, epoch = 1, node_id = $1 where robot_id = any($2)`,
        [dead, ids],
      )
      await ask(`update robots set status = 'AVAILABLE' where id = any($1)`, [ids])

      for (const { id } of orphans) await observer.saw('robot:status', { robot_id: id, status: 'OFFLINE' })
      await reaches(() => ask('select id from gateway_nodes where id = $1', [dead]), [])
      expect(statusesOf(observer, living)).toEqual(['AVAILABLE'])
      expect((await viewOf(owner, robot)).status).toBe('IN_SESSION')
      expect(await typesOf(owner, sessionId)).toEqual(['session.started'])
      await owner.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    },
  )
})

describe.concurrent('without Redis', () => {
  test('presence, sessions and chat continue at one node', async () => {
    await using redis = await createTcpProxy(serviceUrl('redisUrl'))
    await using world = await createWorld({ bus: 'redis', env: { REDIS_URL: redis.url } })
    const { owner, operator, robot, observer, link, sessionId } = await robotInSession(world)
    await observer.send('session:watch', { session_id: sessionId })
    redis.cut()

    const sent = await observer.send('chat:send', {
      session_id: sessionId,
      body: 'Still here?',
      client_message_id: 'm1',
    })
    expect(sent).toMatchObject({ ok: true })
    await observer.saw('session:event', { seq: sent.message.seq, type: 'chat.message' })
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    expect(await link.next('session')).toMatchObject({ status: 'COMPLETED' })
    await observer.saw('session:event', { type: 'session.ended' })

    const newcomer = await world.robot(owner)
    await (await world.connect(newcomer)).close()
    await reaches(() => statusesOf(observer, newcomer), ['AVAILABLE', 'OFFLINE'])
    const second = await operator.post('/api/sessions', { robotId: robot.id })
    expect(second.status).toBe(201)
    expect(await link.next('session')).toMatchObject({ session_id: second.body.sessionId, status: 'ACTIVE' })

    redis.restore()
    // Its hub may have missed events of other hubs, so it makes its clients resynchronize.
    await new Promise<void>((resolve) => observer.socket.once('connect', resolve))
    await observer.send('robots:watch')
    await operator.patch(`/api/sessions/${second.body.sessionId}`, { action: 'end' })
    await observer.saw('robot:status', { robot_id: robot.id, status: 'AVAILABLE' })
  })

  test('a gateway without hints detects sessions, takeovers and revoked tokens by polling', async () => {
    await using redis = await createTcpProxy(serviceUrl('redisUrl'))
    await using world = await createWorld({ bus: 'redis' })
    const gateway = await world.addNode('gateway', { REDIS_URL: redis.url })
    const owner = await world.client()
    const operator = await world.operator()
    const robots = {
      used: await world.robot(owner),
      takenOver: await world.robot(owner),
      rotated: await world.robot(owner),
      removed: await world.robot(owner),
    }
    const connect = async (robot: { id: string; token: string }) =>
      (await world.connect(robot, gateway.gatewayUrl)).beat()
    const links = {
      used: await connect(robots.used),
      takenOver: await connect(robots.takenOver),
      rotated: await connect(robots.rotated),
      removed: await connect(robots.removed),
    }
    redis.cut()

    const { sessionId } = (await operator.post('/api/sessions', { robotId: robots.used.id })).body
    expect(await links.used.next('session')).toMatchObject({ session_id: sessionId, status: 'ACTIVE' })
    await owner.patch(`/api/sessions/${sessionId}`, { action: 'pause' })
    expect(await links.used.next('session')).toMatchObject({ status: 'PAUSED' })
    await links.used.next('stop')

    await owner.post(`/api/client/robots/${robots.rotated.id}/token`)
    expect(await links.rotated.closed).toBe(4401)
    await owner.delete(`/api/client/robots/${robots.removed.id}`)
    expect(await links.removed.closed).toBe(4401)

    const elsewhere = (await world.connect(robots.takenOver)).beat()
    expect(await links.takenOver.closed).toBe(4000)
    expect((await viewOf(owner, robots.takenOver)).status).toBe('AVAILABLE')
    await elsewhere.next('heartbeat_ack')
    await owner.patch(`/api/sessions/${sessionId}`, { action: 'end' })
  })

  test('a robot that was taken over is released also without heartbeats and hints', async () => {
    await using redis = await createTcpProxy(serviceUrl('redisUrl'))
    await using world = await createWorld({ bus: 'redis' })
    const gateway = await world.addNode('gateway', { REDIS_URL: redis.url })
    const robot = await world.robot(await world.client())
    const old = await world.connect(robot, gateway.gatewayUrl)
    const telemetry = setInterval(() => {
      if (old.socket.readyState === WebSocket.OPEN) old.send({ type: 'telemetry', data: 1 })
    }, 200)
    old.closed.finally(() => clearInterval(telemetry))
    redis.cut()
    const current = (await world.connect(robot)).beat()
    await current.next('heartbeat_ack')
    // The gateway has connections that the database does not have.
    gateway.platform.core.guards.gateway.runRound('timer:reconcile')
    expect(await old.closed).toBe(4000)
  })
})

test.concurrent('a gateway that starts while Redis is down receives hints once it is up', async () => {
  await using proxy = await createTcpProxy(serviceUrl('redisUrl'))
  await using world = await createWorld({ bus: 'redis' })
  proxy.cut()
  await world.addNode('gateway', { REDIS_URL: proxy.url })
  await waitFor(() => expect(proxy.refused).toBeGreaterThan(8))
  proxy.restore()
  const redis = new Redis(serviceUrl('redisUrl'))
  try {
    const subscriptions = async () => {
      const clients = String(await redis.client('LIST')).split('\n')
      const own = clients.filter((client) =>
        proxy.ports().some((port) => client.includes(`addr=127.0.0.1:${port} `)),
      )
      return own
        .map((client) => / name=wheelhouse-bus-subscriber .* sub=(\d+) /.exec(client)?.[1])
        .filter(Boolean)
    }
    // A gateway listens to three topics: robots that changed, stops, credentials that ended.
    await reaches(subscriptions, ['3'])
  } finally {
    redis.disconnect()
  }
})

describe.concurrent('a robot lost in a session', () => {
  /** Two platforms: one on which no session ends because its robot is lost, and one on which it ends soon. */
  let world: World
  let hasty: World
  beforeAll(async () => {
    ;[world, hasty] = await Promise.all([
      createWorld(),
      createWorld({ env: { ROBOT_GRACE_MS: String(GRACE_MS) } }),
    ])
  })
  afterAll(() => Promise.all([world[Symbol.asyncDispose](), hasty[Symbol.asyncDispose]()]))

  test('the session pauses, both sides are notified, and the operator resumes after the return', async () => {
    const { owner, operator, robot, observer, link, sessionId, session } = await robotInSession(world)
    await observer.send('session:watch', { session_id: sessionId })
    link.destroy()

    await observer.saw('session:event', { type: 'robot.lost', seq: 2 })
    expect(await session()).toMatchObject({ status: 'PAUSED', pause_reason: 'robot_lost' })
    expect((await viewOf(owner, robot)).status).toBe('IN_SESSION')
    expect(await notifiedOf(owner)).toEqual(['session.started', 'robot.lost'])
    expect(await notifiedOf(operator)).toEqual(['robot.lost'])
    await observer.saw('notification', { type: 'robot.lost' })
    const tooSoon = await operator.patch(`/api/sessions/${sessionId}`, { action: 'resume' })
    expect(tooSoon.status).toBe(409)

    const back = new TestRobot(urlOf(robot, world.gatewayUrl), robot.token).beat()
    expect((await back.next('welcome')).session).toMatchObject({ session_id: sessionId, status: 'PAUSED' })
    await observer.saw('session:event', { type: 'robot.back', seq: 3 })
    expect(await session()).toMatchObject({ status: 'PAUSED' })
    expect(await notifiedOf(owner)).toEqual(['session.started', 'robot.lost', 'robot.back'])
    expect(await notifiedOf(operator)).toEqual(['robot.lost', 'robot.back'])

    const resumed = await operator.patch(`/api/sessions/${sessionId}`, { action: 'resume' })
    expect(resumed).toMatchObject({ status: 200, body: { status: 'ACTIVE' } })
    expect(await back.next('session')).toMatchObject({ status: 'ACTIVE' })
    expect(back.frames.filter(({ type }) => type === 'stop')).toEqual([])
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    await back.close()
  })

  test('silence is a loss like a disconnect, and is recorded once', async () => {
    const owner = await world.client()
    const operator = await world.operator()
    const robot = await world.robot(owner)
    const link = await world.connect(robot) // sends nothing
    const { sessionId } = (await operator.post('/api/sessions', { robotId: robot.id })).body
    await link.closed
    await reaches(() => typesOf(owner, sessionId), ['session.started', 'robot.lost'])
    const other = (await world.connect(await world.robot(owner))).beat()
    await acks(other, 10) // the sweep runs several times
    expect(await typesOf(owner, sessionId)).toEqual(['session.started', 'robot.lost'])
    await owner.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    await reaches(async () => (await viewOf(owner, robot)).status, 'OFFLINE')
  })

  test('a requested pause retains its reason', async () => {
    const { owner, operator, link, sessionId, session } = await robotInSession(world)
    await owner.patch(`/api/sessions/${sessionId}`, { action: 'pause', reason: 'lunch' })
    link.destroy()
    await reaches(() => typesOf(owner, sessionId), ['session.started', 'session.paused', 'robot.lost'])
    expect(await session()).toMatchObject({ status: 'PAUSED', pause_reason: 'lunch' })
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
  })

  test('a robot that does not return within the grace period ends the session, and is OFFLINE', async () => {
    const { owner, operator, robot, observer, link, sessionId, session } = await robotInSession(hasty)
    const lostMs = Date.now()
    link.destroy()
    await reaches(session, expect.objectContaining({ status: 'COMPLETED', end_reason: 'robot_lost' }))
    expect(Date.parse((await session()).ended_at) - lostMs).toBeGreaterThanOrEqual(GRACE_MS)
    expect(await typesOf(owner, sessionId)).toEqual(['session.started', 'robot.lost', 'session.ended'])
    expect(await notifiedOf(owner)).toEqual(['session.started', 'robot.lost', 'session.ended'])
    expect(await notifiedOf(operator)).toEqual(['robot.lost', 'session.ended'])
    await observer.saw('robot:status', { robot_id: robot.id, status: 'OFFLINE' })
    expect((await viewOf(owner, robot)).status).toBe('OFFLINE')

    const back = (await hasty.connect(robot)).beat()
    await reaches(async () => (await viewOf(owner, robot)).status, 'AVAILABLE')
    const next = await operator.post('/api/sessions', { robotId: robot.id })
    expect(next.status).toBe(201)
    expect(await back.next('session')).toMatchObject({ session_id: next.body.sessionId })
    await operator.patch(`/api/sessions/${next.body.sessionId}`, { action: 'end' })
  })

  test('a robot that returns in time keeps its session beyond the grace period', async () => {
    const { owner, operator, robot, link, sessionId, session } = await robotInSession(hasty)
    link.destroy()
    await reaches(async () => (await session()).status, 'PAUSED')
    const back = (await hasty.connect(robot)).beat()
    await reaches(() => typesOf(owner, sessionId), ['session.started', 'robot.lost', 'robot.back'])
    // Another robot, lost later, ends its session: the grace period has passed.
    const other = await robotInSession(hasty)
    other.link.destroy()
    await reaches(async () => (await other.session()).status, 'COMPLETED')
    await acks(back, 1)
    expect(await session()).toMatchObject({ status: 'PAUSED' })
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
  })
})

// One at a time, because the clock of the process applies to every world.
describe('an unreachable database', () => {
  test.each([
    ['refuses connections', (proxy: TcpProxy) => proxy.cut()],
    ['does not answer', (proxy: TcpProxy) => proxy.silence()],
  ])('that %s: every robot that connects is asked to retry after ten seconds', async (_name, takeAway) => {
    const clock = stopWallClock()
    await using fixture = await createWorldBehindProxy({ env: { HEARTBEAT_TIMEOUT_MS: '60000' } })
    const { world, proxy } = fixture
    const owner = await world.client()
    const robots = [await world.robot(owner), await world.robot(owner), await world.robot(owner)]
    const earlier = (await world.connect(await world.robot(owner))).beat()
    takeAway(proxy)
    const links: TestRobot[] = []
    for (const robot of robots) {
      const link = new TestRobot(urlOf(robot, world.gatewayUrl), robot.token)
      links.push(link)
      await once(link.socket, 'open')
      clock.advance(1_000)
    }
    const advance = async (ms: number) => {
      clock.advance(ms)
      world.platform.core.guards.gateway.runRound('timer:pending-admissions')
      earlier.frames.length = 0
      await acks(earlier, 2)
    }
    const remaining = () => links.map(({ socket }) => socket.readyState === WebSocket.OPEN)
    await advance(6_900)
    expect(remaining()).toEqual([true, true, true])
    await advance(200)
    expect(await links[0]?.closed).toBe(4503)
    expect(remaining()).toEqual([false, true, true])
    await advance(2_000)
    for (const link of links) expect(await link.closed).toBe(4503)
    expect(earlier.socket.readyState).toBe(WebSocket.OPEN)
    proxy.cut() // discards the data pending in silent connections
  })
})
