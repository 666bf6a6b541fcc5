import type { SessionLogEvent } from '@wheelhouse/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HubClient } from '../../../packages/sdk/index.ts'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { query } from '../../support/processes/processes.ts'
import { startRedis, type TestRedis } from '../../support/processes/redis.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** Of this file only: a hub of another file that loses its Redis makes the other hubs disconnect their clients. */
let server: TestRedis
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server?.stop())

/** Creates two processes with hub and gateway, connected by a Redis that the test can interrupt. */
async function twoNodes() {
  const redis = await createTcpProxy(server.url)
  const world = await createWorld({ env: { REDIS_URL: server.url, OPERATOR_GRACE_MS: '60000' } })
  const second = await world.addNode('hub,gateway', { REDIS_URL: redis.url })
  return {
    world,
    second,
    urls: [world.hubUrl, second.hubUrl],
    sql: (text: string, ...values: unknown[]) => query(world.database.url, text, values),
    redis,
    /** Reconnects the nodes, and waits until messages of one node arrive at the other. */
    async returnRedis() {
      redis.restore()
      await waitFor(() => expect(second.platform.core.hubRedis?.subscriber.status).toBe('ready'))
    },
    async [Symbol.asyncDispose]() {
      redis.restore()
      await world[Symbol.asyncDispose]()
      await redis[Symbol.asyncDispose]()
    },
  }
}
type TwoNodes = Awaited<ReturnType<typeof twoNodes>>

/** The SDK clients that are open. */
const clients: HubClient[] = []
/** Creates an SDK client, which reconnects automatically. */
async function join(url: string, { token }: TestUser) {
  const ends: string[] = []
  const hub = new HubClient({
    url,
    token,
    reconnect: { baseMs: 5, maxMs: 50 },
    onDisconnected: (reason) => ends.push(reason),
  })
  clients.push(hub)
  await hub.connect()
  return { hub, ends }
}

/** Returns the robots that a user may see, and those whose status the user received. */
async function openBoard(url: string, user: TestUser) {
  const { hub, ends } = await join(url, user)
  const board = { ends, listed: [] as string[], statusUpdates: new Set<string>() }
  await hub.watchRobots((update) => {
    if (update.kind === 'list') board.listed = update.robots.map(({ robot_id }) => robot_id)
    else board.statusUpdates.add(update.robot.robot_id)
  })
  return board
}

async function certify(world: World, operator: TestUser, robotType: string): Promise<void> {
  const asked = await operator.post('/api/operator/certifications', { robot_type: robotType })
  const reply = await (await world.admin()).post(`/api/admin/certifications/${asked.body.id}/approve`)
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
}

/** Waits until all permitted users have received the status. */
const comeAndGo = async (world: World, robot: { id: string; token: string }) =>
  (await world.connect(robot)).close()

/** The events of a user on two nodes: before, during and after a possible outage of Redis. */
interface Scenario {
  /** Changes permissions, and checks who is disconnected. */
  change(): Promise<void>
  /** Checks what arrives once Redis is back. */
  afterwards?(): Promise<void>
}

const certificationChange =
  (change: string) =>
  async ({ world, urls, sql }: TwoNodes): Promise<Scenario> => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const robotType = `type-${operator.id}` // no operator of another scenario has a certification for it
    const robot = await world.robot(owner, { robot_type: robotType, require_certification: true })
    await certify(world, operator, robotType)
    const open = (user: TestUser) => Promise.all(urls.map((url) => openBoard(url, user)))
    const [owners, boards] = [await open(owner), await open(operator)]
    // The robots of other scenarios need no certification, so operators see them too.
    for (const board of [...owners, ...boards]) expect(board.listed).toContain(robot.id)

    return {
      async change() {
        await sql(change, operator.id)
        await waitFor(() => expect(boards.map(({ ends }) => ends.length)).toEqual([1, 1]))
        await waitFor(() =>
          expect(boards.map(({ listed }) => listed.includes(robot.id))).toEqual([false, false]),
        )
        expect(owners.map(({ ends }) => ends)).toEqual([[], []]) // their permissions have not changed
      },
      async afterwards() {
        await waitFor(async () => {
          await comeAndGo(world, robot)
          expect(owners.map(({ statusUpdates }) => statusUpdates.has(robot.id))).toEqual([true, true])
        })
        expect(boards.map(({ statusUpdates }) => statusUpdates.has(robot.id))).toEqual([false, false])
      },
    }
  }

