import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectTo } from '../../support/database/sql.ts'
import type { TestHubSocket } from '../../support/hub/hub-socket.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let admin: TestUser
beforeAll(async () => {
  world = await createWorld()
  admin = await world.admin()
})
afterAll(() => world[Symbol.asyncDispose]())

type Role = 'client' | 'operator'
const drop = (testUser: TestUser, role: string) => testUser.delete(`/api/auth/roles/${role}`)
const take = (testUser: TestUser, role: Role) => testUser.post('/api/auth/profile', { role })
const remove = (user: TestUser, role: Role, by = admin) =>
  by.delete(`/api/admin/users/${user.id}/roles/${role}`)
const restore = (user: TestUser, role: Role, by = admin) =>
  by.post(`/api/admin/users/${user.id}/roles/${role}`)
const rolesOf = async (testUser: TestUser) => (await testUser.get('/api/auth/profile')).body.roles
const audited = async (testUser: TestUser) =>
  (await admin.get(`/api/admin/audit?subject_id=${testUser.id}`)).body.entries.map(
    ({ action, actor_id }: Record<string, string>) => ({ action, actor_id }),
  )

/** Settles when the client is disconnected, also if it reconnects at once. */
const disconnection = ({ socket }: TestHubSocket) =>
  new Promise((resolve) => socket.once('disconnect', resolve))

describe('dropping a role', () => {
  test('takes effect at once and is audited; the user can add it again', async () => {
    const testUser = await world.newUser()
    for (const role of ['client', 'operator'] as const) await take(testUser, role)
    const disconnected = disconnection(await testUser.hub())
    expect((await drop(testUser, 'operator')).status).toBe(204)
    expect(await rolesOf(testUser)).toEqual(['client'])
    expect((await testUser.get('/api/operator/available-robots')).status).toBe(403)
    expect((await drop(testUser, 'operator')).status).toBe(404)
    await disconnected
    expect((await audited(testUser))[0]).toEqual({ action: 'user.role_dropped', actor_id: testUser.id })
    expect((await take(testUser, 'operator')).body.roles).toEqual(['client', 'operator'])
    for (const role of ['admin', 'king', ''])
      expect((await drop(testUser, role)).status).toBeOneOf([400, 404, 405])
  })

  test('is rejected with the reason while the user has sessions or robots in the role', async () => {
    const { operator, client, id, performAction, robotId } = await openSessionFixture(world)
    expect(await drop(operator, 'operator')).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('open or scheduled') },
    })
    expect(await drop(client, 'client')).toMatchObject({ status: 409 })
    await performAction(operator, 'end')
    const planned = await operator.post('/api/sessions', {
      robotId,
      scheduledFor: new Date(Date.now() + 3_600_000).toISOString(),
    })
    expect(await drop(operator, 'operator')).toMatchObject({ status: 409 })
    await operator.patch(`/api/sessions/${planned.body.sessionId}`, { action: 'cancel' })
    expect(await drop(operator, 'operator')).toMatchObject({ status: 204 })
    expect(await drop(client, 'client')).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('robots') },
    })
    await client.delete(`/api/client/robots/${robotId}`)
    expect(await drop(client, 'client')).toMatchObject({ status: 204 })
    await take(operator, 'operator')
    expect((await operator.get(`/api/sessions/${id}`)).body.status).toBe('COMPLETED')
  })

  test('concurrently with a session start or a robot registration: only one succeeds', async () => {
    for (let round = 0; round < 8; round++) {
      const [owner, operator, other] = [await world.client(), await world.operator(), await world.client()]
      const robot = await world.robot(owner)
      await (await world.connect(robot)).beat()
      const [dropped, started] = await Promise.all([
        drop(operator, 'operator'),
        operator.post('/api/sessions', { robotId: robot.id }),
      ])
      expect([dropped.status, started.status], 'operator').toBeOneOf([
        [204, 403],
        [409, 201],
      ])
      const [left, registered] = await Promise.all([
        drop(other, 'client'),
        other.post('/api/client/robots', { name: 'A', robot_type: 'x', hardware_id: `race-${round}` }),
      ])
      expect([left.status, registered.status], 'client').toBeOneOf([
        [204, 403],
        [409, 201],
      ])
    }
  })

  test('waits for a session that is being created', async () => {
    const { operator, client, robotId, performAction } = await openSessionFixture(world)
    await performAction(operator, 'end')
    await using sql = await connectTo(world.database.url)
    await sql.query('begin')
    await sql.query('select from users where id = $1 for key share', [operator.id])
    await sql.query(
      `insert into sessions (id, robot_id, operator_id, client_id, status, scheduled_for, created_at)
       values (gen_random_uuid(), $1, $2, $3, 'PENDING', now() + interval '1 day', now())`,
      [robotId, operator.id, client.id],
    )
    const dropping = drop(operator, 'operator')
    await waitFor(async () => {
      const { rows } = await sql.query('select from pg_locks where not granted')
      expect(rows.length).toBeGreaterThan(0)
    })
    await sql.query('commit')
    expect((await dropping).status).toBe(409)
  })
})

