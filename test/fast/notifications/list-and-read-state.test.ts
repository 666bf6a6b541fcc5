import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HubClient } from '../../../packages/sdk/hub-client.ts'
import type { UnreadUpdate } from '../../../packages/sdk/unread-count.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const NOTIFICATIONS = '/api/notifications'

let world: World
let admin: TestUser
beforeAll(async () => {
  world = await createWorld()
  admin = await world.admin()
})
afterAll(() => world[Symbol.asyncDispose]())

const list = async (user: TestUser, query = '') => (await user.get(NOTIFICATIONS + query)).body.notifications
const idsOf = (notifications: { id: string }[]) => notifications.map((item) => item.id)
/** Returns the ids from `from` down to `to`, in the order of the list. */
const down = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, index) => String(from - index))

/** Creates an operator with `count` notifications about certifications of different types. */
async function notified(count: number): Promise<TestUser> {
  const operator = await world.operator()
  await world.platform.core.transact(async (tx) => {
    for (let index = 0; index < count; index++) {
      const data = { certification_id: randomUUID(), robot_type: `type-${index}` }
      await tx.notify(new Date(), [{ userId: operator.id, type: 'certification.approved', data }])
    }
  })
  return operator
}

/** Creates an operator with `count` stored notifications, of which only the newest was written by the platform. */
async function notifiedOften(count: number): Promise<TestUser> {
  const operator = await world.operator()
  const { db } = world.platform.core
  const rows = Array.from({ length: count - 1 }, (_, index) => ({
    user_id: operator.id,
    seq: index + 1,
    type: 'session.ended',
    data: {},
  }))
  await db.insertInto('notifications').values(rows).execute()
  const counts = { notification_seq: count - 1, notification_unread: count - 1 }
  await db.updateTable('users').set(counts).where('id', '=', operator.id).execute()
  const { body } = await operator.post('/api/operator/certifications', { robot_type: 'newest' })
  expect((await admin.post(`/api/admin/certifications/${body.id}/approve`)).status).toBe(200)
  return operator
}

