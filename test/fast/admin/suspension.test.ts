import { closeCodes } from '@wheelhouse/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSessionFixture, tolerateLatency } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const REASON = 'Two complaints about unsafe driving'
const SUSPENDED = {
  status: 403,
  body: { error: expect.stringContaining(REASON) },
}

let world: World
let second: Awaited<ReturnType<World['addNode']>>
let admin: TestUser
let otherAdmin: TestUser
beforeAll(async () => {
  const ADMIN_EMAILS = 'admin@test.local,user1@test.local'
  world = await createWorld({ bus: 'redis', env: { OPERATOR_GRACE_MS: '500', ADMIN_EMAILS } })
  second = await world.addNode('hub,gateway')
  admin = await world.admin()
  otherAdmin = await world.newUser() // user1@test.local
})
afterAll(() => world[Symbol.asyncDispose]())

const suspend = (user: TestUser, by = admin) =>
  by.post(`/api/admin/users/${user.id}/suspend`, { reason: REASON })
const restore = (user: TestUser, by = admin) => by.post(`/api/admin/users/${user.id}/restore`)
const audited = async (user: TestUser) =>
  (await admin.get(`/api/admin/audit?subject_id=${user.id}`)).body.entries.map(
    ({ action, actor_id, data }: Record<string, unknown>) => ({ action, actor_id, data }),
  )

describe('a suspended user', () => {
  test('is refused with the reason on REST, with tokens and API keys, until an admin restores the user', async () => {
    const user = await world.client()
    const { key } = await user.key()
    expect((await suspend(user)).status).toBe(204)
    for (const credential of [user.token, key]) {
      const reply = await user.request('GET', '/api/auth/profile', undefined, credential)
      expect(reply).toMatchObject(SUSPENDED)
      expect(reply.headers.get('Wheelhouse-Error')).toBe('account_suspended')
    }
    expect((await restore(user)).status).toBe(204)
    for (const credential of [user.token, key])
      expect((await user.request('GET', '/api/client/robots', undefined, credential)).status).toBe(200)
    expect((await audited(user)).slice(0, 2)).toEqual([
      { action: 'user.restored', actor_id: admin.id, data: {} },
      { action: 'user.suspended', actor_id: admin.id, data: { reason: REASON } },
    ])
  })

  test('is disconnected from every hub, which refuses new connections', async () => {
    const user = await world.client()
    const sockets = await Promise.all([world.hubUrl, second.hubUrl].map((url) => user.hub({ url })))
    await suspend(user)
    await waitFor(() => expect(sockets.map(({ socket }) => socket.connected)).toEqual([false, false]))
    for (const url of [world.hubUrl, second.hubUrl]) await expect(user.hub({ url })).rejects.toThrow(REASON)
  })

  test('loses control at every gateway: the robot halts and the session pauses as after a lost operator', async () => {
    const here = await openSessionFixture(world)
    const operator = await world.operator()
    const robot = await world.robot(here.client)
    await tolerateLatency(world, robot.id)
    const link = (await world.connect(robot, second.gatewayUrl)).beat()
    const there = (await operator.post('/api/sessions', { robotId: robot.id })).body.sessionId as string
    for (const driven of [
      { operator: here.operator, id: here.id, link: here.link },
      { operator, id: there, link },
    ]) {
      const unused = await driven.operator.post(`/api/sessions/${driven.id}/ticket`, { part: 'control' })
      expect(unused.status).toBe(201)
      const driver = await world.drive(driven.operator, driven.id)
      await driver.state()
      driver.control()
      await driven.link.next('control')
      await suspend(driven.operator)
      expect(await driver.closed).toBe(closeCodes.notAllowed.code)
      expect(await driven.link.next('stop')).toMatchObject({ latched: false })
      const again = await driven.operator.post(`/api/sessions/${driven.id}/ticket`, { part: 'control' })
      expect(again).toMatchObject(SUSPENDED)
      await waitFor(async () =>
        expect((await here.client.get(`/api/sessions/${driven.id}`)).body).toMatchObject({
          status: 'PAUSED',
          pause_reason: 'operator_lost',
        }),
      )
    }
  })

  test('keeps the robots connected, so that their operators can end open sessions safely', async () => {
    const { client, operator, id, link } = await openSessionFixture(world)
    const driver = await world.drive(operator, id)
    await driver.state()
    await suspend(client)
    expect((await client.get('/api/client/robots')).status).toBe(403)
    driver.control()
    await link.next('control')
    const ended = await operator.patch(`/api/sessions/${id}`, { action: 'end' })
    expect(ended.body).toMatchObject({ status: 'COMPLETED' })
  })

  test('receives no further events: a waiting request ends', async () => {
    const user = await world.client()
    const waiting = user.get('/api/events?after=latest&wait=30')
    await waitFor(() => expect(world.platform.webhooks.longPolling.waitingRequests).toBe(1))
    await suspend(user)
    expect((await waiting).status).toBe(403)
  })

  test('starts no session, also not through an admin, and robots of a suspended owner are not available', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(owner)
    ;(await world.connect(robot)).beat()
    const onBehalf = { robotId: robot.id, operatorId: operator.id }
    await suspend(operator)
    expect((await admin.post('/api/sessions', onBehalf)).status).toBe(400)
    await restore(operator)
    await suspend(owner)
    expect((await operator.get('/api/operator/available-robots')).body.robots).not.toContainEqual(
      expect.objectContaining({ id: robot.id }),
    )
    expect((await operator.post('/api/sessions', { robotId: robot.id })).status).toBe(409)
    await restore(owner)
    expect((await operator.post('/api/sessions', { robotId: robot.id })).status).toBe(201)
  })
})

describe('suspending', () => {
  test('rejects a repetition, an unknown user and an empty reason', async () => {
    const user = await world.newUser()
    const unknown = '/api/admin/users/11111111-1111-4111-8111-111111111111'
    expect((await admin.post(`${unknown}/suspend`, { reason: REASON })).status).toBe(404)
    expect((await admin.post(`${unknown}/restore`)).status).toBe(404)
    expect((await admin.post(`/api/admin/users/${user.id}/suspend`, { reason: ' ' })).status).toBe(400)
    expect((await restore(user)).status).toBe(409)
    expect((await suspend(user)).status).toBe(204)
    expect((await suspend(user)).status).toBe(409)
    expect((await audited(user)).length).toBe(1)
  })

  test('is for admins only, and not of yourself', async () => {
    const [user, other] = [await world.client(), await world.newUser()]
    expect((await suspend(other, user)).status).toBe(403)
    expect((await restore(other, user)).status).toBe(403)
    const reply = await suspend(admin)
    expect(reply.status).toBe(409)
    expect(reply.headers.get('Wheelhouse-Error')).toBe('own_account_suspension')
  })

  test('leaves one admin when two suspend each other at the same time', async () => {
    const replies = await Promise.all([suspend(otherAdmin, admin), suspend(admin, otherAdmin)])
    expect(replies.map(({ status }) => status).sort()).toEqual([204, 403])
    const remaining = replies[0]?.status === 204 ? admin : otherAdmin
    const suspended = remaining === admin ? otherAdmin : admin
    expect((await suspended.get('/api/admin/overview')).status).toBe(403)
    expect((await remaining.get('/api/admin/overview')).status).toBe(200)
    expect((await restore(suspended, remaining)).status).toBe(204)
  })
})
