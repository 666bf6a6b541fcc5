import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectTo } from '../../support/database/sql.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import type { Reply, TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const ask = (fixture: SessionFixture, minutes: unknown = 15, user: TestUser = fixture.client) =>
  user.post(`${fixture.path}/extend`, { additionalMinutes: minutes })
const typesOf = (entries: readonly { type: string }[]) => entries.map(({ type }) => type)
const count = (replies: readonly Reply[], status: number) =>
  replies.filter((reply) => reply.status === status).length

/** Returns the extension requests of a session from the database, oldest first. */
async function requests(fixture: SessionFixture) {
  await using database = await connectTo(world.database.url)
  const { rows } = await database.query(
    `select additional_minutes as minutes, status, decided_at is not null as decided
     from session_extensions where session_id = $1 order by requested_at, id`,
    [fixture.id],
  )
  return rows
}

describe('POST /api/sessions/{id}/extend', () => {
  test('returns a message, appends a session event and notifies only the operator', async () => {
    const fixture = await openSessionFixture(world)
    const reply = await ask(fixture, 15)
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({ message: expect.stringContaining('15') })

    const entry = (await fixture.log()).at(-1)
    expect(entry).toMatchObject({ seq: 2, type: 'extension.requested' })
    expect(entry?.data).toEqual({
      status: 'ACTIVE',
      actor_id: fixture.client.id,
      additional_minutes: 15,
      extension_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    expect(await fixture.notificationsOf(fixture.operator)).toEqual([
      {
        type: 'extension.requested',
        data: {
          session_id: fixture.id,
          robot_id: fixture.robot.id,
          robot_name: expect.any(String),
          additional_minutes: 15,
          extension_id: entry?.data.extension_id,
        },
      },
    ])
    expect(await fixture.notificationsOf(fixture.client)).toEqual([])
    // The planned length is unchanged until the operator approves.
    expect(await fixture.read()).toMatchObject({ status: 'ACTIVE', planned_minutes: null })
  })

  test('is allowed for the client of the session: 403 for others who see it, 404 for strangers', async () => {
    const fixture = await openSessionFixture(world)
    expect(await ask(fixture, 15, fixture.operator)).toMatchObject({ status: 403 })
    expect(await ask(fixture, 15, await world.admin())).toMatchObject({ status: 403 })
    for (const unrelatedUser of [await world.client(), await world.operator(), await world.newUser()]) {
      expect(await ask(fixture, 15, unrelatedUser)).toMatchObject({
        status: 404,
        body: { error: 'Session not found' },
      })
    }
    expect(await requests(fixture)).toEqual([])
  })

  test('returns 409 unless the session is ACTIVE', async () => {
    const fixture = await openSessionFixture(world)
    const refused = { status: 409, body: { error: expect.stringContaining('active') } }
    await fixture.performAction(fixture.operator, 'pause')
    expect(await ask(fixture)).toMatchObject(refused)
    await fixture.performAction(fixture.operator, 'end')
    expect(await ask(fixture)).toMatchObject(refused)

    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString()
    const planned = await fixture.operator.post('/api/sessions', { robotId: fixture.robot.id, scheduledFor })
    const path = `/api/sessions/${planned.body.sessionId}`
    const extend = () => fixture.client.post(`${path}/extend`, { additionalMinutes: 5 })
    expect(await extend()).toMatchObject(refused)
    await fixture.client.patch(path, { action: 'cancel' })
    expect(await extend()).toMatchObject(refused)
    expect(typesOf(await fixture.log())).toEqual(['session.started', 'session.paused', 'session.ended'])
  })

  test('returns 409 while another request is pending', async () => {
    const fixture = await openSessionFixture(world)
    await ask(fixture)
    const second = await ask(fixture, 30)
    expect(second).toMatchObject({ status: 409, body: { error: expect.stringContaining('already pending') } })
    await fixture.performAction(fixture.operator, 'decline_extension')
    expect(await ask(fixture, 30)).toMatchObject({ status: 200 })
  })

  test('many concurrent requests make one request, one log entry, one notification', async () => {
    const fixture = await openSessionFixture(world)
    const replies = await Promise.all(Array.from({ length: 25 }, () => ask(fixture)))
    expect(count(replies, 200)).toBe(1)
    expect(count(replies, 409)).toBe(24)
    expect(await requests(fixture)).toEqual([{ minutes: 15, status: 'REQUESTED', decided: false }])
    expect(typesOf(await fixture.log())).toEqual(['session.started', 'extension.requested'])
    expect(await fixture.notificationsOf(fixture.operator)).toHaveLength(1)
  })

  test('accepts 1 to 480 whole minutes: otherwise 400 with the field name', async () => {
    const fixture = await openSessionFixture(world)
    for (const minutes of [0, -5, 481, 1.5, '15', null, true, [15], 1e21]) {
      const reply = await ask(fixture, minutes)
      expect(reply.status, String(minutes)).toBe(400)
      expect(reply.body).toEqual({ error: expect.stringContaining('additionalMinutes') })
    }
    expect(await fixture.client.post(`${fixture.path}/extend`, {})).toMatchObject({ status: 400 })
    const extra = { additionalMinutes: 5, reason: 'x' }
    expect(await fixture.client.post(`${fixture.path}/extend`, extra)).toMatchObject({ status: 400 })
    for (const minutes of [1, 480]) {
      expect(await ask(fixture, minutes)).toMatchObject({ status: 200 })
      await fixture.performAction(fixture.operator, 'approve_extension')
    }
    expect(await fixture.read()).toMatchObject({ planned_minutes: 481 })
  })
})

describe('PATCH /api/sessions/{id}: an extension', () => {
  test('when approved adds its minutes, also without a planned end and while PAUSED, and notifies the client', async () => {
    const fixture = await openSessionFixture(world)
    await ask(fixture, 15)
    const reply = await fixture.performAction(fixture.operator, 'approve_extension', 'gladly')
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({ status: 'ACTIVE', planned_minutes: 15 })
    const entry = (await fixture.log()).at(-1)
    expect(entry).toMatchObject({
      seq: 3,
      type: 'extension.approved',
      data: {
        status: 'ACTIVE',
        actor_id: fixture.operator.id,
        reason: 'gladly',
        additional_minutes: 15,
        planned_minutes: 15,
        extension_id: expect.any(String),
      },
    })

    await ask(fixture, 30)
    await fixture.performAction(fixture.operator, 'pause')
    expect((await fixture.performAction(fixture.operator, 'approve_extension')).body).toMatchObject({
      status: 'PAUSED',
      planned_minutes: 45,
    })
    expect(await fixture.notificationsOf(fixture.client)).toMatchObject([
      { type: 'extension.approved', data: { additional_minutes: 15, planned_minutes: 15, reason: 'gladly' } },
      { type: 'session.paused' },
      { type: 'extension.approved', data: { additional_minutes: 30, planned_minutes: 45 } },
    ])
    expect(await requests(fixture)).toEqual([
      { minutes: 15, status: 'APPROVED', decided: true },
      { minutes: 30, status: 'APPROVED', decided: true },
    ])
  })

  test('when declined changes only its own status, and notifies the client of the reason', async () => {
    const fixture = await openSessionFixture(world)
    await ask(fixture, 15)
    const reply = await fixture.performAction(fixture.operator, 'decline_extension', 'my shift ends')
    expect(reply).toMatchObject({ status: 200, body: { status: 'ACTIVE', planned_minutes: null } })
    expect((await fixture.log()).at(-1)).toMatchObject({
      type: 'extension.declined',
      data: { reason: 'my shift ends', actor_id: fixture.operator.id },
    })
    expect(await fixture.notificationsOf(fixture.client)).toMatchObject([
      { type: 'extension.declined', data: { reason: 'my shift ends', additional_minutes: 15 } },
    ])
    expect(await requests(fixture)).toEqual([{ minutes: 15, status: 'DECLINED', decided: true }])
  })

  test('can be decided only by the operator of the session, once', async () => {
    const fixture = await openSessionFixture(world)
    await ask(fixture)
    for (const action of ['approve_extension', 'decline_extension']) {
      for (const user of [fixture.client, await world.admin()]) {
        expect(await fixture.performAction(user, action)).toMatchObject({ status: 403 })
      }
      expect(await fixture.performAction(await world.operator(), action)).toMatchObject({ status: 404 })
    }
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        fixture.performAction(fixture.operator, index % 2 ? 'approve_extension' : 'decline_extension'),
      ),
    )
    expect(count(replies, 200)).toBe(1)
    expect(count(replies, 409)).toBe(19)
    expect(await fixture.log()).toHaveLength(3)
    expect(await fixture.performAction(fixture.operator, 'approve_extension')).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('No extension request') },
    })
  })

  test('that is pending expires when the session ends, regardless of the actor', async () => {
    for (const ender of ['client', 'operator'] as const) {
      const fixture = await openSessionFixture(world)
      await ask(fixture)
      await fixture.performAction(fixture[ender], 'end')
      expect(await requests(fixture)).toEqual([{ minutes: 15, status: 'EXPIRED', decided: true }])
      expect(await fixture.performAction(fixture.operator, 'approve_extension')).toMatchObject({
        status: 409,
      })
      expect(typesOf(await fixture.log())).toEqual([
        'session.started',
        'extension.requested',
        'session.ended',
      ])
      expect(await fixture.read()).toMatchObject({ planned_minutes: null })
    }
  })

  test('requested while the session ends is rejected or expires, and is never pending in an ended session', async () => {
    for (let round = 0; round < 15; round++) {
      const fixture = await openSessionFixture(world)
      const [asked, approved, ended] = await Promise.all([
        ask(fixture),
        fixture.performAction(fixture.operator, 'approve_extension'),
        fixture.performAction(fixture.operator, 'end'),
      ])
      expect(ended.status).toBe(200)
      expect([200, 409]).toContain(asked.status)
      expect([200, 409]).toContain(approved.status)
      const found = await requests(fixture)
      expect(found).toHaveLength(asked.status === 200 ? 1 : 0)
      if (found[0]) expect(found[0].status).toBe(approved.status === 200 ? 'APPROVED' : 'EXPIRED')
      const entries = await fixture.log()
      expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
      expect(entries.at(-1)?.type).toBe('session.ended')
      await fixture.link.close()
    }
  })
})

test('both sides see the request and the decision of an extension live over the hub', async () => {
  const fixture = await openSessionFixture(world)
  const [client, operator] = [await fixture.client.hub(), await fixture.operator.hub()]
  for (const socket of [client, operator]) await socket.send('session:watch', { session_id: fixture.id })
  await ask(fixture, 20)
  await operator.saw('notification', { type: 'extension.requested' })
  await operator.saw('session:event', { type: 'extension.requested', seq: 2 })
  const decision = { session_id: fixture.id, action: 'approve_extension' }
  expect(await operator.send('session:action', decision)).toMatchObject({
    ok: true,
    session: { planned_minutes: 20 },
  })
  await client.saw('notification', { type: 'extension.approved' })
  await client.saw('session:event', { type: 'extension.approved', seq: 3 })
  expect(await operator.send('session:action', decision)).toMatchObject({ ok: false, status: 409 })
})
