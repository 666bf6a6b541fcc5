import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { Reply, TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const FIELDS = [
  'id',
  'session_id',
  'seq',
  'sender_id',
  'sender_name',
  'sender_role',
  'body',
  'created_at',
].sort()

let world: World
let owner: TestUser
let operator: TestUser
let robotId: string
let sessionId: string
beforeAll(async () => {
  world = await createWorld()
  ;[owner, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(owner)
  ;(await world.connect(robot)).beat()
  robotId = robot.id
  sessionId = await newSession()
})
afterAll(() => world[Symbol.asyncDispose]())

const pathOf = (id: string) => `/api/sessions/${id}/messages`
const send = (user: TestUser, id: string, body: unknown, clientMessageId?: unknown) =>
  user.post(pathOf(id), { body, ...(clientMessageId !== undefined && { clientMessageId }) })
const list = async (user: TestUser, id: string, query = ''): Promise<Message[]> =>
  (await user.get(pathOf(id) + query)).body.messages
interface Message {
  readonly seq: number
  readonly body: string
}
const bodies = (messages: readonly Message[]) => messages.map((message) => message.body)
const statuses = (replies: readonly Reply[]) => replies.map((reply) => reply.status).sort()
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

let planned = 0
/** Creates a separate session: scheduled, each for another day, so that the test can create many. */
async function newSession(): Promise<string> {
  const scheduledFor = new Date(Date.now() + ++planned * 24 * 3_600_000).toISOString()
  const reply = await operator.post('/api/sessions', { robotId, scheduledFor })
  expect(reply.status).toBe(201)
  return reply.body.sessionId
}
async function activeSession() {
  const { client, operator, id } = await openSessionFixture(world)
  return { client, operator, id }
}

describe('sending', () => {
  test('returns 201 with the message, numbered in the session’s log', async () => {
    const id = await newSession()
    const first = await send(operator, id, 'Hello there\n¿qué tal? 🤖')
    expect(first.status).toBe(201)
    expect(first.body).toEqual({
      id: expect.any(String),
      session_id: id,
      seq: 2,
      sender_id: operator.id,
      sender_name: operator.name,
      sender_role: 'operator',
      body: 'Hello there\n¿qué tal? 🤖',
      created_at: expect.stringMatching(/Z$/),
    })
    const second = await send(owner, id, 'Hi')
    expect(second.body).toMatchObject({ seq: 3, sender_role: 'client', sender_name: owner.name })
    const admin = await world.admin()
    expect((await send(admin, id, 'Anything wrong?')).body).toMatchObject({ seq: 4, sender_role: 'admin' })
    for (const message of await list(owner, id)) expect(Object.keys(message).sort()).toEqual(FIELDS)
    const events = (await owner.get(`/api/sessions/${id}/events`)).body.events
    expect(events.map((event: { type: string }) => event.type)).toEqual([
      'session.scheduled',
      'chat.message',
      'chat.message',
      'chat.message',
    ])
    expect(events[1].data).toEqual(first.body)
  })

  test('works in every status, also after the end of the session', async () => {
    const { client, operator, id } = await activeSession()
    for (const action of ['pause', 'resume', 'end']) {
      await operator.patch(`/api/sessions/${id}`, { action })
      expect(await send(client, id, `after ${action}`)).toMatchObject({ status: 201 })
    }
    expect(bodies(await list(operator, id))).toEqual(['after pause', 'after resume', 'after end'])
  })

  test('accepts 1 to 4000 characters and stores them unchanged', async () => {
    const id = await newSession()
    for (const body of ['x', ' padded ', 'é'.repeat(4_000), '\u0001\u007f\u2028', '</script>', "'; --"]) {
      expect(await send(owner, id, body), JSON.stringify(body.slice(0, 20))).toMatchObject({
        status: 201,
        body: { body },
      })
    }
    expect(bodies(await list(operator, id))).toHaveLength(6)
  })

  test.each([
    ['body', { body: '' }],
    ['body', { body: ' \n\t\u00a0\u3000' }],
    ['body', { body: 'a'.repeat(4_001) }],
    ['body', { body: 'a\0b' }],
    ['body', { body: 'lone \ud83e surrogate' }],
    ['body', { body: '\udd16\ud83e' }],
    ['body', { body: 7 }],
    ['body', { body: null }],
    ['body', {}],
    ['clientMessageId', { body: 'fine', clientMessageId: '' }],
    ['clientMessageId', { body: 'fine', clientMessageId: 'a'.repeat(101) }],
    ['clientMessageId', { body: 'fine', clientMessageId: 'a\0' }],
    ['clientMessageId', { body: 'fine', clientMessageId: 7 }],
    ['client_message_id', { body: 'fine', client_message_id: 'm1' }],
    ['sender_id', { body: 'fine', sender_id: randomUUID() }],
    ['seq', { body: 'fine', seq: 1 }],
  ])('returns 400 naming %s for %j and stores nothing', async (field, body) => {
    const reply = await owner.post(pathOf(sessionId), body)
    expect(reply.status).toBe(400)
    expect(reply.body).toEqual({ error: expect.stringContaining(field) })
    expect(await list(owner, sessionId)).toEqual([])
  })

  test('and reading return 404 to users outside the session', async () => {
    for (const user of [await world.client(), await world.operator(), await world.newUser()]) {
      for (const id of [sessionId, randomUUID()]) {
        const refusals = [await send(user, id, 'psst'), await user.get(pathOf(id))]
        for (const reply of refusals) {
          expect(reply).toMatchObject({ status: 404, body: { error: 'Session not found' } })
        }
      }
    }
    expect(await list(owner, sessionId)).toEqual([])
  })
})

describe('reading', () => {
  test('returns pages after a number, oldest first, the same for both sides', async () => {
    const id = await newSession()
    for (let count = 1; count <= 120; count++) await send(count % 2 ? owner : operator, id, `m${count}`)
    const all = numbers(1, 120).map((count) => `m${count}`)

    for (const user of [owner, operator]) {
      expect(bodies(await list(user, id))).toEqual(all.slice(0, 100)) // the default page
      expect(bodies(await list(user, id, '?limit=200'))).toEqual(all)
      expect(bodies(await list(user, id, '?limit=1'))).toEqual(['m1'])
      expect(bodies(await list(user, id, '?after=101&limit=3'))).toEqual(['m101', 'm102', 'm103'])
      expect(await list(user, id, '?after=121')).toEqual([])
    }
    const seen: string[] = []
    for (let after = 0; ; ) {
      const page = await list(owner, id, `?after=${after}&limit=33`)
      if (page.length === 0) break
      seen.push(...bodies(page))
      after = page.at(-1)?.seq ?? 0
    }
    expect(seen).toEqual(all)
  })

  test.each(['after=-1', 'after=x', 'after=', 'after=1.5', 'limit=0', 'limit=201', 'limit=', 'before=1'])(
    'returns 400 for ?%s',
    async (query) => {
      const reply = await owner.get(`${pathOf(sessionId)}?${query}`)
      expect(reply.status).toBe(400)
      expect(reply.body).toEqual({ error: expect.stringContaining(query.split('=')[0] as string) })
    },
  )
})

describe('a repeated clientMessageId', () => {
  test('returns the message that was stored first', async () => {
    const id = await newSession()
    const first = await send(owner, id, 'Only once', 'c1')
    const again = await send(owner, id, 'Only once', 'c1')
    expect(first.status).toBe(201)
    expect(again.status).toBeLessThan(300)
    expect(again.body).toEqual(first.body)
    expect(await list(owner, id)).toEqual([first.body])
  })

  test('with another text returns 422, and the first message is unchanged', async () => {
    const id = await newSession()
    await send(owner, id, 'One', 'c1')
    expect(await send(owner, id, 'Two', 'c1')).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('clientMessageId') },
    })
    expect(bodies(await list(owner, id))).toEqual(['One'])
  })

  test('is scoped to one sender and one session', async () => {
    const [id, other] = [await newSession(), await newSession()]
    for (const reply of [
      await send(owner, id, 'One', 'c1'),
      await send(operator, id, 'Two', 'c1'),
      await send(owner, other, 'Three', 'c1'),
    ]) {
      expect(reply.status).toBe(201)
    }
    expect(bodies(await list(owner, id))).toEqual(['One', 'Two'])
    expect(bodies(await list(owner, other))).toEqual(['Three'])
  })

  test('fifty times concurrently stores one message and uses one number', async () => {
    const id = await newSession()
    const replies = await Promise.all(numbers(1, 50).map(() => send(owner, id, 'Once', 'same')))
    for (const reply of replies) expect(reply.status).toBeLessThan(300)
    expect(new Set(replies.map((reply) => JSON.stringify(reply.body))).size).toBe(1)
    expect(await list(owner, id)).toHaveLength(1)
    expect((await send(operator, id, 'Next')).body.seq).toBe(3)
  })
})