async function formerAdmin({ world, second, urls, sql }: TwoNodes): Promise<Scenario> {
  const sessionFixture = await openSessionFixture(world)
  const robot = await world.robot(sessionFixture.client, { robot_type: 'other' })
  const link = await world.connect(robot, second.gatewayUrl)
  const another = await world.operator()
  const started = await another.post('/api/sessions', { robotId: robot.id })
  const there = started.body.sessionId as string
  const admin = await world.admin()
  const watches = await Promise.all(
    urls.map(async (url) => {
      const log: SessionLogEvent[] = []
      const { hub, ends } = await join(url, admin)
      await hub.watch(sessionFixture.id, { onEvent: (event) => log.push(event) })
      return { log, ends }
    }),
  )
  const observers = [
    await world.drive(admin, sessionFixture.id, 'watch'),
    await world.drive(admin, there, 'watch'),
  ]
  const owners = [await world.drive(sessionFixture.client, sessionFixture.id, 'watch')]
  owners.push(await world.drive(sessionFixture.client, there, 'watch'))
  for (const item of [...observers, ...owners]) await item.state()

  return {
    async change() {
      await sql('update users set email_verified = false where id = $1', admin.id)
      expect(await Promise.all(observers.map((observer) => observer.closed))).toEqual([4403, 4403])
      await waitFor(() => expect(watches.map(({ ends }) => ends.length)).toEqual([1, 1]))
      expect(owners.map(({ socket }) => socket.readyState)).toEqual([1, 1])
    },
    async afterwards() {
      const before = watches.map(({ log }) => log.length)
      const { id, operator } = sessionFixture
      expect((await operator.post(`/api/sessions/${id}/messages`, { body: 'Between us' })).status).toBe(201)
      await world.drained()
      await another.patch(`/api/sessions/${there}`, { action: 'end' })
      await link.next('session')
      expect(watches.map(({ log }) => log.length)).toEqual(before)
      await link.close()
    },
  }
}

async function replacedRobot({ world, second }: TwoNodes): Promise<Scenario> {
  const owner = await world.client()
  const robots = [await world.robot(owner), await world.robot(owner)] as const
  const links = await Promise.all(robots.map((robot) => world.connect(robot, second.gatewayUrl)))
  for (const link of links) link.beat()
  return {
    async change() {
      expect((await owner.post(`/api/client/robots/${robots[0].id}/token`)).status).toBeLessThan(300)
      expect((await owner.delete(`/api/client/robots/${robots[1].id}`)).status).toBe(204)
      expect(await Promise.all(links.map((link) => link.closed))).toEqual([4401, 4401])
      const again = robots.map((robot) => new TestRobot(urlOf(second, robot), robot.token))
      expect(await Promise.all(again.map((link) => link.closed))).toEqual([4401, 4401])
    },
  }
}

async function revokedKey({ world, urls }: TwoNodes): Promise<Scenario> {
  const { client, operator, id } = await openSessionFixture(world)
  const [revoked, kept] = [await client.key(), await client.key()]
  const at = (token: string) => Promise.all(urls.map((url) => client.hub({ url, token })))
  const [closing, others] = [await at(revoked.key), await at(kept.key)]
  const watching = await Promise.all([revoked, kept].map(({ key }) => watch(world, client, id, key)))
  return {
    async change() {
      expect((await client.delete(`/api/auth/api-keys/${revoked.id}`)).status).toBe(204)
      await waitFor(() => {
        expect(closing.map(({ socket }) => socket.connected)).toEqual([false, false])
        expect(watching[0]?.socket.readyState).toBe(3)
      })
      expect(await watching[0]?.closed).toBe(4401)
      expect(others.map(({ socket }) => socket.connected)).toEqual([true, true])
      expect(watching[1]?.socket.readyState).toBe(1)
      await operator.patch(`/api/sessions/${id}`, { action: 'end' })
    },
  }
}

