import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { type FoxgloveFixture, openFoxgloveFixture } from '../../support/foxglove/foxglove-fixture.ts'
import { TestFoxgloveClient } from '../../support/foxglove/test-client.ts'
import { attempt } from '../../support/gateway/upgrade.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const PROTOCOLS = ['foxglove.sdk.v1']

let world: World
let session: SessionFixture
let foxglove: FoxgloveFixture
let admin: TestUser
let stranger: TestUser
/** Added to the time of the platform, for tickets. */
let laterMs = 0
beforeAll(async () => {
  world = await createWorld()
  session = await openSessionFixture(world)
  foxglove = await openFoxgloveFixture(world, { now: () => new Date(Date.now() + laterMs) })
  ;[admin, stranger] = [await world.admin(), await world.client()]
})
afterAll(async () => {
  await foxglove?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const addressFor = async (user: TestUser, id = session.id, credential?: string) => {
  const reply = await user.request('POST', `/api/sessions/${id}/foxglove`, undefined, credential)
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return new URL(reply.body.url)
}
/** Returns the status and the error code of an upgrade. */
async function upgrade(url: string, headers: Record<string, string> = {}, protocols = PROTOCOLS) {
  const answer = await attempt(url, { headers, protocols })
  if (answer.status !== 101) expect(Object.keys(JSON.parse(answer.body))).toEqual(['error'])
  return [answer.status, answer.headers['wheelhouse-error']]
}

test('owner, operator and admin get an address, which opens the live session next to the hub', async () => {
  for (const user of [session.client, session.operator, admin]) {
    const address = await addressFor(user)
    expect(address.protocol).toBe('ws:')
    const client = await new TestFoxgloveClient(String(address)).ready()
    expect(client.info.sessionId).toBe(session.id)
    const again = await new TestFoxgloveClient(String(address), 'foxglove.websocket.v1').ready()
    expect(again.channels.size).toBeGreaterThan(0)
    const hub = await user.hub()
    await Promise.all([client.close(), again.close(), hub.close()])
  }
  const reply = await stranger.post(`/api/sessions/${session.id}/foxglove`)
  expect([reply.status, reply.headers.get('Wheelhouse-Error')]).toEqual([404, 'not_found'])
})

test('an upgrade without permission gets an error of the API', async () => {
  const url = foxglove.addressOf(session.id)
  expect(await upgrade(url)).toEqual([401, 'unauthenticated'])
  expect(await upgrade(url, bearer('nonsense'))).toEqual([401, 'token_invalid'])
  expect(await upgrade(url, bearer(stranger.token))).toEqual([404, 'not_found'])
  expect(await upgrade(url, bearer(session.client.token), ['other'])).toEqual([400, 'invalid_request'])
  expect(await upgrade(url, bearer(session.client.token), [])).toEqual([400, 'invalid_request'])
  for (const id of [randomUUID(), 'x', '%zz', '..%2f..%2fx'])
    expect(await upgrade(foxglove.addressOf(id), bearer(session.client.token))).toEqual([404, 'not_found'])
  expect(await upgrade(`${url}?recording=${randomUUID()}`, bearer(session.client.token))).toEqual([
    404,
    'not_found',
  ])
  expect(await upgrade(url, bearer(session.client.token))).toEqual([101, undefined])
})

test('a client that offers several subprotocols gets the first one that the platform knows', async () => {
  const both = ['foxglove.websocket.v1', 'foxglove.sdk.v1']
  for (const protocols of [both, both.toReversed()]) {
    const socket = new WebSocket(foxglove.addressOf(session.id), ['other', ...protocols], {
      headers: bearer(session.client.token),
    })
    await once(socket, 'open')
    expect(socket.protocol).toBe(protocols[0])
    socket.close()
    await once(socket, 'close')
  }
})

test('the session cookie counts from an allowed Origin only; tickets and tokens from any', async () => {
  const url = foxglove.addressOf(session.id)
  const cookie = { Cookie: `__session=${session.client.token}` }
  expect(await upgrade(url, cookie)).toEqual([403, 'origin_not_allowed'])
  expect(await upgrade(url, { ...cookie, Origin: 'https://evil.example' })).toEqual([
    403,
    'origin_not_allowed',
  ])
  expect(await upgrade(url, { ...cookie, Origin: 'https://console.example' })).toEqual([101, undefined])
  const foreign = { Origin: 'https://app.foxglove.dev' }
  expect(await upgrade(url, { ...foreign, ...bearer(session.client.token) })).toEqual([101, undefined])
  const { search } = await addressFor(session.client)
  expect(await upgrade(url + search, foreign)).toEqual([101, undefined])
})

test('a ticket that is forged, expired, of another session or of changed permissions is refused', async () => {
  const url = foxglove.addressOf(session.id)
  const { search } = await addressFor(session.client)
  expect(await upgrade(foxglove.addressOf(randomUUID(), search))).toEqual([403, 'ticket_mismatch'])
  for (const ticket of [
    '',
    'x',
    `${search.slice(8)}A`,
    search.slice(8).replace(/.(?=.{3}$)/, (c) => (c === 'A' ? 'B' : 'A')),
  ])
    expect(await upgrade(`${url}?ticket=${ticket}`)).toEqual([401, 'ticket_invalid'])
  laterMs = 61_000
  expect(await upgrade(url + search)).toEqual([401, 'ticket_invalid'])
  laterMs = 0
  expect(await upgrade(url + search)).toEqual([101, undefined])
  const { key, id } = await session.client.key()
  const ofKey = await addressFor(session.client, session.id, key)
  await session.client.delete(`/api/auth/api-keys/${id}`)
  expect(await upgrade(url + ofKey.search)).toEqual([401, 'ticket_revoked'])
})

test('a revoked key ends its connections, also those by its tickets, within seconds', async () => {
  const { key, id } = await session.client.key()
  const other = await foxglove.connect(session.id, session.operator).ready()
  const direct = await new TestFoxgloveClient(foxglove.addressOf(session.id), undefined, bearer(key)).ready()
  const { search } = await addressFor(session.client, session.id, key)
  const byTicket = await new TestFoxgloveClient(foxglove.addressOf(session.id, search)).ready()
  const startedMs = performance.now()
  await session.client.delete(`/api/auth/api-keys/${id}`)
  const closed = await Promise.all([direct.closed, byTicket.closed])
  expect(closed.map(({ code }) => code)).toEqual([4401, 4401])
  expect(performance.now() - startedMs).toBeLessThan(30_000)
  expect(other.socket.readyState).toBe(other.socket.OPEN)
  await other.close()
})

test('a suspended user loses the connection', async () => {
  const other = await openSessionFixture(world)
  const client = await foxglove.connect(other.id, other.client).ready()
  const reply = await admin.post(`/api/admin/users/${other.client.id}/suspend`, { reason: 'test' })
  expect(reply.status, JSON.stringify(reply.body)).toBe(204)
  expect((await client.closed).code).toBe(4408)
  expect((await upgrade(foxglove.addressOf(other.id), bearer(other.client.token)))[0]).toBe(403)
})

test('a session has at most twenty connections', async () => {
  const clients = await Promise.all(
    Array.from({ length: 20 }, () => foxglove.connect(session.id, session.client).ready()),
  )
  expect(await upgrade(foxglove.addressOf(session.id), bearer(session.client.token))).toEqual([
    429,
    'too_many_concurrent_requests',
  ])
  await clients[0]?.close()
  await waitFor(async () =>
    expect(await upgrade(foxglove.addressOf(session.id), bearer(session.client.token))).toEqual([
      101,
      undefined,
    ]),
  )
  await Promise.all(clients.map((client) => client.close()))
})

test('hostile messages are answered or end their connection only', async () => {
  const good = await foxglove.connect(session.id, session.client).ready()
  const connect = () => foxglove.connect(session.id, session.operator).ready()

  const large = await connect()
  large.socket.send(Buffer.alloc(64 * 1024 + 1))
  expect((await large.closed).code).toBe(1009)

  const garbage = await connect()
  const texts = ['', '{', 'null', '[]', '1', '"subscribe"', '{"op":"__proto__"}', '['.repeat(30_000)]
  const wrong = [
    { op: 'subscribe' },
    { op: 'subscribe', subscriptions: [{ id: -1, channelId: 1 }] },
    { op: 'subscribe', subscriptions: [{ id: 1e20, channelId: 1 }] },
    { op: 'unsubscribe', subscriptionIds: ['x'] },
    { op: 'constructor' },
  ]
  for (const text of [...texts, ...wrong.map((each) => JSON.stringify(each))]) garbage.socket.send(text)
  for (const bytes of [[], [0], [3], [3, 9], [255, 1, 2], [1], [2]]) garbage.socket.send(Buffer.from(bytes))
  for (let count = 0; count < 100; count++) garbage.socket.send(randomBytes(50))
  await waitFor(() => expect(garbage.statuses.length).toBeGreaterThan(10))
  garbage.socket.ping()
  expect(garbage.statuses.length).toBeLessThanOrEqual(20)
  await garbage.subscribe('/telemetry')

  const greedy = await connect()
  const channelIds = [...greedy.channels.values()].map(({ id }) => id)
  const subscriptions = Array.from({ length: 1_500 }, (_, id) => ({ id, channelId: channelIds[id % 8] }))
  greedy.socket.send(JSON.stringify({ op: 'subscribe', subscriptions }))
  await waitFor(() => expect(greedy.statuses.length).toBeGreaterThan(0))

  const flood = await connect()
  for (let count = 0; count < 5_000; count++) flood.socket.send('{"op":"x"}')
  expect((await flood.closed).code).toBe(4029)

  const badText = await connect()
  badText.socket.send(Buffer.from([0xff, 0xfe]), { binary: false })
  expect((await badText.closed).code).toBe(1007)

  expect(good.socket.readyState).toBe(good.socket.OPEN)
  await Promise.all([good, garbage, greedy].map((client) => client.close()))
  expect(world.errors).toEqual([])
})

test('an account that has used too much time of the process is refused, and its next message ends the connection', async () => {
  const [client, other] = await Promise.all(
    [session.operator, session.client].map((user) => foxglove.connect(session.id, user).ready()),
  )
  const used = vi
    .spyOn(world.platform.core.threadTime, 'waitMs')
    .mockImplementation((account) => (account === session.operator.id ? 500 : 0))
  try {
    const url = foxglove.addressOf(session.id)
    expect(await upgrade(url, bearer(session.operator.token))).toEqual([429, 'rate_limited'])
    client?.socket.send('{"op":"unsubscribe","subscriptionIds":[]}')
    expect((await client?.closed)?.code).toBe(4029)
    await other?.subscribe('/telemetry')
  } finally {
    used.mockRestore()
    await other?.close()
  }
})