test('concurrent messages of both sides, between pauses, make one log without gaps', async () => {
  const { client, operator, id } = await activeSession()
  const performAction = (action: string) => operator.patch(`/api/sessions/${id}`, { action })
  const toggles = async () => {
    const replies: Reply[] = []
    for (let round = 0; round < 5; round++)
      replies.push(await performAction('pause'), await performAction('resume'))
    return statuses(replies)
  }
  const chatter = numbers(1, 100).map((count) => send(count % 2 ? client : operator, id, `m${count}`))
  const [toggled, sent] = await Promise.all([toggles(), Promise.all(chatter)])
  expect(toggled).toEqual(Array(10).fill(200))
  expect(statuses(sent)).toEqual(Array(100).fill(201))

  const { events } = (await client.get(`/api/sessions/${id}/events?limit=200`)).body
  expect(events.map((event: { seq: number }) => event.seq)).toEqual(numbers(1, 111))
  const messages = await list(client, id, '?limit=200')
  const chat = events.filter((event: { type: string }) => event.type === 'chat.message')
  expect(chat.map((event: { data: Message }) => event.data)).toEqual(messages)
  expect(new Set(bodies(messages))).toEqual(new Set(numbers(1, 100).map((count) => `m${count}`)))
  for (const { body } of sent) expect(messages[messages.findIndex((m) => m.seq === body.seq)]).toEqual(body)
  const changes = events.filter((event: { type: string }) => event.type !== 'chat.message')
  expect(changes.map((event: { type: string }) => event.type)).toEqual([
    'session.started',
    ...Array(5).fill(['session.paused', 'session.resumed']).flat(),
  ])
})
