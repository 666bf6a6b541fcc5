import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const ROBOTS = '/api/client/robots'

let world: World
let owner: TestUser
beforeAll(async () => {
  world = await createWorld()
  owner = await world.client()
  for (const name of ['First', 'Second', 'Third']) await world.robot(owner, { name })
})
afterAll(() => world[Symbol.asyncDispose]())

/** Sends a request of the owner. `fetch` decodes the body, and leaves the header that names its encoding. */
const ask = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  fetch(world.baseUrl + path, {
    ...init,
    // By default, fetch would request a fresh response despite an ETag.
    headers: { Authorization: `Bearer ${owner.token}`, 'Cache-Control': 'max-age=0', ...headers },
  })
const encodingOf = (answer: Response) => answer.headers.get('Content-Encoding')

test.each([
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0, gzip', 'gzip'],
  ['*', 'gzip'],
  ['identity', null],
  ['deflate', null],
  ['zstd', null],
  ['gzip;q=0', null],
  ['*;q=0', null],
  ['identity;q=0', null],
  ['', null],
])('JSON for a client that accepts "%s" is sent as %s', async (accepted, encoding) => {
  const answer = await ask(ROBOTS, { 'Accept-Encoding': accepted })
  expect(answer.status).toBe(200)
  expect(encodingOf(answer)).toBe(encoding)
  expect(answer.headers.get('Vary')).toContain('Accept-Encoding')
  expect(await answer.json()).toHaveLength(3)
})

test('lists and the description of the API are compressed, and HEAD has the headers of GET', async () => {
  for (const path of ['/api/openapi.json', ROBOTS]) {
    for (const encoding of ['br', 'gzip', 'identity']) {
      const headers = { 'Accept-Encoding': encoding }
      const [full, head] = [await ask(path, headers), await ask(path, headers, { method: 'HEAD' })]
      expect(encodingOf(full) ?? 'identity', path).toBe(encoding)
      expect((await full.text()).length).toBeGreaterThan(1_000)
      expect(await head.text()).toBe('')
      for (const name of ['Content-Type', 'Content-Encoding', 'Content-Length', 'ETag', 'Vary'])
        expect(head.headers.get(name), `${path} ${encoding} ${name}`).toBe(full.headers.get(name))
    }
  }
})

test('short responses, responses that issue tokens, and pages of the sign-in are not compressed', async () => {
  const short = await ask('/api/health', { 'Accept-Encoding': 'br' })
  expect(encodingOf(short)).toBeNull()
  const registered = await ask(
    ROBOTS,
    { 'Accept-Encoding': 'br', 'Content-Type': 'application/json' },
    {
      method: 'POST',
      body: JSON.stringify({
        name: 'Compressible',
        robot_type: 'testbot',
        hardware_id: 'board-c',
        stream_url: `https://camera.example/${'a'.repeat(900)}`,
      }),
    },
  )
  const text = await registered.text()
  expect([registered.status, text.length > 1_024], text).toEqual([201, true])
  expect(text).toContain('robot_token')
  expect(encodingOf(registered)).toBeNull()
  const provider = await ask('/idp/.well-known/openid-configuration', { 'Accept-Encoding': 'br' })
  expect((await provider.text()).length).toBeGreaterThan(1_024)
  expect(encodingOf(provider)).toBeNull()
})

test('a download keeps its length', async () => {
  const started = await owner.post('/api/session-exports', { format: 'csv' })
  expect(started.status, JSON.stringify(started.body)).toBe(202)
  const path = `/api/session-exports/${started.body.id}`
  await waitFor(async () => expect((await owner.get(path)).body.status).toBe('READY'))
  const download = await ask(`${path}/download`, { 'Accept-Encoding': 'br' })
  expect(download.status).toBe(200)
  expect(encodingOf(download)).toBeNull()
  expect(download.headers.get('Content-Length')).toBe(String(Buffer.byteLength(await download.text())))
})

test('a list is sent again only after a change', async () => {
  const user = await world.client()
  const robot = await world.robot(user)
  const list = (etag?: string, init?: RequestInit) =>
    ask(ROBOTS, { Authorization: `Bearer ${user.token}`, ...(etag && { 'If-None-Match': etag }) }, init)
  const first = await list()
  const etag = first.headers.get('ETag') as string
  expect(etag).toMatch(/^W\/"[\w-]{43}"$/)
  expect(first.headers.get('Cache-Control')).toBe('private, no-cache')
  for (const name of ['Authorization', 'Cookie', 'Accept-Encoding'])
    expect(first.headers.get('Vary')).toContain(name)
  expect(await first.json()).toMatchObject([{ id: robot.id }])

  for (const method of ['GET', 'HEAD']) {
    const again = await list(etag, { method })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect(again.headers.get('ETag')).toBe(etag)
    expect(again.headers.get('X-Total-Count')).toBe('1')
    expect(again.headers.get('Content-Type')).toBeNull()
  }
  // Another encoding is the same content, and another user has another list.
  expect((await ask(ROBOTS, { 'If-None-Match': etag })).status).toBe(200)
  expect((await ask(ROBOTS, { 'If-None-Match': etag, Authorization: 'Bearer nonsense' })).status).toBe(401)

  await user.patch(`${ROBOTS}/${robot.id}`, { name: 'Renamed' })
  const changed = await list(etag)
  expect(changed.status).toBe(200)
  expect(changed.headers.get('ETag')).not.toBe(etag)
  expect(await changed.json()).toMatchObject([{ name: 'Renamed' }])
})

test('details, events and refusals have no ETag and are not stored', async () => {
  const [robot] = (await owner.get(ROBOTS)).body
  for (const path of [`${ROBOTS}/${robot.id}`, '/api/auth/profile', '/api/events', `${ROBOTS}?limit=x`]) {
    const answer = await ask(path)
    expect(answer.headers.get('ETag'), path).toBeNull()
    expect(answer.headers.get('Cache-Control'), path).toBe('no-store')
  }
})
