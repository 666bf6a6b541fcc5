import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openScene, type Scene } from './support/cast.ts'
import type { Person, Reply } from './support/person.ts'
import { connectTo } from './support/sql.ts'
import { createWorld, type World } from './support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const ask = (scene: Scene, minutes: unknown = 15, person: Person = scene.client) =>
  person.post(`${scene.path}/extend`, { additionalMinutes: minutes })
const typesOf = (entries: readonly { type: string }[]) => entries.map(({ type }) => type)
const count = (replies: readonly Reply[], status: number) =>
  replies.filter((reply) => reply.status === status).length

/** The requests of a session as the database has them, oldest first. */
async function requests(scene: Scene) {
  await using database = await connectTo(world.database.url)
  const { rows } = await database.query(
    `select additional_minutes as minutes, status, decided_at is not null as decided
     from session_extensions where session_id = $1 order by requested_at, id`,
    [scene.id],
  )
  return rows
}

describe('POST /api/sessions/{id}/extend', () => {
  test('answers a message, is recorded as a session event and notifies the operator, and no one else', async () => {
    const scene = await openScene(world)
    const reply = await ask(scene, 15)
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({ message: expect.stringContaining('15') })

    const entry = (await scene.log()).at(-1)
    expect(entry).toMatchObject({ seq: 2, type: 'extension.requested' })
    expect(entry?.data).toEqual({
      ...{ status: 'ACTIVE', actor_id: scene.client.id, additional_minutes: 15 },
      extension_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    expect(await scene.told(scene.operator)).toEqual([
      {
        type: 'extension.requested',
        data: {
          ...{ session_id: scene.id, robot_id: scene.robot.id, robot_name: expect.any(String) },
          ...{ additional_minutes: 15, extension_id: entry?.data.extension_id },
        },
      },
    ])
    expect(await scene.told(scene.client)).toEqual([])
    // Nothing is longer yet: the extension occurs when the operator acts on it.
    expect(await scene.read()).toMatchObject({ status: 'ACTIVE', planned_minutes: null })
  })

  test('is for the client who owns the session: 403 for others who see it, 404 for who does not', async () => {
    const scene = await openScene(world)
    expect(await ask(scene, 15, scene.operator)).toMatchObject({ status: 403 })
    expect(await ask(scene, 15, await world.admin())).toMatchObject({ status: 403 })
    for (const stranger of [await world.client(), await world.operator(), await world.somebody()]) {
      expect(await ask(scene, 15, stranger)).toMatchObject({
        ...{ status: 404, body: { error: 'Session not found' } },
      })
    }
    expect(await requests(scene)).toEqual([])
  })

  test('is a 409 unless the session is ACTIVE', async () => {
    const scene = await openScene(world)
    const refused = { status: 409, body: { error: expect.stringContaining('active') } }
    await scene.act(scene.operator, 'pause')
    expect(await ask(scene)).toMatchObject(refused)
    await scene.act(scene.operator, 'end')
    expect(await ask(scene)).toMatchObject(refused)

    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString()
    const planned = await scene.operator.post('/api/sessions', { robotId: scene.robot.id, scheduledFor })
    const path = `/api/sessions/${planned.body.sessionId}`
    const extend = () => scene.client.post(`${path}/extend`, { additionalMinutes: 5 })
    expect(await extend()).toMatchObject(refused)
    await scene.client.patch(path, { action: 'cancel' })
    expect(await extend()).toMatchObject(refused)
    expect(typesOf(await scene.log())).toEqual(['session.started', 'session.paused', 'session.ended'])
  })

  test('is a 409 while another request waits', async () => {
    const scene = await openScene(world)
    await ask(scene)
    const second = await ask(scene, 30)
    expect(second).toMatchObject({ status: 409, body: { error: expect.stringContaining('already waiting') } })
    await scene.act(scene.operator, 'decline_extension')
    expect(await ask(scene, 30)).toMatchObject({ status: 200 })
  })

  test('fifty times at once makes one request, one entry, one notification', async () => {
    const scene = await openScene(world)
    const replies = await Promise.all(Array.from({ length: 50 }, () => ask(scene)))
    expect(count(replies, 200)).toBe(1)
    expect(count(replies, 409)).toBe(49)
    expect(await requests(scene)).toEqual([{ minutes: 15, status: 'REQUESTED', decided: false }])
    expect(typesOf(await scene.log())).toEqual(['session.started', 'extension.requested'])
    expect(await scene.told(scene.operator)).toHaveLength(1)
  })

  test('takes 1 to 480 whole minutes: else 400 naming the field', async () => {
    const scene = await openScene(world)
    for (const minutes of [0, -5, 481, 1.5, '15', null, true, [15], 1e21]) {
      const reply = await ask(scene, minutes)
      expect(reply.status, String(minutes)).toBe(400)
      expect(reply.body).toEqual({ error: expect.stringContaining('additionalMinutes') })
    }
    expect(await scene.client.post(`${scene.path}/extend`, {})).toMatchObject({ status: 400 })
    const extra = { additionalMinutes: 5, reason: 'x' }
    expect(await scene.client.post(`${scene.path}/extend`, extra)).toMatchObject({ status: 400 })
    for (const minutes of [1, 480]) {
      expect(await ask(scene, minutes)).toMatchObject({ status: 200 })
      await scene.act(scene.operator, 'approve_extension')
    }
    expect(await scene.read()).toMatchObject({ planned_minutes: 481 })
  })
})

describe('PATCH /api/sessions/{id}: an extension', () => {
  test('approved adds its minutes to the plan, also from none and while PAUSED, and the client is told', async () => {
    const scene = await openScene(world)
    await ask(scene, 15)
    const reply = await scene.act(scene.operator, 'approve_extension', 'gladly')
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({ status: 'ACTIVE', planned_minutes: 15 })
    const entry = (await scene.log()).at(-1)
    expect(entry).toMatchObject({
      ...{ seq: 3, type: 'extension.approved' },
      data: {
        ...{ status: 'ACTIVE', actor_id: scene.operator.id, reason: 'gladly' },
        ...{ additional_minutes: 15, planned_minutes: 15, extension_id: expect.any(String) },
      },
    })

    await ask(scene, 30)
    await scene.act(scene.operator, 'pause')
    expect((await scene.act(scene.operator, 'approve_extension')).body).toMatchObject({
      ...{ status: 'PAUSED', planned_minutes: 45 },
    })
    expect(await scene.told(scene.client)).toMatchObject([
      { type: 'extension.approved', data: { additional_minutes: 15, planned_minutes: 15, reason: 'gladly' } },
      { type: 'session.paused' },
      { type: 'extension.approved', data: { additional_minutes: 30, planned_minutes: 45 } },
    ])
    expect(await requests(scene)).toEqual([
      { minutes: 15, status: 'APPROVED', decided: true },
      { minutes: 30, status: 'APPROVED', decided: true },
    ])
  })

  test('declined changes nothing but that, and the client is told why', async () => {
    const scene = await openScene(world)
    await ask(scene, 15)
    const reply = await scene.act(scene.operator, 'decline_extension', 'my shift ends')
    expect(reply).toMatchObject({ status: 200, body: { status: 'ACTIVE', planned_minutes: null } })
    expect((await scene.log()).at(-1)).toMatchObject({
      ...{ type: 'extension.declined', data: { reason: 'my shift ends', actor_id: scene.operator.id } },
    })
    expect(await scene.told(scene.client)).toMatchObject([
      { type: 'extension.declined', data: { reason: 'my shift ends', additional_minutes: 15 } },
    ])
    expect(await requests(scene)).toEqual([{ minutes: 15, status: 'DECLINED', decided: true }])
  })

  test('is decided by the operator of the session alone, once', async () => {
    const scene = await openScene(world)
    await ask(scene)
    for (const action of ['approve_extension', 'decline_extension']) {
      for (const person of [scene.client, await world.admin()]) {
        expect(await scene.act(person, action)).toMatchObject({ status: 403 })
      }
      expect(await scene.act(await world.operator(), action)).toMatchObject({ status: 404 })
    }
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        scene.act(scene.operator, index % 2 ? 'approve_extension' : 'decline_extension'),
      ),
    )
    expect(count(replies, 200)).toBe(1)
    expect(count(replies, 409)).toBe(19)
    expect(await scene.log()).toHaveLength(3)
    expect(await scene.act(scene.operator, 'approve_extension')).toMatchObject({
      ...{ status: 409, body: { error: expect.stringContaining('No extension request') } },
    })
  })

  test('that nobody decided expires with the session, whoever ends it', async () => {
    for (const ender of ['client', 'operator'] as const) {
      const scene = await openScene(world)
      await ask(scene)
      await scene.act(scene[ender], 'end')
      expect(await requests(scene)).toEqual([{ minutes: 15, status: 'EXPIRED', decided: true }])
      expect(await scene.act(scene.operator, 'approve_extension')).toMatchObject({ status: 409 })
      expect(typesOf(await scene.log())).toEqual(['session.started', 'extension.requested', 'session.ended'])
      expect(await scene.read()).toMatchObject({ planned_minutes: null })
    }
  })

  test('asked for while the session ends is refused or expires, and never waits in a session that is over', async () => {
    for (let round = 0; round < 15; round++) {
      const scene = await openScene(world)
      const [asked, approved, ended] = await Promise.all([
        ask(scene),
        scene.act(scene.operator, 'approve_extension'),
        scene.act(scene.operator, 'end'),
      ])
      expect(ended.status).toBe(200)
      expect([200, 409]).toContain(asked.status)
      expect([200, 409]).toContain(approved.status)
      const found = await requests(scene)
      expect(found).toHaveLength(asked.status === 200 ? 1 : 0)
      if (found[0]) expect(found[0].status).toBe(approved.status === 200 ? 'APPROVED' : 'EXPIRED')
      const entries = await scene.log()
      expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
      expect(entries.at(-1)?.type).toBe('session.ended')
      await scene.link.close()
    }
  })
})

test('an extension is asked for and decided live: both sides see it over the hub', async () => {
  const scene = await openScene(world)
  const [client, operator] = [await scene.client.hub(), await scene.operator.hub()]
  for (const socket of [client, operator]) await socket.send('session:watch', { session_id: scene.id })
  await ask(scene, 20)
  await operator.saw('notification', { type: 'extension.requested' })
  await operator.saw('session:event', { type: 'extension.requested', seq: 2 })
  const decision = { session_id: scene.id, action: 'approve_extension' }
  expect(await operator.send('session:action', decision)).toMatchObject({
    ...{ ok: true, session: { planned_minutes: 20 } },
  })
  await client.saw('notification', { type: 'extension.approved' })
  await client.saw('session:event', { type: 'extension.approved', seq: 3 })
  expect(await operator.send('session:action', decision)).toMatchObject({ ok: false, status: 409 })
})
