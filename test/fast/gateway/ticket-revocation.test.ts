import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { TestDriver, type TestRobot } from '../../support/gateway/frame-socket.ts'
import { attempt } from '../../support/gateway/upgrade.ts'
import { createTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import { query } from '../../support/processes/processes.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const VALID_AT_A_TIME = 32

interface Issued {
  readonly url: string
  readonly ticket: string
}

async function ticketFor(user: TestUser, sessionId: string, part: string, token?: string): Promise<Issued> {
  const reply = await user.request('POST', `/api/sessions/${sessionId}/ticket`, { part }, token)
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body
}

/** Sends control as soon as the socket is open; returns the close code. */
async function driveWith({ url, ticket }: Issued): Promise<number> {
  const driver = new TestDriver(url, ticket)
  driver.socket.on('open', () => {
    for (let n = 0; n < 10; n++) driver.control()
  })
  return await driver.closed
}

/** Settles when the gateway of a ticket refuses it at the upgrade: it knows that the ticket was revoked. */
const isRefused = ({ url, ticket }: Issued) =>
  waitFor(async () => {
    const { status, body } = await attempt(url, { headers: { Authorization: `Bearer ${ticket}` } })
    expect([status, body]).toEqual([401, expect.stringContaining('ended or changed')])
  })

/** Expects that no control frame has reached a robot. */
async function expectNoControl(robot: TestRobot): Promise<void> {
  const seq = 1_000_000_000
  robot.send({ type: 'heartbeat', seq })
  await waitFor(() =>
    expect(robot.frames).toContainEqual(expect.objectContaining({ type: 'heartbeat_ack', seq })),
  )
  expect(robot.frames.filter(({ type }) => type === 'control')).toEqual([])
}

/** The second gateway's connection to Redis. */
let redis: TcpProxy
/** A platform with two gateways. */
let world: World
let second: Awaited<ReturnType<World['addNode']>>
beforeAll(async () => {
  redis = await createTcpProxy(serviceUrl('redisUrl'))
  world = await createWorld({
    bus: 'redis',
    env: { OPERATOR_GRACE_MS: '60000', HEARTBEAT_TIMEOUT_MS: '30000' },
  })
  second = await world.addNode('gateway', { REDIS_URL: redis.url })
})
afterEach(() => redis.restore())
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await redis[Symbol.asyncDispose]()
})

/** Opens a session at the first gateway, and one at the second gateway. */
async function sessionsAtBothGateways() {
  const { client, operator, id, link } = await openSessionFixture(world)
  const otherOperator = await world.operator()
  const robot = await world.robot(client)
  const otherLink = (await world.connect(robot, second.gatewayUrl)).beat()
  const started = await otherOperator.post('/api/sessions', { robotId: robot.id })
  return [
    { id, operator, link },
    { id: started.body.sessionId as string, operator: otherOperator, link: otherLink },
  ]
}

test.each([
  ['with hints', false],
  ['without hints', true],
])(
  'tickets of a revoked API key, %s, are refused at every gateway, and no control frame reaches a robot',
  async (_name, unsubscribed) => {
    const fixtures = await sessionsAtBothGateways()
    const issued = await Promise.all(
      fixtures.map(async ({ operator, id }) => {
        const key = await operator.key()
        const tickets = [1, 2].map(() => ticketFor(operator, id, 'control', key.key))
        return { key, tickets: await Promise.all(tickets) }
      }),
    )
    if (unsubscribed) redis.cut()
    for (const [at, { operator }] of fixtures.entries())
      expect((await operator.delete(`/api/auth/api-keys/${issued[at]?.key.id}`)).status).toBe(204)
    for (const { tickets } of issued) {
      const [early, later] = tickets as [Issued, Issued]
      // Used at once, a ticket is refused at the upgrade, or its connection is closed before it is admitted.
      expect([1006, 4401]).toContain(await driveWith(early))
      await isRefused(later)
    }
    for (const { link } of fixtures) await expectNoControl(link)
  },
)

describe('permissions that end after a ticket was issued', () => {
  test('the operator role: no ticket controls at any gateway, and none is issued', async () => {
    for (const { operator, id, link } of await sessionsAtBothGateways()) {
      const [first, later] = [
        await ticketFor(operator, id, 'control'),
        await ticketFor(operator, id, 'control'),
      ]
      await query(world.database.url, 'update users set is_operator = false where id = $1', [operator.id])
      expect([1006, 4408]).toContain(await driveWith(first))
      await isRefused(later)
      await expectNoControl(link)
      const again = await operator.post(`/api/sessions/${id}/ticket`, { part: 'control' })
      expect(again).toMatchObject({ status: 403, body: { error: expect.stringContaining('operator role') } })
    }
  })

  test('the admin role: the ticket reveals nothing of the session', async () => {
    const fixture = await openSessionFixture(world)
    const admin = await world.admin()
    const { url, ticket } = await ticketFor(admin, fixture.id, 'watch')
    await query(world.database.url, 'update users set email_verified = false where id = $1', [admin.id])
    const link = new TestDriver(url, ticket)
    expect([1006, 4408]).toContain(await link.closed)
    expect(link.frames).toEqual([])
    expect((await admin.post(`${fixture.path}/ticket`, { part: 'watch' })).status).toBe(404)
  })

  test('an API key that expires: its tickets end with it', async () => {
    const fixture = await openSessionFixture(world)
    const endsAt = new Date(Date.now() + 20_000)
    const body = { name: 'short', expires_at: endsAt.toISOString() }
    const { key } = (await fixture.operator.post('/api/auth/api-keys', body)).body
    const reply = await fixture.operator.request('POST', `${fixture.path}/ticket`, { part: 'control' }, key)
    expect(reply.status).toBe(201)
    expect(Date.parse(reply.body.expires_at)).toBeLessThanOrEqual(endsAt.getTime())
  })
})

test('of the unused tickets of one user, only the newest 32 are valid, also if they were issued at once', async () => {
  const { operator, client, id } = await openSessionFixture(world)
  const ofOwner = await ticketFor(client, id, 'watch')
  const early = [await ticketFor(operator, id, 'watch'), await ticketFor(operator, id, 'watch')]
  const later = await Promise.all(
    Array.from({ length: VALID_AT_A_TIME - 1 }, () => ticketFor(operator, id, 'watch')),
  )
  const { tickets, ticketStore } = world.platform.sessions
  const verdicts = await Promise.all(
    [ofOwner, ...early, ...later].map(async ({ ticket }) => {
      const claims = tickets.read(ticket)
      return claims && (await ticketStore.verdictOf(claims))
    }),
  )
  expect(verdicts).toEqual(['valid', 'superseded', ...Array<string>(VALID_AT_A_TIME).fill('valid')])
  const [superseded, valid] = early.map(({ url, ticket }) => new TestDriver(url, ticket))
  expect(await superseded?.closed).toBe(4408)
  await valid?.state()
  await valid?.close()
})
