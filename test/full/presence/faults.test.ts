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
import { startRedis } from '../../support/processes/redis.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { stopWallClock } from '../../support/world/wall-clock.ts'
import { createWorld, type World, type WorldOptions } from '../../support/world/world.ts'

const reaches = (read: () => unknown, expected: unknown) =>
  waitFor(async () => expect(await read()).toEqual(expected))

/** Creates a platform with a proxy in front of its database. */
async function createWorldBehindProxy(options: WorldOptions) {
  const database = await createTestDatabase()
  const proxy = await createTcpProxy(database.url)
  const world = await createWorld({ ...options, env: { ...options.env, DATABASE_URL: proxy.url } })
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

/** Sends telemetry, which keeps a robot connected without heartbeats, until the robot is closed. */
function sendTelemetry(link: TestRobot, everyMs: number): void {
  const timer = setInterval(() => {
    if (link.socket.readyState === WebSocket.OPEN) link.send({ type: 'telemetry', data: 1 })
  }, everyMs)
  link.closed.finally(() => clearInterval(timer))
}

/** How long a robot may be lost on the hasty platform. */
const GRACE_MS = 1_000
/** The same for tests that move the clock. */
const PATIENT_GRACE_MS = 600_000

/** Expects the sweep to disconnect the robots of a gateway that died without a shutdown, and to keep those of a live one. */
async function expectSweepOfDeadGateway(world: World): Promise<void> {
  const { owner, robot, observer, sessionId } = await robotInSession(world)
  const living = await world.robot(owner)
  ;(await world.connect(living)).beat(100)
  const orphans = [await world.robot(owner), await world.robot(owner)]
  const dead = randomUUID()
  const ask = (sql: string, values: unknown[]) => query(world.database.url, sql, values)
  await ask(`insert into gateway_nodes (id, url) values ($1, 'ws://gone')`, [dead])
  const ids = orphans.map(({ id }) => id)
  await ask(`update robot_presence set connected = true, epoch = 1, node_id = $1 where robot_id = any($2)`, [
    dead,
    ids,
  ])
  await ask(`update robots set status = 'AVAILABLE' where id = any($1)`, [ids])

  for (const { id } of orphans) await observer.saw('robot:status', { robot_id: id, status: 'OFFLINE' })
  await reaches(() => ask('select id from gateway_nodes where id = $1', [dead]), [])
  expect(statusesOf(observer, living)).toEqual(['AVAILABLE'])
  expect((await viewOf(owner, robot)).status).toBe('IN_SESSION')
  expect(await typesOf(owner, sessionId)).toEqual(['session.started'])
  await owner.patch(`/api/sessions/${sessionId}`, { action: 'end' })
}

// Few platforms at a time: the more of them compute, the longer their queries take, and those have limits.
describe('a database that is unreachable for much longer than the heartbeat timeout', () => {
  const newcomers: [name: string, everyMs: number | undefined][] = [
    ['sends heartbeats before its welcome', 250],
    ['sends telemetry at 50 Hz before its welcome', 20],
    ['waits silently for its welcome', undefined],
  ]
  let fixture: Awaited<ReturnType<typeof createWorldBehindProxy>>
  let outage: Awaited<ReturnType<typeof createOutage>>
  beforeAll(async () => {
    fixture = await createWorldBehindProxy({ env: { HEARTBEAT_TIMEOUT_MS: '3000' } })
    outage = await createOutage()
  })
  afterAll(async () => {
    for (const link of outage.links) link.destroy()
    await fixture[Symbol.asyncDispose]()
  })
  const lastHeartbeatOf = async ({ id }: { id: string }): Promise<Date | null> =>
    (await fixture.ask('select last_heartbeat from robot_presence where robot_id = $1', [id]))[0]
      .last_heartbeat

  /** Interrupts the database once for all tests, with connected robots and robots that connect during the interruption. */
  async function createOutage() {
    const { world, proxy } = fixture
    const inSession = await robotInSession(world)
    const { owner, observer } = inSession
    const [idleRobot, quietRobot] = [await world.robot(owner), await world.robot(owner)]
    const robots = await Promise.all(newcomers.map(() => world.robot(owner)))
    const idle = (await world.connect(idleRobot)).beat()
    const quiet = await world.connect(quietRobot)
    sendTelemetry(quiet, 200)
    await observer.saw('robot:status', { robot_id: idleRobot.id, status: 'AVAILABLE' })

    proxy.cut()
    idle.frames.length = 0
    inSession.link.frames.length = 0
    quiet.send({ type: 'heartbeat', seq: 1 })
    const acknowledged = (await quiet.next('heartbeat_ack')).t as number
    await acks(idle, 5)
    const connecting = newcomers.map(([, everyMs], index) => {
      const robot = robots[index] as { id: string; token: string }
      const link = new TestRobot(urlOf(robot, world.gatewayUrl), robot.token)
      if (everyMs && everyMs > 100) link.beat(everyMs)
      else if (everyMs) sendTelemetry(link, everyMs)
      return { robot, link }
    })
    await Promise.all([acks(inSession.link, 25), acks(idle, 30)])
    proxy.restore()
    const links = [inSession.link, idle, quiet, ...connecting.map(({ link }) => link)]
    return { inSession, idle, idleRobot, quietRobot, acknowledged, connecting, links }
  }

  test('a heartbeat acknowledged during the outage is persisted afterwards, to the millisecond', async () => {
    const { quietRobot, acknowledged } = outage
    await reaches(async () => (await lastHeartbeatOf(quietRobot))?.getTime(), acknowledged)
  })

  test('robots stay connected and acknowledged, heartbeats are persisted later, and no robot is declared lost', async () => {
    const { inSession, idle, idleRobot } = outage
    const { owner, robot, observer, link, sessionId, session } = inSession
    const later = (await acks(link, 1)).t
    await waitFor(async () => {
      expect((await lastHeartbeatOf(robot))?.getTime()).toBeGreaterThanOrEqual(later)
    })
    await acks(link, 20) // the sweep has run many times by now
    for (const item of [link, idle]) expect(item.socket.readyState).toBe(WebSocket.OPEN)
    expect(statusesOf(observer, idleRobot)).toEqual(['AVAILABLE'])
    expect(await session()).toMatchObject({ status: 'ACTIVE' })
    expect(await typesOf(owner, sessionId)).toEqual(['session.started'])
  })

  test.each(newcomers.map(([name], index) => [name, index] as const))(
    'a robot that connects during the outage and %s is admitted when the database is back',
    async (_name, index) => {
      const { robot, link } = outage.connecting[index] as (typeof outage.connecting)[0]
      expect((await link.next('welcome')).robot_id).toBe(robot.id)
      if (index === 0) await link.next('heartbeat_ack')
      await outage.inSession.observer.saw('robot:status', { robot_id: robot.id, status: 'AVAILABLE' })
    },
  )
})

describe('a gateway without its own connection to a service', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ bus: 'redis', env: { HEARTBEAT_TIMEOUT_MS: '3000' } })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  /** Adds a gateway with a proxy in front of one service. */
  async function addGatewayBehindProxy(
    setting: 'DATABASE_URL' | 'REDIS_URL',
    injectFault: (proxy: TcpProxy) => void = () => {},
  ) {
    const service = setting === 'DATABASE_URL' ? world.database.url : serviceUrl('redisUrl')
    const proxy = await createTcpProxy(service)
    injectFault(proxy)
    const gateway = await world.addNode('gateway', { [setting]: proxy.url })
    const links: TestRobot[] = []
    return {
      gateway,
      proxy,
      async connect(robot: { id: string; token: string }): Promise<TestRobot> {
        const link = await world.connect(robot, gateway.gatewayUrl)
        links.push(link)
        return link
      },
      async [Symbol.asyncDispose]() {
        proxy.restore()
        // A gateway that stops leaves its robots recorded as connected, until they connect elsewhere.
        for (const link of links) await link.close()
        await gateway.stop()
        await proxy[Symbol.asyncDispose]()
      },
    }
  }

  test('a gateway that counted as dead readmits its robots without closing them', async () => {
    await using fixture = await addGatewayBehindProxy('DATABASE_URL')
    const { gateway, proxy } = fixture
    const { owner, observer, link, sessionId, session } = await robotInSession(world, gateway.gatewayUrl)
    const other = await world.robot(owner)
    const idle = (await fixture.connect(other)).beat()

    proxy.cut()
    await observer.saw('robot:status', { robot_id: other.id, status: 'OFFLINE' })
    await reaches(session, expect.objectContaining({ status: 'PAUSED', pause_reason: 'robot_lost' }))
    // The robots cannot detect it, and the gateway continues to serve them.
    idle.frames.length = 0
    await acks(idle, 3)
    link.frames.length = 0
    proxy.restore()
    await reaches(async () => (await viewOf(owner, other)).status, 'AVAILABLE')
    await waitFor(async () => {
      const types = await typesOf(owner, sessionId)
      // A gateway that answers late counts as dead once more.
      expect(types.slice(0, 3)).toEqual(['session.started', 'robot.lost', 'robot.back'])
      expect(types.at(-1)).toBe('robot.back')
    })
    expect((await link.next('session')).status).toBe('PAUSED')
    for (const item of [idle, link]) expect(item.socket.readyState).toBe(WebSocket.OPEN)
    // The new epochs are the current ones: heartbeats are saved again.
    const { t } = await acks(idle, 1)
    await waitFor(async () =>
      expect(Date.parse((await viewOf(owner, other)).last_heartbeat)).toBeGreaterThanOrEqual(t),
    )
    await link.close()
  })

  test('a gateway that counted as dead releases the robots that are connected elsewhere by then', async () => {
    await using fixture = await addGatewayBehindProxy('DATABASE_URL')
    const { proxy } = fixture
    const owner = await world.client()
    const observer = await owner.hub()
    await observer.send('robots:watch')
    const robot = await world.robot(owner)
    const before = (await fixture.connect(robot)).beat()
    proxy.cut()
    await observer.saw('robot:status', { robot_id: robot.id, status: 'OFFLINE' })
    const link = (await world.connect(robot)).beat()
    proxy.restore()
    expect(await before.closed).toBe(4000)
    expect((await viewOf(owner, robot)).status).toBe('AVAILABLE')
    await link.close()
  })

  test('a gateway without hints detects sessions, takeovers and revoked tokens by polling', async () => {
    await using fixture = await addGatewayBehindProxy('REDIS_URL')
    const { proxy: redis } = fixture
    const owner = await world.client()
    const operator = await world.operator()
    const robots = {
      used: await world.robot(owner),
      takenOver: await world.robot(owner),
      rotated: await world.robot(owner),
      removed: await world.robot(owner),
    }
    const connect = async (robot: { id: string; token: string }) => (await fixture.connect(robot)).beat()
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
    await using fixture = await addGatewayBehindProxy('REDIS_URL')
    const { gateway, proxy: redis } = fixture
    const robot = await world.robot(await world.client())
    const old = await fixture.connect(robot)
    sendTelemetry(old, 200)
    redis.cut()
    const current = (await world.connect(robot)).beat()
    await current.next('heartbeat_ack')
    // The gateway has connections that the database does not have.
    gateway.platform.core.guards.gateway.runRound('timer:reconcile')
    expect(await old.closed).toBe(4000)
  })

  test('a gateway that starts while Redis is down receives hints once it is up', async () => {
    await using fixture = await addGatewayBehindProxy('REDIS_URL', (proxy) => proxy.cut())
    const { proxy } = fixture
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
      // A gateway listens to four topics: robots that changed, stops, credentials that ended, lost permissions.
      await reaches(subscriptions, ['5'])
    } finally {
      redis.disconnect()
    }
  })
})

