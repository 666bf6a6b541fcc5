import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const rate = (fixture: SessionFixture, body: unknown = { rating: 5 }, user: TestUser = fixture.client) =>
  user.post(`${fixture.path}/rate`, body)

async function completed(): Promise<SessionFixture> {
  const fixture = await openSessionFixture(world)
  await fixture.performAction(fixture.operator, 'end')
  return fixture
}

describe('POST /api/sessions/{id}/rate', () => {
  test('returns the session, logs the rating and notifies the operator', async () => {
    const fixture = await completed()
    const reply = await rate(fixture, { rating: 4, comment: 'Careful hands.\nThank you' })
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({
      id: fixture.id,
      status: 'COMPLETED',
      rating: 4,
      rating_comment: 'Careful hands.\nThank you',
    })
    expect(reply.body).toEqual(await fixture.read())
    expect(await fixture.read(fixture.operator)).toMatchObject({
      rating: 4,
      rating_comment: 'Careful hands.\nThank you',
    })
    expect((await fixture.log()).at(-1)).toMatchObject({
      seq: 3,
      type: 'session.rated',
      data: {
        status: 'COMPLETED',
        actor_id: fixture.client.id,
        rating: 4,
        comment: 'Careful hands.\nThank you',
      },
    })
    const notified = await fixture.notificationsOf(fixture.operator)
    expect(notified.at(-1)).toMatchObject({
      type: 'session.rated',
      data: { session_id: fixture.id, rating: 4 },
    })
    expect((await fixture.notificationsOf(fixture.client)).map(({ type }) => type)).toEqual(['session.ended'])
  })

  test('accepts 1 to 5 stars, and turns a blank comment into null', async () => {
    for (const [rating, comment] of [
      [1, ''],
      [2, ' \n\t '],
      [3, null],
      [4, undefined],
      [5, 'a'.repeat(2_000)],
    ] as const) {
      const fixture = await completed()
      const { status, body } = await rate(fixture, { rating, comment })
      expect(status).toBe(200)
      expect(body).toMatchObject({ rating, rating_comment: rating === 5 ? comment : null })
    }
  })

  test.each([
    ['rating', {}],
    ['rating', { rating: 0 }],
    ['rating', { rating: 6 }],
    ['rating', { rating: 4.5 }],
    ['rating', { rating: '5' }],
    ['rating', { rating: null }],
    ['comment', { rating: 5, comment: 'a'.repeat(2_001) }],
    ['comment', { rating: 5, comment: 'a\0b' }],
    ['comment', { rating: 5, comment: '\ud800' }],
    ['comment', { rating: 5, comment: 7 }],
    ['stars', { rating: 5, stars: 5 }],
  ])('returns 400 naming %s for %j', async (field, body) => {
    once ??= completed()
    const reply = await rate(await once, body)
    expect(reply).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } })
  })
  let once: Promise<SessionFixture> | undefined

  test('requires the client role and the client of the session', async () => {
    const fixture = await completed()
    for (const user of [
      fixture.operator,
      await world.operator(),
      await world.newUser(),
      await world.admin(),
    ]) {
      expect(await rate(fixture, { rating: 5 }, user)).toMatchObject({ status: 403 })
    }
    expect(await rate(fixture, { rating: 5 }, await world.client())).toMatchObject({
      status: 404,
      body: { error: 'Session not found' },
    })
    // An operator who is also a client sees the session but may not rate it.
    await fixture.operator.post('/api/auth/profile', { role: 'client' })
    expect(await rate(fixture, { rating: 5 }, fixture.operator)).toMatchObject({ status: 403 })
    expect(await fixture.read()).toMatchObject({ rating: null })
  })

  test('returns 409 before the session is COMPLETED and for a CANCELLED one', async () => {
    const fixture = await openSessionFixture(world)
    const refused = { status: 409, body: { error: expect.stringContaining('completed session') } }
    expect(await rate(fixture)).toMatchObject(refused)
    await fixture.performAction(fixture.operator, 'pause')
    expect(await rate(fixture)).toMatchObject(refused)
    await fixture.performAction(fixture.operator, 'end')
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString()
    const planned = await fixture.operator.post('/api/sessions', { robotId: fixture.robot.id, scheduledFor })
    const path = `/api/sessions/${planned.body.sessionId}`
    expect(await fixture.client.post(`${path}/rate`, { rating: 5 })).toMatchObject(refused)
    await fixture.client.patch(path, { action: 'cancel' })
    expect(await fixture.client.post(`${path}/rate`, { rating: 5 })).toMatchObject(refused)
    expect(await rate(fixture)).toMatchObject({ status: 200 })
  })

  test('succeeds once: of fifty concurrent ratings exactly one counts, in session, log and notifications', async () => {
    const fixture = await completed()
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => rate(fixture, { rating: 1 + (index % 5) })),
    )
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(49)
    const counted = replies.find(({ status }) => status === 200)?.body.rating
    expect(await fixture.read()).toMatchObject({ rating: counted })
    expect((await fixture.log()).map(({ type }) => type)).toEqual([
      'session.started',
      'session.ended',
      'session.rated',
    ])
    expect(
      (await fixture.notificationsOf(fixture.operator)).filter(({ type }) => type === 'session.rated'),
    ).toHaveLength(1)
    const again = await rate(fixture, { rating: counted })
    expect(again).toMatchObject({ status: 409, body: { error: expect.stringContaining('already rated') } })
  })

  test('reaches a subscribed operator live', async () => {
    const fixture = await completed()
    const socket = await fixture.operator.hub()
    await socket.send('session:watch', { session_id: fixture.id })
    await rate(fixture, { rating: 5 })
    const event = await socket.saw('session:event', { type: 'session.rated' })
    expect(event.data).toMatchObject({ rating: 5, comment: null })
    await socket.saw('notification', { type: 'session.rated' })
  })
})
