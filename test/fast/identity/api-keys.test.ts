import pLimit from 'p-limit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { generateApiKey, looksLikeApiKey } from '../../../src/modules/identity/api-keys/api-key-format.ts'
import { createIdentityWorld, type IdentityWorld } from '../../support/world/identity-world.ts'
import { waitFor } from '../../support/world/wait.ts'

let world: IdentityWorld
beforeAll(async () => {
  world = await createIdentityWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const KEYS = '/api/auth/api-keys'
const PROFILE = '/api/auth/profile'

const owner = async (name: string) => world.as(await world.tokenOf(name))
const keyStatus = async (key: string) => (await world.as(key).get(PROFILE)).status

test('a key is shown once, works, and is stored only as a hash', async () => {
  const ada = await owner('ada')
  const made = await ada.post(KEYS, { name: ' ci ' })
  const { key, ...rest } = made.body

  expect(made.status).toBe(201)
  expect(made.headers.get('Cache-Control')).toBe('no-store')
  expect(key).toMatch(/^svc_live_[0-9A-Za-z]{49}$/)
  expect(rest).toMatchObject({ name: 'ci', prefix: key.slice(0, 13), last4: key.slice(-4), revoked_at: null })
  expect((await world.as(key).get(PROFILE)).body.email).toBe('ada@example.com')

  const [listed] = (await ada.get(KEYS)).body.api_keys
  expect(listed).toMatchObject({ id: rest.id, name: 'ci' })
  const stored = await world.db
    .selectFrom('api_keys')
    .selectAll()
    .where('id', '=', rest.id)
    .executeTakeFirst()
  expect(JSON.stringify([listed, stored])).not.toContain(key.slice(13, -4))
})

test('lists the caller’s keys, newest first', async () => {
  const lister = await owner('lister')
  for (const name of ['one', 'two', 'three']) await lister.post(KEYS, { name })

  const names = (await lister.get(KEYS)).body.api_keys.map((key: { name: string }) => key.name)
  expect(names).toEqual(['three', 'two', 'one'])
})

test('a wrong checksum is rejected without a database query', async () => {
  const key = generateApiKey()
  const queries = vi.spyOn(world.db, 'selectFrom')
  const typo = key.slice(0, 20) + (key[20] === 'x' ? 'y' : 'x') + key.slice(21)

  for (const bad of [typo, key.slice(0, -1), `${key}A`, 'svc_live_', `svc_live_${'0'.repeat(49)}`]) {
    expect(looksLikeApiKey(bad)).toBe(false)
    expect(await keyStatus(bad)).toBe(401)
  }
  expect(queries).not.toHaveBeenCalled()
  queries.mockRestore()
  expect(looksLikeApiKey(key)).toBe(true)
  expect(await keyStatus(key)).toBe(401) // well formed, but unknown
})

test('a revoked key stops working at once, and the bus announces it', async () => {
  const ada = await owner('ada')
  const { id, key } = (await ada.post(KEYS, { name: 'short-lived' })).body
  const notified: string[] = []
  const stop = world.bus.subscribe('credential.revoked', ({ apiKeyId }) => notified.push(apiKeyId))

  const revoked = await ada.delete(`${KEYS}/${id}`)
  expect([revoked.status, revoked.body]).toEqual([204, undefined])
  expect(await keyStatus(key)).toBe(401)
  expect(notified).toEqual([id])
  expect(await world.apiKeys.revokedWithin(60_000)).toContain(id)

  const [listed] = (await ada.get(KEYS)).body.api_keys
  expect(listed.revoked_at).not.toBeNull()
  expect((await ada.delete(`${KEYS}/${id}`)).status).toBe(204)
  expect((await ada.get(KEYS)).body.api_keys[0].revoked_at).toBe(listed.revoked_at)
  stop()
})

test('another user’s key returns 404 like an unknown key', async () => {
  const { id, key } = (await (await owner('ada')).post(KEYS, { name: 'mine' })).body
  const grace = await owner('grace')

  const foreign = await grace.delete(`${KEYS}/${id}`)
  const unknown = await grace.delete(`${KEYS}/${crypto.randomUUID()}`)
  expect(foreign.status).toBe(404)
  expect(foreign.body).toEqual(unknown.body)
  expect(await keyStatus(key)).toBe(200)
  expect((await grace.delete(`${KEYS}/nonsense`)).status).toBe(400)
})

test('an expired key stops working', async () => {
  const expires_at = new Date(Date.now() + 5_000).toISOString()
  const { key, ...made } = (await (await owner('ada')).post(KEYS, { name: 'brief', expires_at })).body

  expect(made.expires_at).toBe(expires_at)
  expect(await keyStatus(key)).toBe(200)
  await waitFor(async () => expect(await keyStatus(key)).toBe(401))
})

test.each([
  [{}, 'name'],
  [{ name: '' }, 'name'],
  [{ name: 'x'.repeat(101) }, 'name'],
  [{ name: 'a\nb' }, 'name'],
  [{ name: 'ok', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
  [{ name: 'ok', expires_at: 'tomorrow' }, 'expires_at'],
  [{ name: 'ok', scopes: ['all'] }, 'scopes'],
])('rejects %j and names %s', async (body, field) => {
  const reply = await (await owner('ada')).post(KEYS, body)

  expect(reply.status).toBe(400)
  expect(reply.body.error).toContain(field)
})

test('routes that require a session reject keys with 403', async () => {
  const { key, id } = (await (await owner('ada')).post(KEYS, { name: 'curious' })).body
  const program = world.as(key)

  const replies = await Promise.all([
    program.get(KEYS),
    program.post(KEYS, { name: 'successor' }),
    program.delete(`${KEYS}/${id}`),
    program.post('/api/auth/sync'),
    program.get('/api/auth/check-onboarding'),
  ])
  expect(replies.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
})

test('a user has at most 100 keys, also with concurrent requests; a revocation allows another', async () => {
  const many = await owner('many')
  await many.get(PROFILE)
  const limit = pLimit(10) // a request waits at most five seconds for a connection of the database
  const names = Array.from({ length: 110 }, (_, index) => `${index}`)
  const made = await limit.map(names, (name) => many.post(KEYS, { name }))

  expect(made.filter(({ status }) => status === 201)).toHaveLength(100)
  expect(made.filter(({ status }) => status === 409)).toHaveLength(10)
  await many.delete(`${KEYS}/${made.find(({ status }) => status === 201)?.body.id}`)
  expect((await many.post(KEYS, { name: 'one more' })).status).toBe(201)
  expect((await many.get(KEYS)).body.api_keys).toHaveLength(101)
})

test('the last use is recorded at most once a minute', async () => {
  const ada = await owner('ada')
  const { id, key } = (await ada.post(KEYS, { name: 'watched' })).body
  const lastUse = async () => {
    await world.apiKeys.flush()
    return (await ada.get(KEYS)).body.api_keys.find((listed: { id: string }) => listed.id === id).last_used_at
  }
  expect(await lastUse()).toBeNull()

  await keyStatus(key)
  const first = await lastUse()
  expect(Date.now() - Date.parse(first)).toBeLessThan(60_000)
  await waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(first)))
  await keyStatus(key)
  expect(await lastUse()).toBe(first)

  const longAgo = new Date(Date.now() - 61_000)
  await world.db.updateTable('api_keys').set({ last_used_at: longAgo }).where('id', '=', id).execute()
  await keyStatus(key)
  expect(Date.parse(await lastUse())).toBeGreaterThan(longAgo.getTime() + 50_000)
})