describe('the list', () => {
  test('is sorted newest first, numbered from 1, and paged with `before`', async () => {
    const operator = await notifiedOften(55)
    const { status, body } = await operator.get(NOTIFICATIONS)
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['notifications', 'unread_count'])
    expect(idsOf(body.notifications)).toEqual(down(55, 6)) // 50 by default
    expect(body.notifications[0]).toEqual({
      id: '55',
      type: 'certification.approved',
      created_at: expect.stringMatching(/Z$/),
      read_at: null,
      data: { certification_id: expect.any(String), robot_type: 'newest' },
    })
    expect(idsOf(await list(operator, '?limit=100'))).toEqual(down(55, 1))
    expect(idsOf(await list(operator, '?limit=2'))).toEqual(['55', '54'])
    expect(idsOf(await list(operator, '?before=6'))).toEqual(down(5, 1))
    expect(idsOf(await list(operator, '?before=40&limit=10'))).toEqual(down(39, 30))
    expect(await list(operator, '?before=1')).toEqual([])
    expect(idsOf(await list(operator, '?before=999999999&limit=1'))).toEqual(['55'])
  })

  test('contains only the caller’s notifications', async () => {
    const [first, second] = [await notified(2), await notified(1)]
    expect(idsOf(await list(first))).toEqual(['2', '1'])
    expect(idsOf(await list(second))).toEqual(['1'])
    expect(await list(await world.newUser())).toEqual([])
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

describe('marking a notification as read', () => {
  test('sets its time; a repetition changes nothing', async () => {
    const operator = await notified(2)
    const before = Date.now()
    const first = await operator.post(`${NOTIFICATIONS}/1/read`)
    expect(first).toMatchObject({ status: 200, body: { id: '1', type: 'certification.approved' } })
    const readAt = first.body.read_at
    expect(Date.parse(readAt)).toBeGreaterThanOrEqual(before)

    // Waits for a later millisecond, so that an overwritten time would differ.
    await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(Date.parse(readAt))
    const replies = await Promise.all([1, 2, 3].map(() => operator.post(`${NOTIFICATIONS}/1/read`)))
    for (const again of replies) expect(again).toMatchObject({ status: 200, body: first.body })
    expect(await list(operator)).toMatchObject([
      { id: '2', read_at: null },
      { id: '1', read_at: readAt },
    ])
  })

  test('returns 404 for an unknown id and for another user’s notification', async () => {
    const [operator, otherOperator] = [await notified(1), await notified(2)]
    expect(await operator.post(`${NOTIFICATIONS}/2/read`)).toMatchObject({
      status: 404,
      body: { error: 'Notification not found' },
    })
    expect(await list(otherOperator)).toMatchObject([{ read_at: null }, { read_at: null }])
    for (const id of ['0', 'x', '-1', '1.0', '00000000-0000-4000-8000-000000000000']) {
      const reply = await operator.post(`${NOTIFICATIONS}/${id}/read`)
      expect(reply, id).toMatchObject({ status: 400, body: { error: expect.stringContaining('id') } })
    }
  })
})

test('concurrent notifications to many users leave no gaps in any user’s numbers', async () => {
  const users = await Promise.all([world.client(), world.operator(), world.operator()])
  // Each transaction notifies two users, in either order.
  await Promise.all(
    Array.from({ length: 30 }, (_, round) => {
      const first = users[round % 3] as TestUser
      const second = users[(round + 1 + (round % 2)) % 3] as TestUser
      const both = [first, second].map(({ id }) => ({ userId: id, type: 'session.ended' as const, data: {} }))
      return world.platform.core.transact((tx) => tx.notify(new Date(), both))
    }),
  )
  for (const user of users) expect(idsOf(await list(user, '?limit=100'))).toEqual(down(20, 1))
})

test('the hub returns missed notifications oldest first and pushes new ones', async () => {
  const operator = await notified(3)
  const socket = await operator.hub()
  const missed = await socket.send('notifications:since', { after: '1' })
  expect(missed).toMatchObject({ ok: true, head: '3', notifications: [{ id: '2' }, { id: '3' }] })

  const { body } = await operator.post('/api/operator/certifications', { robot_type: 'live' })
  await admin.post(`/api/admin/certifications/${body.id}/reject`, { reason: 'Not yet' })
  const live = await socket.saw('notification', { id: '4', type: 'certification.rejected' })
  const [listed] = await list(operator, '?limit=1')
  expect({ ...live, read_at: null }).toEqual(listed)
})

describe('read state', () => {
  const unread = async (user: TestUser) => (await user.get(NOTIFICATIONS)).body.unread_count as number
  const readUpTo = (user: TestUser, upTo: string) => user.post(`${NOTIFICATIONS}/read`, { up_to: upTo })

  test('the list returns the number of unread notifications and can be limited to them', async () => {
    const operator = await notified(5)
    expect(await unread(operator)).toBe(5)
    await operator.post(`${NOTIFICATIONS}/2/read`)
    await operator.post(`${NOTIFICATIONS}/2/read`)
    await operator.post(`${NOTIFICATIONS}/4/read`)
    expect(await unread(operator)).toBe(3)
    expect(idsOf(await list(operator, '?unread=true'))).toEqual(['5', '3', '1'])
    expect(idsOf(await list(operator, '?unread=true&before=5&limit=1'))).toEqual(['3'])
    for (const value of ['false', '', '1']) {
      expect(await operator.get(`${NOTIFICATIONS}?unread=${value}`), value).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('unread') },
      })
    }
  })

  test('marks all up to a notification; already read ones keep their time', async () => {
    const operator = await notified(6)
    const { read_at } = (await operator.post(`${NOTIFICATIONS}/2/read`)).body
    await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(Date.parse(read_at))
    expect(await readUpTo(operator, '4')).toMatchObject({
      status: 200,
      body: { up_to: '4', unread_count: 2 },
    })
    const all = await list(operator)
    expect(all.map((item: { read_at: string | null }) => item.read_at !== null)).toEqual(
      [false, false, true, true, true, true], // 6 down to 1
    )
    expect(all.at(-2).read_at).toBe(read_at)
    expect((await readUpTo(operator, '4')).body).toEqual({ up_to: '4', unread_count: 2 })
    expect((await readUpTo(operator, '999999999')).body).toEqual({ up_to: '6', unread_count: 0 })
  })

  test('is separate for each user', async () => {
    const [reader, otherUser] = [await notified(2), await notified(2)]
    await readUpTo(reader, '999999999')
    expect(await unread(otherUser)).toBe(2)
    expect((await readUpTo(await world.newUser(), '7')).body).toEqual({ up_to: '0', unread_count: 0 })
  })

  test.each([{}, { up_to: '' }, { up_to: 4 }, { up_to: '0' }, { up_to: '1', id: '1' }, { up_to: '1e3' }])(
    'answers 400 to %j',
    async (body) => {
      const reply = await admin.post(`${NOTIFICATIONS}/read`, body)
      expect(reply).toMatchObject({ status: 400, body: { error: expect.any(String) } })
    },
  )

  test('marks more notifications than one transaction can, with the correct count', async () => {
    const operator = await notifiedOften(3_000)
    expect((await readUpTo(operator, '2500')).body).toEqual({ up_to: '2500', unread_count: 500 })
    expect(idsOf(await list(operator, '?unread=true&limit=2'))).toEqual(['3000', '2999'])
    expect(await list(operator, '?unread=true&before=2501')).toEqual([])
  })

  test('the count stays correct when reads and new notifications are concurrent', async () => {
    const operator = await notifiedOften(30)
    const decide = async (index: number) => {
      const { body } = await operator.post('/api/operator/certifications', { robot_type: `more-${index}` })
      await admin.post(`/api/admin/certifications/${body.id}/reject`, { reason: 'Not yet' })
    }
    await Promise.all([
      ...Array.from({ length: 10 }, (_, index) => decide(index)),
      ...Array.from({ length: 20 }, (_, index) => operator.post(`${NOTIFICATIONS}/${index + 1}/read`)),
      ...[10, 15, 20, 25].map((upTo) => readUpTo(operator, String(upTo))),
    ])
    expect(await unread(operator)).toBe(15)
    expect(idsOf(await list(operator, '?unread=true'))).toEqual(down(40, 26))
  })

  test('is sent to all sockets of the user and to no other user', async () => {
    const [operator, otherOperator] = [await notified(3), await notified(3)]
    const [first, second, foreign] = await Promise.all([operator.hub(), operator.hub(), otherOperator.hub()])
    await operator.post(`${NOTIFICATIONS}/3/read`)
    for (const socket of [first, second]) {
      await socket.saw('notification:read', { id: '3', unread: 2, head: '3' })
    }
    await operator.post(`${NOTIFICATIONS}/3/read`) // already read: no event
    await readUpTo(operator, '999999999')
    for (const socket of [first, second]) {
      await socket.saw('notification:read', { up_to: '3', unread: 0, read_at: expect.any(String) })
      expect(socket.of('notification:read')).toHaveLength(2)
    }
    await world.drained()
    expect(foreign.of('notification:read')).toEqual([])
    expect(await first.send('notifications:since', { after: '2' })).toMatchObject({ head: '3', unread: 0 })
  })

  test('HubClient counts new, read and missed notifications', async () => {
    const operator = await notified(2)
    const hub = new HubClient({
      url: world.hubUrl,
      token: operator.token,
      reconnect: { baseMs: 5, maxMs: 20 },
    })
    const seen: UnreadUpdate[] = []
    try {
      await Promise.all([hub.watchUnread((update) => seen.push(update)), hub.connect()])
      expect(seen).toEqual([{ unread: 2 }])
      const { body } = await operator.post('/api/operator/certifications', { robot_type: 'counted' })
      await admin.post(`/api/admin/certifications/${body.id}/reject`, { reason: 'Not yet' })
      await waitFor(() => expect(seen.at(-1)).toEqual({ unread: 3 }))
      await operator.post(`${NOTIFICATIONS}/2/read`)
      await waitFor(() => expect(seen.at(-1)).toMatchObject({ unread: 2, read: { id: '2' } }))
      await readUpTo(operator, '3')
      await waitFor(() => expect(seen.at(-1)).toMatchObject({ unread: 0, read: { up_to: '3' } }))
      expect(seen).toHaveLength(4)
    } finally {
      hub.close()
    }
  })
})

