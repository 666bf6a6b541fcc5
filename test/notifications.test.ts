import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person } from './support/person.ts'
import { createWorld, type World } from './support/world.ts'

const NOTIFICATIONS = '/api/notifications'

let world: World
let admin: Person
beforeAll(async () => {
  world = await createWorld()
  admin = await world.admin()
})
afterAll(() => world[Symbol.asyncDispose]())

const list = async (person: Person, query = '') =>
  (await person.get(NOTIFICATIONS + query)).body.notifications
const idsOf = (notifications: { id: string }[]) => notifications.map((one) => one.id)
/** Ids from `from` down to `to`, as the list shows them. */
const down = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, index) => String(from - index))

/** An operator with so many notifications: certifications, each of a type of its own, decided by the admin. */
async function notified(count: number): Promise<Person> {
  const operator = await world.operator()
  const ids: string[] = []
  for (let index = 0; index < count; index++) {
    const reply = await operator.post('/api/operator/certifications', { robot_type: `type-${index}` })
    ids.push(reply.body.id)
  }
  for (const id of ids) {
    expect((await admin.post(`/api/admin/certifications/${id}/approve`)).status).toBe(200)
  }
  return operator
}

describe('the list', () => {
  test('is newest first, numbered from 1, and goes back with `before`', async () => {
    const operator = await notified(55)
    const { status, body } = await operator.get(NOTIFICATIONS)
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['notifications'])
    expect(idsOf(body.notifications)).toEqual(down(55, 6)) // 50 by default
    expect(body.notifications[0]).toEqual({
      ...{ id: '55', type: 'certification.approved', created_at: expect.stringMatching(/Z$/), read_at: null },
      data: { certification_id: expect.any(String), robot_type: 'type-54' },
    })
    expect(idsOf(await list(operator, '?limit=100'))).toEqual(down(55, 1))
    expect(idsOf(await list(operator, '?limit=2'))).toEqual(['55', '54'])
    expect(idsOf(await list(operator, '?before=6'))).toEqual(down(5, 1))
    expect(idsOf(await list(operator, '?before=40&limit=10'))).toEqual(down(39, 30))
    expect(await list(operator, '?before=1')).toEqual([])
    expect(idsOf(await list(operator, '?before=999999999&limit=1'))).toEqual(['55'])
  })

  test('holds one’s own only', async () => {
    const [one, two] = [await notified(2), await notified(1)]
    expect(idsOf(await list(one))).toEqual(['2', '1'])
    expect(idsOf(await list(two))).toEqual(['1'])
    expect(await list(await world.somebody())).toEqual([])
  })

  test.each([
    ['before', 'before=0'],
    ['before', 'before=-1'],
    ['before', 'before=x'],
    ['before', 'before='],
    ['before', 'before=1.5'],
    ['before', 'before=9999999999'],
    ['limit', 'limit=0'],
    ['limit', 'limit=101'],
    ['limit', 'limit='],
    ['after', 'after=1'],
  ])('answers 400 naming %s for ?%s', async (field, query) => {
    const reply = await admin.get(`${NOTIFICATIONS}?${query}`)
    expect(reply).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } })
  })
})

describe('reading one', () => {
  test('marks it, and again changes nothing', async () => {
    const operator = await notified(2)
    const before = Date.now()
    const first = await operator.post(`${NOTIFICATIONS}/1/read`)
    expect(first).toMatchObject({ status: 200, body: { id: '1', type: 'certification.approved' } })
    const readAt = first.body.read_at
    expect(Date.parse(readAt)).toBeGreaterThanOrEqual(before)

    // Only a later moment could show that the second reading overwrote the first.
    await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(Date.parse(readAt))
    const replies = await Promise.all([1, 2, 3].map(() => operator.post(`${NOTIFICATIONS}/1/read`)))
    for (const again of replies) expect(again).toMatchObject({ status: 200, body: first.body })
    expect(await list(operator)).toMatchObject([
      { id: '2', read_at: null },
      { id: '1', read_at: readAt },
    ])
  })

  test('that does not exist, or is only somebody else’s, is a 404', async () => {
    const [operator, other] = [await notified(1), await notified(2)]
    expect(await operator.post(`${NOTIFICATIONS}/2/read`)).toMatchObject({
      ...{ status: 404, body: { error: 'Notification not found' } },
    })
    expect(await list(other)).toMatchObject([{ read_at: null }, { read_at: null }])
    for (const id of ['0', 'x', '-1', '1.0', '00000000-0000-4000-8000-000000000000']) {
      const reply = await operator.post(`${NOTIFICATIONS}/${id}/read`)
      expect(reply, id).toMatchObject({ status: 400, body: { error: expect.stringContaining('id') } })
    }
  })
})

test('many at once to many people: every one’s numbers are gapless', async () => {
  const [owner, ...operators] = await Promise.all([
    world.client(),
    ...Array.from({ length: 5 }, () => world.operator()),
  ])
  const robots = await Promise.all(operators.map(() => world.robot(owner)))
  for (const robot of robots) (await world.connect(robot)).beat()
  // Each engagement: started → owner; paused → owner; ended → both. All of them end at the same people.
  const engagement = async (operator: Person, robotId: string) => {
    for (let round = 0; round < 4; round++) {
      const started = await operator.post('/api/sessions', { robotId })
      expect(started.status).toBe(201)
      const path = `/api/sessions/${started.body.sessionId}`
      expect((await operator.patch(path, { action: 'pause' })).status).toBe(200)
      expect((await (round % 2 ? owner : operator).patch(path, { action: 'end' })).status).toBe(200)
    }
  }
  await Promise.all(operators.map((operator, index) => engagement(operator, robots[index]?.id as string)))

  expect(idsOf(await list(owner, '?limit=100'))).toEqual(down(60, 1))
  for (const operator of operators) expect(idsOf(await list(operator))).toEqual(down(4, 1))
})

test('over the hub, what was missed comes oldest first, and what happens comes live', async () => {
  const operator = await notified(3)
  const socket = await operator.hub()
  const missed = await socket.send('notifications:since', { after: '1' })
  expect(missed).toMatchObject({ ok: true, head: '3', notifications: [{ id: '2' }, { id: '3' }] })

  const { body } = await operator.post('/api/operator/certifications', { robot_type: 'live' })
  await admin.post(`/api/admin/certifications/${body.id}/reject`)
  const live = await socket.saw('notification', { id: '4', type: 'certification.rejected' })
  const [listed] = await list(operator, '?limit=1')
  expect({ ...live, read_at: null }).toEqual(listed)
})
