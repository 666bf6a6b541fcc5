import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOutboundRetention } from '../../../src/modules/webhooks/retention.ts'
import { openSessionFixture, performAction, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

interface Event {
  readonly id: string
  readonly seq: number
  readonly type: string
  readonly created_at: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary wire data and assert on it
  readonly data: any
}

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const read = async (user: TestUser, query = '') => {
  const reply = await user.get(`/api/events${query}`)
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  return reply.body as { events: Event[]; next: string; more: boolean }
}
/** Resolves when the fan-out has no pending events. */
const fannedOut = async () => {
  await world.drained()
  await waitFor(async () => {
    const left = await world.platform.core.db.selectFrom('outbound_events').select('name').execute()
    expect(left).toEqual([])
  })
}
const typesOf = async (user: TestUser) => (await read(user, '?limit=500')).events.map(({ type }) => type)

describe('a stream', () => {
  test('contains the events of a session for both participants, as the hub emits them, and no other user’s events', async () => {
    const fixture = await openSessionFixture(world, { readEvents: true })
    const [unrelatedUser, admin] = [await world.client(), await world.admin()]
    const hub = await fixture.owner.hub()
    await hub.send('session:watch', { session_id: fixture.id })
    await fixture.operator.post(`${fixture.path}/messages`, { body: 'Careful' })
    await performAction(fixture.operator, fixture.id, 'pause', 'Lunch')
    await performAction(fixture.operator, fixture.id, 'end')
    await fixture.owner.post(`${fixture.path}/rate`, { rating: 5, comment: 'Thank you' })
    await fannedOut()

    const { events, next, more } = await read(fixture.owner)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
    expect([next, more]).toEqual([String(events.length), false])
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
    const log = events.filter(({ data }) => data.session_id === fixture.id)
    expect(log.map(({ data }) => data)).toEqual(
      (await fixture.log()).map((entry) => expect.objectContaining(entry)),
    )
    expect(hub.of('session:event')).toEqual(log.slice(1).map(({ data }) => data))
    const received = (await fixture.owner.get('/api/notifications?limit=100')).body.notifications.reverse()
    const notified = events.filter(({ type }) => type.startsWith('notification.'))
    expect(notified.map(({ type, data }) => [type, { ...data, read_at: null }])).toEqual(
      received.map((item: { type: string }) => [`notification.${item.type}`, item]),
    )
    const ofRobot = events.filter(({ type }) => type === 'robot.status').map(({ data }) => data.status)
    expect(ofRobot).toEqual(['AVAILABLE', 'IN_SESSION', 'AVAILABLE'])

    const others = await read(fixture.operator)
    expect(
      others.events.filter(({ data }) => data.session_id === fixture.id).map(({ data }) => data),
    ).toEqual(log.map(({ data }) => data))
    expect(others.events.some(({ type }) => type === 'robot.status')).toBe(false)
    expect(others.events.at(-1)?.type).toBe('notification.session.rated')
    for (const user of [unrelatedUser, admin]) expect((await read(user)).events).toEqual([])
  })

  test('continues after a cursor, page by page, also with a filter', async () => {
    const fixture = await openSessionFixture(world, { readEvents: true })
    for (const body of ['1', '2', '3', '4', '5'])
      await fixture.operator.post(`${fixture.path}/messages`, { body })
    await fannedOut()
    const all = (await read(fixture.owner)).events
    const paged: Event[] = []
    for (let after = 'oldest', more = true; more; ) {
      const page = await read(fixture.owner, `?after=${after}&limit=2`)
      paged.push(...page.events)
      ;({ next: after, more } = page)
    }
    expect(paged).toEqual(all)
    const chat = await read(fixture.owner, '?types=chat.*&limit=2')
    expect(chat.events.map(({ data }) => data.data.body)).toEqual(['1', '2'])
    expect(chat.more).toBe(true)
    const rest = await read(fixture.owner, `?types=chat.*&after=${chat.next}`)
    expect(rest.events.map(({ data }) => data.data.body)).toEqual(['3', '4', '5'])
    expect(rest.next, 'skips the events that the filter excludes').toBe(String(all.length))
    const two = await read(fixture.owner, '?types=robot.status,session.started')
    expect(new Set(two.events.map(({ type }) => type))).toEqual(new Set(['robot.status', 'session.started']))
    expect(await read(fixture.owner, '?after=latest')).toEqual({
      events: [],
      next: String(all.length),
      more: false,
    })
    for (const bad of [
      'after=-1',
      'after=x',
      'after=01',
      'types=',
      'types=nothing',
      'limit=501',
      'wait=31',
    ]) {
      expect((await fixture.owner.get(`/api/events?${bad}`)).status, bad).toBe(400)
    }
    await performAction(fixture.operator, fixture.id, 'end')
  })

  test('contains notifications even if the user turned push off', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    await owner.post('/api/auth/profile', { notification_preferences: { push: false } })
    await read(owner)
    const robot = await world.robot(owner)
    ;(await world.connect(robot)).beat()
    const hub = await owner.hub()
    const id = await start(operator, robot.id)
    await fannedOut()
    expect(await typesOf(owner)).toContain('notification.session.started')
    expect(hub.of('notification')).toEqual([])
    await performAction(operator, id, 'end')
  })

  test('returns 410 for a cursor before the oldest or after the newest event', async () => {
    const fixture = await openSessionFixture(world, { readEvents: true })
    for (const body of ['1', '2', '3']) await fixture.operator.post(`${fixture.path}/messages`, { body })
    await fannedOut()
    const { events, next } = await read(fixture.owner)
    const head = Number(next)
    const {
      core: { db },
    } = world.platform
    const kept = createOutboundRetention({ db, now: () => new Date(), limits: { eventsPerUser: 3 } })
    await kept.removeOld()
    const missing = await fixture.owner.get('/api/events?after=1')
    expect(missing.status).toBe(410)
    expect(missing.body.error).toContain(`up to ${head - 3}`)
    expect((await read(fixture.owner, `?after=${head - 3}`)).events).toEqual(events.slice(-3))
    expect((await read(fixture.owner)).events, 'the oldest stored events').toEqual(events.slice(-3))
    expect((await fixture.owner.get(`/api/events?after=${head + 1}&wait=5`)).status).toBe(410)

    const inTwoWeeks = () => new Date(Date.now() + 14.5 * 24 * 3_600_000)
    await createOutboundRetention({ db, now: inTwoWeeks }).removeOld()
    expect(await read(fixture.owner)).toEqual({ events: [], next, more: false })
    expect((await fixture.owner.get(`/api/events?after=${head - 1}`)).status).toBe(410)
    await fixture.operator.post(`${fixture.path}/messages`, { body: '4' })
    await waitFor(async () => expect((await read(fixture.owner, `?after=${next}`)).events).toHaveLength(1))
    await performAction(fixture.operator, fixture.id, 'end')
  })

  test('accepts a domain event about thousands of robots and skips unknown users', async () => {
    const owners = [await world.client(), await world.client()] as const
    for (const owner of owners) await read(owner)
    const robots = Array.from({ length: 3_000 }, (_, index) => ({
      robot_id: crypto.randomUUID(),
      status: 'OFFLINE',
      last_heartbeat: null,
      robot_type: 'many',
      owner_id: index % 10 === 0 ? crypto.randomUUID() : owners[index % 2]?.id,
    }))
    const payload = JSON.stringify({ robots })
    await world.platform.core.db.insertInto('outbox').values({ name: 'robots.status', payload }).execute()
    await waitFor(async () => expect((await read(owners[1], '?limit=1')).more).toBe(true))
    const seen: string[] = []
    for (let after = '0', more = true; more; ) {
      const page = await read(owners[1], `?after=${after}&limit=500`)
      seen.push(...page.events.map(({ data }) => data.robot_id))
      ;({ next: after, more } = page)
    }
    expect(seen).toEqual(
      robots.filter(({ owner_id }) => owner_id === owners[1].id).map(({ robot_id }) => robot_id),
    )
  })

  test('is readable with an API key until it is revoked', async () => {
    const owner = await world.client()
    const { id, key } = await owner.key()
    const waiting = owner.request('GET', '/api/events?wait=30', undefined, key)
    await waitFor(() => expect(world.platform.webhooks.longPolling.waitingRequests).toBe(1))
    await owner.delete(`/api/auth/api-keys/${id}`)
    expect((await waiting).status).toBe(401)
  })
})