describe('removing a role by an admin', () => {
  test('takes effect on every node; the user is notified and cannot add it again', async () => {
    const operator = await world.operator()
    const disconnected = disconnection(await operator.hub())
    expect((await remove(operator, 'operator')).status).toBe(204)
    await disconnected
    expect(await rolesOf(operator)).toEqual([])
    expect(await take(operator, 'operator')).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining('administrator') },
    })
    expect((await take(operator, 'client')).status).toBe(200)
    expect((await operator.get('/api/notifications')).body.notifications[0]).toMatchObject({
      type: 'role.removed',
      data: { role: 'operator' },
    })
    expect((await audited(operator)).map(({ action }: { action: string }) => action)).toContain(
      'user.role_removed',
    )
    expect((await remove(operator, 'operator')).status).toBe(404)

    expect((await restore(operator, 'operator')).status).toBe(204)
    expect(await rolesOf(operator)).toEqual(['client', 'operator'])
    expect((await restore(operator, 'operator')).status).toBe(404)
  })

  test('lets the open session continue; new sessions cannot start', async () => {
    const { operator, client, robotId, performAction, read } = await openSessionFixture(world)
    expect((await remove(operator, 'operator')).status).toBe(204)
    expect((await performAction(operator, 'pause')).status).toBe(200)
    expect((await performAction(operator, 'resume')).status).toBe(200)
    expect((await read()).status).toBe('ACTIVE')
    expect((await performAction(operator, 'end')).status).toBe(200)
    expect((await operator.post('/api/sessions', { robotId })).status).toBe(403)
    const named = { robotId, operatorId: operator.id }
    expect((await admin.post('/api/sessions', named)).status).toBe(400)

    const other = await world.operator()
    const seen = async () =>
      (await other.get('/api/operator/available-robots')).body.robots.some(
        ({ id }: { id: string }) => id === robotId,
      )
    expect(await seen()).toBe(true)
    expect((await remove(client, 'client')).status).toBe(204)
    expect(await seen()).toBe(false)
    expect(await other.post('/api/sessions', { robotId })).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('out of service') },
    })
    await restore(client, 'client')
    expect((await other.post('/api/sessions', { robotId })).status).toBe(201)
  })

  test('requires an admin', async () => {
    const [operator, other] = [await world.operator(), await world.operator()]
    for (const by of [operator, other]) {
      expect((await remove(operator, 'operator', by)).status).toBe(403)
      expect((await restore(operator, 'operator', by)).status).toBe(403)
    }
    expect((await admin.delete(`/api/admin/users/${crypto.randomUUID()}/roles/client`)).status).toBe(404)
    expect(await rolesOf(operator)).toEqual(['operator'])
  })
})