describe('push: false', () => {
  const prefer = (user: TestUser, preferences: object) =>
    user.post('/api/auth/profile', { notification_preferences: preferences })
  /** Rejects a certification. An approval would change the user's permissions and so reconnect their sockets. */
  const decide = async (user: TestUser, type: string) => {
    const { body } = await user.post('/api/operator/certifications', { robot_type: type })
    expect(
      (await admin.post(`/api/admin/certifications/${body.id}/reject`, { reason: 'Not yet' })).status,
    ).toBe(200)
  }

  test('pushes nothing; notifications are stored, listed, counted and returned by notifications:since', async () => {
    const operator = await notified(1)
    await world.drained() // a push that was due before the change still happens
    await prefer(operator, { push: false })
    const socket = await operator.hub()
    await decide(operator, 'silent')
    await world.drained()
    expect(idsOf(await list(operator))).toEqual(['2', '1'])
    expect(await socket.send('notifications:since', { after: '1' })).toMatchObject({
      head: '2',
      unread: 2,
      notifications: [{ id: '2' }],
    })
    await prefer(operator, { push: true })
    await decide(operator, 'loud')
    await socket.saw('notification', { id: '3' })
    expect(idsOf(socket.of('notification'))).toEqual(['3'])
  })

  test('also applies to a remote stop; a watched session still reports it', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    await prefer(owner, { push: false })
    const robot = await world.robot(owner)
    ;(await world.connect(robot)).beat()
    const session = await waitFor(async () => {
      const started = await operator.post('/api/sessions', { robotId: robot.id })
      expect(started.status).toBe(201)
      return started.body.sessionId as string
    })
    const [ownerSocket, operatorSocket] = await Promise.all([owner.hub(), operator.hub()])
    await ownerSocket.send('session:watch', { session_id: session })
    await operator.patch(`/api/sessions/${session}`, { action: 'emergency_stop', reason: 'smoke' })
    await operatorSocket.saw('notification', { type: 'session.stopped' })
    await ownerSocket.saw('session:event', { type: 'session.stopped' })
    expect(ownerSocket.of('notification')).toEqual([])
    expect((await list(owner))[0]).toMatchObject({ type: 'session.stopped', read_at: null })
    await operator.patch(`/api/sessions/${session}`, { action: 'end' })
  })

  test('still sends the read state', async () => {
    const operator = await notified(1)
    await prefer(operator, { push: false })
    const socket = await operator.hub()
    await operator.post(`${NOTIFICATIONS}/1/read`)
    await socket.saw('notification:read', { id: '1', unread: 0 })
  })
})