const certificationIs = 'operators receive no robot status if their certification is'
const scenarios: [string, (nodes: TwoNodes) => Promise<Scenario>][] = [
  [
    `${certificationIs} revoked`,
    certificationChange(`update certifications set status = 'REJECTED' where operator_id = $1`),
  ],
  [`${certificationIs} deleted`, certificationChange('delete from certifications where operator_id = $1')],
  [
    `${certificationIs} unusable because the operator role is removed`,
    certificationChange('update users set is_operator = false where id = $1'),
  ],
  ['a former admin receives no events of other users’ sessions at hubs and gateways', formerAdmin],
  ['a robot is disconnected when its token is replaced or it is removed', replacedRobot],
  ['a revoked key closes its connections at hubs and gateways', revokedKey],
]

/** The scenarios share one outage: after one, the hubs disconnect clients, also those of a later scenario. */
describe.each([
  ['over Redis', false],
  ['with Redis away', true],
])('%s, on every node', (_name, redisAway) => {
  let nodes: TwoNodes
  const prepared = new Map<string, Scenario>()
  beforeAll(async () => {
    nodes = await twoNodes()
    for (const [name, prepare] of scenarios) prepared.set(name, await prepare(nodes))
    if (redisAway) nodes.redis.cut()
  })
  afterAll(async () => {
    for (const hub of clients.splice(0)) hub.close()
    await nodes?.[Symbol.asyncDispose]()
  })

  test.concurrent.each(scenarios)('%s', async (name) => {
    await prepared.get(name)?.change()
  })

  test('only permitted users receive what follows', async () => {
    await nodes.returnRedis()
    for (const { afterwards } of prepared.values()) await afterwards?.()
  })
})

const urlOf = (node: { gatewayUrl: string }, robot: { id: string }) =>
  `${node.gatewayUrl}/robots/${robot.id}/control`

/** Observes a session with a ticket that was requested with this key. */
async function watch(world: World, user: TestUser, sessionId: string, key: string) {
  const asKey = { ...user, post: (path: string, body?: unknown) => user.request('POST', path, body, key) }
  const link = await world.drive(asKey, sessionId, 'watch')
  await link.state()
  return link
}

describe('on one node', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ env: { OPERATOR_GRACE_MS: '60000' } })
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  test('a new permission applies without a new sign-in', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(owner, { robot_type: 'new', require_certification: true })
    const listed: string[] = []
    await using hub = Object.assign(new HubClient({ url: world.hubUrl, token: operator.token }), {
      [Symbol.asyncDispose]: async () => hub.close(),
    })
    await hub.connect()
    await hub.watchRobots((update) => {
      if (update.kind === 'list') listed.push(...update.robots.map(({ robot_id }) => robot_id))
    })
    expect(listed).not.toContain(robot.id)
    await certify(world, operator, 'new')
    await waitFor(() => expect(listed).toContain(robot.id))
  })

  test('a change before the connection does not disconnect the user', async () => {
    const operator = await world.operator() // the role was just added
    await certify(world, operator, 'testbot')
    const hub = await operator.hub()
    const ends: string[] = []
    hub.socket.on('disconnect', (reason) => ends.push(reason))
    // Waits for as long as a new change would take to be found, so that the polls have seen the earlier change.
    const other = await world.operator()
    const reference = await other.hub()
    const cut = new Promise((resolve) => reference.socket.once('disconnect', resolve))
    await other.post('/api/auth/profile', { role: 'client' })
    await cut
    expect(ends).toEqual([])
  })

  test('an open session continues when its operator loses the role', async () => {
    const { client, operator, id, link, read } = await openSessionFixture(world)
    const console = await world.drive(operator, id)
    await console.state()
    await query(world.database.url, 'update users set is_operator = false where id = $1', [operator.id])
    expect((await operator.post('/api/sessions', { robotId: id })).status).toBe(403)
    const reference = await watch(world, client, id, (await client.key()).key)
    for (let round = 0; round < 2; round++) await reference.next('latency')
    console.control()
    await link.next('control')
    expect((await read()).status).toBe('ACTIVE')
    expect((await operator.patch(`/api/sessions/${id}`, { action: 'end' })).status).toBe(200)
  })
})