describe('a subscription', () => {
  /** Returns the events that are stored for a user. */
  const storedOf = async (user: TestUser) =>
    await world.platform.core.db
      .selectFrom('user_events')
      .select(['seq', 'type'])
      .where('user_id', '=', user.id)
      .execute()
  const inDays = (days: number) => () => new Date(Date.now() + days * 24 * 3_600_000)
  const cleanUpIn = (days: number) =>
    createOutboundRetention({ db: world.platform.core.db, now: inDays(days) }).removeOld()

  test('whose row is gone leaves events that cannot be removed: the clean-up ends', async () => {
    const { owner, operator, path, id } = await openSessionFixture(world, { readEvents: true })
    await operator.post(`${path}/messages`, { body: 'kept' })
    await fannedOut()
    const { db } = world.platform.core
    await db.deleteFrom('event_streams').where('user_id', '=', owner.id).execute()
    await cleanUpIn(15)
    expect(await storedOf(owner)).not.toEqual([])
    await db.deleteFrom('user_events').where('user_id', '=', owner.id).execute()
    await performAction(operator, id, 'end')
  })

  test('begins with the first read: before it no event of the user is stored, after it every event', async () => {
    const fixture = await openSessionFixture(world)
    const { owner, operator } = fixture
    const send = (body: string) => operator.post(`${fixture.path}/messages`, { body })
    await send('before')
    await fannedOut()
    expect([await storedOf(owner), await storedOf(operator)]).toEqual([[], []])

    expect(await read(owner)).toEqual({ events: [], next: '0', more: false })
    await send('after')
    await waitFor(async () => expect(await typesOf(owner)).toEqual(['chat.message']))
    expect(await storedOf(operator), 'the other participant does not read').toEqual([])
    await performAction(operator, fixture.id, 'end')
  })

  test('ends after 15 days without a read. An old cursor then gets status 410 instead of a gap', async () => {
    const fixture = await openSessionFixture(world, { readEvents: true })
    const { owner, operator } = fixture
    const send = (body: string) => operator.post(`${fixture.path}/messages`, { body })
    await send('1')
    await fannedOut()
    const { next } = await read(owner)

    await cleanUpIn(14)
    await send('2')
    await waitFor(async () => expect((await read(owner, `?after=${next}`)).events).toHaveLength(1))

    await cleanUpIn(16)
    await send('missed')
    await fannedOut()
    expect(await storedOf(owner)).toEqual([])
    const gone = await owner.get(`/api/events?after=${Number(next) + 1}`)
    expect(gone.status).toBe(410)
    // That request has subscribed the user again.
    await send('3')
    await waitFor(async () => {
      const { events } = await read(owner)
      expect(events).toMatchObject([{ seq: Number(next) + 3, data: { data: { body: '3' } } }])
    })
    await performAction(operator, fixture.id, 'end')
  })

  test('is not affected by domain events that are not valid', async () => {
    const fixture = await openSessionFixture(world, { readEvents: true })
    const { db } = world.platform.core
    const payloads = [
      null,
      [],
      'text',
      { session_id: 7 },
      { session_id: 'x' },
      { user_id: {} },
      { robots: 1 },
    ]
    await db
      .insertInto('outbox')
      .values(
        [...payloads, { robots: [null, { owner_id: 'x' }] }].flatMap((payload) =>
          ['session.event', 'notification.quiet', 'robots.log'].map((name) => ({
            name,
            payload: JSON.stringify(payload),
          })),
        ),
      )
      .execute()
    await fixture.operator.post(`${fixture.path}/messages`, { body: 'valid' })
    await waitFor(async () => expect(await typesOf(fixture.owner)).toContain('chat.message'))
    world.errors.splice(0) // the hub reports events that it cannot publish
    await performAction(fixture.operator, fixture.id, 'end')
  })
})

