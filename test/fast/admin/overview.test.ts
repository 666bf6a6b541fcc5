import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const OVERVIEW = '/api/admin/overview'

let world: World
let admin: TestUser
beforeAll(async () => {
  world = await createWorld()
  admin = await world.admin()
})
afterAll(() => world[Symbol.asyncDispose]())

const read = async () => {
  const { status, body } = await admin.get(OVERVIEW)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

test('an empty platform reports only its gateway', async () => {
  const { at, robots, sessions, gateways, not_recorded } = await read()
  expect(not_recorded).toEqual([])
  expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(60_000)
  expect(robots).toEqual({ OFFLINE: 0, AVAILABLE: 0, IN_SESSION: 0 })
  expect(sessions).toEqual({ total: 0, open: [] })
  expect(gateways).toMatchObject([{ draining: false, robots: 0, url: world.gatewayUrl }])
  await waitFor(async () => {
    const [later] = (await read()).gateways
    expect(Date.parse(later.seen_at)).toBeGreaterThan(Date.parse(gateways[0].seen_at))
  })
})

test('counts robots by status, and lists open sessions with operator, robot and stop', async () => {
  const [owner, operator, secondOperator] = [
    await world.client(),
    await world.operator(),
    await world.operator(),
  ]
  const [first, second, idle, , removed] = await Promise.all(
    ['First', 'Second', 'Idle', 'Gone', 'Removed'].map((name) => world.robot(owner, { name })),
  )
  const links = await Promise.all([first, second, idle].map((robot) => world.connect(robot!)))
  for (const link of links) link.beat()
  await owner.delete(`/api/client/robots/${removed!.id}`)
  expect((await read()).robots).toEqual({ OFFLINE: 1, AVAILABLE: 3, IN_SESSION: 0 })

  const start = async (user: TestUser, robot: { id: string }) => {
    const reply = await user.post('/api/sessions', { robotId: robot.id })
    expect(reply.status, JSON.stringify(reply.body)).toBe(201)
    return reply.body.sessionId as string
  }
  const firstSession = await start(operator, first!)
  const secondSession = await start(secondOperator, second!)
  const before = await read()
  expect(before.robots).toEqual({ OFFLINE: 1, AVAILABLE: 1, IN_SESSION: 2 })
  expect(before.gateways).toMatchObject([{ robots: 3 }])
  expect(before.sessions.total).toBe(2)
  expect(before.sessions.open.map(({ id }: { id: string }) => id)).toEqual([secondSession, firstSession])
  expect(before.sessions.open[1]).toEqual({
    id: firstSession,
    status: 'ACTIVE',
    started_at: expect.stringMatching(/Z$/),
    pause_reason: null,
    stop: null,
    robot_id: first!.id,
    robot_name: 'First',
    robot_type: 'testbot',
    robot_connected: true,
    operator_id: operator.id,
    operator_name: operator.name,
    client_id: owner.id,
    client_name: owner.name,
  })

  const stop = { action: 'emergency_stop', reason: 'A person is in its way' }
  expect((await admin.patch(`/api/sessions/${firstSession}`, stop)).status).toBe(200)
  expect((await read()).sessions.open[1]).toMatchObject({
    id: firstSession,
    status: 'PAUSED',
    pause_reason: 'emergency_stop',
    stop: { reason: stop.reason, at: expect.stringMatching(/Z$/), by: admin.id, by_name: admin.name },
  })

  links[1]!.close()
  await waitFor(async () => {
    const [lost] = (await read()).sessions.open
    expect(lost).toMatchObject({ id: secondSession, robot_connected: false })
  })
  await operator.patch(`/api/sessions/${firstSession}`, { action: 'end' })
  await secondOperator.patch(`/api/sessions/${secondSession}`, { action: 'end' })
  const after = await read()
  expect(after.sessions).toEqual({ total: 0, open: [] })
  expect(after.robots).toEqual({ OFFLINE: 2, AVAILABLE: 2, IN_SESSION: 0 })
})

test('lists the newest hundred open sessions and counts all of them', async () => {
  // A worker would end the sessions, because their robots never connect.
  await using manyUsers = await createWorld({ bus: 'redis', env: { ROLES: 'api,hub,gateway' } })
  const { id: owner } = await manyUsers.client()
  await manyUsers.platform.core.db.transaction().execute(async (tx) => {
    const ids = Array.from({ length: 101 }, () => crypto.randomUUID())
    const users = ids.map((id) => ({ id, issuer: 'crowd', subject: id, display_name: 'Driver' }))
    await tx.insertInto('users').values(users).execute()
    const robot = { owner_id: owner, name: 'Many', robot_type: 'testbot', status: 'IN_SESSION' } as const
    const robots = ids.map((id) => ({ ...robot, id, hardware_id: id }))
    await tx.insertInto('robots').values(robots).execute()
    await tx
      .insertInto('robot_presence')
      .values(ids.map((robot_id) => ({ robot_id })))
      .execute()
    const price = { plan_id: 'standard', client_rate_cents_per_minute: 50, operator_share_percent: 70 }
    const sessions = ids.map((id, minute) => {
      const at = new Date(Date.UTC(2026, 0, 1, 0, minute))
      const who = { id, robot_id: id, operator_id: id, client_id: owner }
      return { ...who, ...price, status: 'ACTIVE' as const, started_at: at, active_since: at }
    })
    await tx.insertInto('sessions').values(sessions).execute()
  })
  const { body } = await (await manyUsers.admin()).get(OVERVIEW)
  expect(body.robots.IN_SESSION).toBe(101)
  expect(body.sessions.total).toBe(101)
  expect(body.sessions.open).toHaveLength(100)
  expect(body.sessions.open[0].started_at).toBe('2026-01-01T01:40:00.000Z')
  expect(body.sessions.open[99].started_at).toBe('2026-01-01T00:01:00.000Z')
})
