import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openScene, type Scene } from './support/cast.ts'
import type { Person } from './support/person.ts'
import { createWorld, type World } from './support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const rate = (scene: Scene, body: unknown = { rating: 5 }, person: Person = scene.client) =>
  person.post(`${scene.path}/rate`, body)

async function completed(): Promise<Scene> {
  const scene = await openScene(world)
  await scene.act(scene.operator, 'end')
  return scene
}

describe('POST /api/sessions/{id}/rate', () => {
  test('answers with the session, logs it and notifies the operator', async () => {
    const scene = await completed()
    const reply = await rate(scene, { rating: 4, comment: 'Careful hands.\nThank you' })
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({
      ...{ id: scene.id, status: 'COMPLETED', rating: 4, rating_comment: 'Careful hands.\nThank you' },
    })
    expect(reply.body).toEqual(await scene.read())
    expect(await scene.read(scene.operator)).toMatchObject({
      ...{ rating: 4, rating_comment: 'Careful hands.\nThank you' },
    })
    expect((await scene.log()).at(-1)).toMatchObject({
      ...{ seq: 3, type: 'session.rated' },
      data: {
        ...{ status: 'COMPLETED', actor_id: scene.client.id },
        ...{ rating: 4, comment: 'Careful hands.\nThank you' },
      },
    })
    const told = await scene.told(scene.operator)
    expect(told.at(-1)).toMatchObject({
      ...{ type: 'session.rated', data: { session_id: scene.id, rating: 4 } },
    })
    expect((await scene.told(scene.client)).map(({ type }) => type)).toEqual(['session.ended'])
  })

  test('takes every star from 1 to 5, and a comment without a word is none', async () => {
    for (const [rating, comment] of [
      [1, ''],
      [2, ' \n\t '],
      [3, null],
      [4, undefined],
      [5, 'a'.repeat(2_000)],
    ] as const) {
      const scene = await completed()
      const { status, body } = await rate(scene, { rating, comment })
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
  ])('answers 400 naming %s for %j', async (field, body) => {
    once ??= completed()
    const reply = await rate(await once, body)
    expect(reply).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } })
  })
  let once: Promise<Scene> | undefined

  test('is for clients, and for the one who owns the session', async () => {
    const scene = await completed()
    for (const person of [
      scene.operator,
      await world.operator(),
      await world.somebody(),
      await world.admin(),
    ]) {
      expect(await rate(scene, { rating: 5 }, person)).toMatchObject({ status: 403 })
    }
    expect(await rate(scene, { rating: 5 }, await world.client())).toMatchObject({
      ...{ status: 404, body: { error: 'Session not found' } },
    })
    // An operator who is also a client sees the session, but it is not theirs to rate.
    await scene.operator.post('/api/auth/profile', { role: 'client' })
    expect(await rate(scene, { rating: 5 }, scene.operator)).toMatchObject({ status: 403 })
    expect(await scene.read()).toMatchObject({ rating: null })
  })

  test('is a 409 before the session is COMPLETED, and for one that never will be', async () => {
    const scene = await openScene(world)
    const refused = { status: 409, body: { error: expect.stringContaining('completed session') } }
    expect(await rate(scene)).toMatchObject(refused)
    await scene.act(scene.operator, 'pause')
    expect(await rate(scene)).toMatchObject(refused)
    await scene.act(scene.operator, 'end')
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString()
    const planned = await scene.operator.post('/api/sessions', { robotId: scene.robot.id, scheduledFor })
    const path = `/api/sessions/${planned.body.sessionId}`
    expect(await scene.client.post(`${path}/rate`, { rating: 5 })).toMatchObject(refused)
    await scene.client.patch(path, { action: 'cancel' })
    expect(await scene.client.post(`${path}/rate`, { rating: 5 })).toMatchObject(refused)
    expect(await rate(scene)).toMatchObject({ status: 200 })
  })

  test('is given once: of fifty at once exactly one counts, in session, log and notifications', async () => {
    const scene = await completed()
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => rate(scene, { rating: 1 + (index % 5) })),
    )
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(49)
    const counted = replies.find(({ status }) => status === 200)?.body.rating
    expect(await scene.read()).toMatchObject({ rating: counted })
    expect((await scene.log()).map(({ type }) => type)).toEqual([
      ...['session.started', 'session.ended', 'session.rated'],
    ])
    expect((await scene.told(scene.operator)).filter(({ type }) => type === 'session.rated')).toHaveLength(1)
    const again = await rate(scene, { rating: counted })
    expect(again).toMatchObject({ status: 409, body: { error: expect.stringContaining('already rated') } })
  })

  test('reaches an operator who watches live', async () => {
    const scene = await completed()
    const socket = await scene.operator.hub()
    await socket.send('session:watch', { session_id: scene.id })
    await rate(scene, { rating: 5 })
    const event = await socket.saw('session:event', { type: 'session.rated' })
    expect(event.data).toMatchObject({ rating: 5, comment: null })
    await socket.saw('notification', { type: 'session.rated' })
  })
})