describe('a waiting request', () => {
  test('returns when a matching event occurs, and returns an empty page after the time limit', async () => {
    const fixture = await openSessionFixture(world, { readEvents: true })
    await fannedOut()
    const { next } = await read(fixture.owner)
    const waiting = read(fixture.owner, `?after=${next}&wait=30&types=chat.*`)
    await performAction(fixture.operator, fixture.id, 'pause')
    await performAction(fixture.operator, fixture.id, 'resume')
    await fixture.operator.post(`${fixture.path}/messages`, { body: 'now' })
    expect((await waiting).events).toMatchObject([{ type: 'chat.message', data: { data: { body: 'now' } } }])
    await performAction(fixture.operator, fixture.id, 'end')
    await fannedOut()
    const idle = await read(fixture.owner, '?after=latest&wait=1')
    expect(idle.events).toEqual([])
  })

  test('counts toward a limit until the client disconnects', async () => {
    const user = await world.client()
    const headers = { Authorization: `Bearer ${user.token}` }
    const waiting = Array.from({ length: 5 }, () =>
      request(`${world.baseUrl}/api/events?wait=30`, { headers, agent: false })
        .on('error', () => {})
        .end(),
    )
    await waitFor(() => expect(world.platform.webhooks.longPolling.waitingRequests).toBe(5))
    const refused = await user.get('/api/events?wait=30')
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '5'])
    expect((await user.get('/api/events')).status, 'a request without wait').toBe(200)
    for (const sent of waiting) sent.destroy()
    await waitFor(() => expect(world.platform.webhooks.longPolling.waitingRequests).toBe(0))
  })

  test('returns when the process stops', async () => {
    const stoppingWorld = await createWorld()
    const user = await stoppingWorld.client()
    const waiting = user.get('/api/events?wait=30')
    await waitFor(() => expect(stoppingWorld.platform.webhooks.longPolling.waitingRequests).toBe(1))
    await stoppingWorld[Symbol.asyncDispose]()
    expect((await waiting).body).toEqual({ events: [], next: '0', more: false })
  })
})

// test/full/webhooks/event-stream.test.ts commits many transactions in arbitrary order.
test('a reader misses no event of a transaction that began earlier and committed later', async () => {
  const { transact } = world.platform.core
  const user = await world.client()
  await read(user)
  const record = (name: string, commit: Promise<void>) =>
    transact(async (tx) => {
      const notification = { id: '1', type: 'test', data: { name }, created_at: new Date().toISOString() }
      const payload = JSON.stringify({ user_id: user.id, notification })
      await tx.db.insertInto('outbox').values({ name: 'notification', payload }).execute()
      inserted.resolve()
      await commit
    })
  const [inserted, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const earlier = record('earlier', commit.promise)
  await inserted.promise
  await record('later', Promise.resolve())
  const namesAfter = async (cursor: string) => {
    const { events, next } = await read(user, `?after=${cursor}&wait=30`)
    return { names: events.map(({ data }) => data.data.name), next }
  }
  const first = await namesAfter('0')
  expect(first).toEqual({ names: ['later'], next: '1' })
  commit.resolve()
  await earlier
  expect(await namesAfter(first.next)).toEqual({ names: ['earlier'], next: '2' })
})