test.concurrent('without Redis, presence, sessions and chat continue at one node', async ({
  onTestFinished,
}) => {
  // A separate Redis: a hub that reconnects makes the clients of all hubs of its Redis reconnect, those of other worlds too.
  const server = await startRedis()
  onTestFinished(() => server.stop())
  await using redis = await createTcpProxy(server.url)
  await using world = await createWorld({ env: { REDIS_URL: redis.url } })
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

describe.concurrent('a lost robot', () => {
  /**
   * Two platforms: one on which no session ends because its robot is lost, and one on which it ends soon, with the default
   * heartbeats.
   */
  let world: World
  let hasty: World
  beforeAll(async () => {
    ;[world, hasty] = await Promise.all([
      createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '3000' } }),
      createWorld({
        env: {
          ROBOT_GRACE_MS: String(GRACE_MS),
          HEARTBEAT_INTERVAL_MS: '1000',
          HEARTBEAT_TIMEOUT_MS: '3500',
        },
      }),
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
    let aheadMs = 0
    await using patient = await createWorld({
      env: { ROBOT_GRACE_MS: String(PATIENT_GRACE_MS) },
      now: () => new Date(Date.now() + aheadMs),
    })
    const { owner, operator, robot, link, sessionId, session } = await robotInSession(patient)
    link.destroy()
    await reaches(async () => (await session()).status, 'PAUSED')
    const back = (await patient.connect(robot)).beat()
    await reaches(() => typesOf(owner, sessionId), ['session.started', 'robot.lost', 'robot.back'])
    // Another robot, lost later, ends its session: the grace period has passed.
    const other = await robotInSession(patient)
    other.link.destroy()
    await reaches(async () => (await other.session()).status, 'PAUSED')
    aheadMs = PATIENT_GRACE_MS
    await reaches(async () => (await other.session()).status, 'COMPLETED')
    await acks(back, 1)
    expect(await session()).toMatchObject({ status: 'PAUSED' })
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
  })

  test('after a crash that lost a commit, disconnected robots do not remain recorded as connected', async () => {
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

  test.each([
    ['a timeout of three seconds', () => world],
    ['the default timeout', () => hasty],
  ])(
    'of a gateway that died, with %s: the sweep disconnects it and keeps those of a live gateway',
    (_name, of) => expectSweepOfDeadGateway(of()),
  )

  test('of a gateway that died, with the shortest possible timeout: the same', async () => {
    // Of the worker only: on a busy machine, the heartbeats of robots take longer.
    await using swift = await createWorld({ bus: 'redis', env: { ROLES: 'api,hub,gateway' } })
    await swift.addNode('worker', { HEARTBEAT_INTERVAL_MS: '100', HEARTBEAT_TIMEOUT_MS: '300' })
    await expectSweepOfDeadGateway(swift)
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
