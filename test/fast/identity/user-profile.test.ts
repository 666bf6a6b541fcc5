import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createUsers } from '../../../src/modules/identity/users/user.service.ts'
import { ADMIN, createIdentityWorld, type IdentityWorld } from '../../support/world/identity-world.ts'

let world: IdentityWorld
beforeAll(async () => {
  world = await createIdentityWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const PROFILE = '/api/auth/profile'
const testUser = async (name: string) => world.as(await world.tokenOf(name))

test('a new user has a complete profile and no role', async () => {
  const { status, body } = await (await testUser('grace')).get(PROFILE)

  expect(status).toBe(200)
  expect(body).toEqual({
    id: expect.any(String),
    email: 'grace@example.com',
    display_name: 'Grace',
    avatar_url: null,
    roles: [],
    onboarded: false,
    notification_preferences: { email: true, push: true },
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  })
})

test('choosing a role is one step of the onboarding; a second role is added to the first', async () => {
  const user = await testUser('chooser')
  const onboarding = async () => (await user.get('/api/auth/check-onboarding')).body
  expect(await onboarding()).toEqual({ onboarded: false, roles: [], missing: ['role'] })

  expect((await user.post(PROFILE, { role: 'client' })).body).toMatchObject({
    roles: ['client'],
    onboarded: false,
  })
  expect(await onboarding()).toEqual({ onboarded: false, roles: ['client'], missing: ['client_profile'] })
  expect((await user.post(PROFILE, { role: 'operator' })).body.roles).toEqual(['client', 'operator'])
  expect((await user.post(PROFILE, { role: 'client' })).body.roles).toEqual(['client', 'operator'])
})

test('a route for a role rejects other callers, including admins', async () => {
  const client = await testUser('only-client')
  await client.post(PROFILE, { role: 'client' })
  const admin = world.as(await world.idp.issueDevToken({ email: ADMIN.toUpperCase() }))

  const statuses = async (who: typeof client) =>
    Promise.all(['client', 'operator', 'admin'].map(async (role) => (await who.get(`/probe/${role}`)).status))
  expect(await statuses(client)).toEqual([200, 403, 403])
  expect(await statuses(admin)).toEqual([403, 403, 200])
  expect((await client.get('/probe/operator')).body).toEqual({
    error: 'You need the operator role for this.',
  })
})

test('an address that matches an admin’s only with Unicode case folding is not an admin', () => {
  const users = createUsers({
    ...world,
    transact: async () => {
      throw new Error('roles are computed without the database')
    },
    now: () => new Date(),
    adminEmails: ['Keeper@example.com'],
  })
  const rolesOf = (email: string, email_verified = true) =>
    users.rolesOf({ is_client: false, is_operator: false, email, email_verified, suspended_at: null })
  expect(rolesOf('kEEPER@Example.com')).toEqual(['admin'])
  expect(rolesOf('keeper@example.com', false)).toEqual([])
  expect(rolesOf('\u212aeeper@example.com')).toEqual([]) // the Kelvin sign, whose lower case is k
})

test('a profile changes field by field; preferences merge', async () => {
  const user = await testUser('changer')

  await user.post(PROFILE, { notification_preferences: { push: false } })
  await user.post(PROFILE, { display_name: '  Zoë 🤖  ' })
  const { body } = await user.post(PROFILE, { notification_preferences: { email: false } })
  expect(body).toMatchObject({
    display_name: 'Zoë 🤖',
    notification_preferences: { email: false, push: false },
  })
  expect((await user.post(PROFILE, {})).body).toEqual(body)
  expect((await user.get(PROFILE)).body).toEqual(body)
})

test.each([
  [{ role: 'admin' }, 'role'],
  [{ role: ['client'] }, 'role'],
  [{ display_name: '   ' }, 'display_name'],
  [{ display_name: 'x'.repeat(101) }, 'display_name'],
  [{ display_name: 'a\0b' }, 'display_name'],
  [{ display_name: 'a\ud800b' }, 'display_name'],
  [{ display_name: null }, 'display_name'],
  [{ notification_preferences: { sms: true } }, 'sms'],
  [{ notification_preferences: { email: 'yes' } }, 'notification_preferences.email'],
  [{ email: 'other@example.com' }, 'email'],
  [{ is_client: true }, 'is_client'],
])('rejects %j and names %s', async (body, field) => {
  const user = await testUser('careless')
  const before = (await user.get(PROFILE)).body
  const reply = await user.post(PROFILE, body)

  expect(reply.status).toBe(400)
  expect(reply.body.error).toContain(field)
  expect((await user.get(PROFILE)).body).toEqual(before)
})

test('sync updates the account from the token’s claims', async () => {
  const email = 'renamed@example.com'
  const first = world.as(await world.idp.issueDevToken({ email, name: 'Before' }))
  const { id } = (await first.get(PROFILE)).body
  const later = world.as(await world.idp.issueDevToken({ email, name: 'After' }))

  expect((await later.get(PROFILE)).body.display_name).toBe('Before')
  const synced = await later.post('/api/auth/sync')
  expect(synced).toMatchObject({ status: 200, body: { id, display_name: 'After', email } })
})

test('sync keeps a name that the user chose and updates the rest', async () => {
  const token = (email: string, name: string) => world.idp.issueDevToken({ email, name })
  const email = 'chosen@example.com'
  const user = world.as(await token(email, 'Provider’s'))
  await user.post(PROFILE, { display_name: 'My own' })

  const later = world.as(await token(email, 'Provider’s new'))
  expect((await later.post('/api/auth/sync')).body).toMatchObject({ display_name: 'My own', email })
  expect((await later.get(PROFILE)).body.display_name).toBe('My own')
})

describe('sync with a token without e-mail', () => {
  let authorization: string | undefined
  /** The response of the userinfo endpoint. */
  let answer: { status: number; body: unknown }

  /** Starts a provider, and the accounts of a platform that uses it. */
  async function createProvider() {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const server = createServer((request, reply) => {
      if (request.url === '/.well-known/openid-configuration') {
        const urls = { jwks_uri: `${issuer}/jwks`, userinfo_endpoint: `${issuer}/me` }
        return reply.end(JSON.stringify({ issuer, ...urls }))
      }
      authorization = request.headers.authorization
      reply.writeHead(answer.status).end(JSON.stringify(answer.body))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const jwks = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] })
    const platform = await createIdentityWorld({ provider: () => ({ issuer, audience: 'api', jwks }) })
    return {
      /** Signs a new user in. */
      async newUser() {
        const sub = randomUUID()
        const token = await new SignJWT({ iss: issuer, aud: 'api', sub })
          .setProtectedHeader({ alg: 'ES256' })
          .setExpirationTime('5m')
          .sign(privateKey)
        return { ...platform.as(token), token, sub }
      },
      stop: () => server.close(),
      async [Symbol.asyncDispose]() {
        await platform[Symbol.asyncDispose]()
        server.closeAllConnections()
        server.close()
      },
    }
  }

  let provider: Awaited<ReturnType<typeof createProvider>>
  beforeAll(async () => {
    provider = await createProvider()
  })
  afterAll(() => provider?.[Symbol.asyncDispose]())

  const claimsOf = (sub: string) => ({ sub, email: 'u1@example.com', email_verified: true, name: 'U One' })

  test('reads the provider’s userinfo endpoint', async () => {
    const user = await provider.newUser()
    answer = { status: 200, body: claimsOf(user.sub) }
    expect((await user.get(PROFILE)).body).toMatchObject({ email: null, display_name: 'User' })

    const synced = await user.post('/api/auth/sync')
    expect(synced.body).toMatchObject({ email: 'u1@example.com', display_name: 'U One' })
    expect(authorization).toBe(`Bearer ${user.token}`)
  })

  test.each([
    ['fails', { status: 500, body: {} }, 502],
    ['answers nonsense', { status: 200, body: 'hello' }, 502],
    ['returns another user', { status: 200, body: claimsOf('another') }, 502],
    ['rejects the token', { status: 401, body: {} }, 200],
  ])('keeps the stored record when the provider %s', async (_what, given, status) => {
    answer = given
    const user = await provider.newUser()
    const before = (await user.get(PROFILE)).body
    const synced = await user.post('/api/auth/sync')

    expect(synced.status).toBe(status)
    if (status !== 200) expect(synced.body).toEqual({ error: expect.any(String) })
    expect((await user.get(PROFILE)).body).toEqual(before)
  })

  // With its own provider, whose endpoints the platform has not looked up yet.
  test('returns 503 while the provider is unreachable', async () => {
    await using unreachable = await createProvider()
    unreachable.stop()
    const user = await unreachable.newUser()
    expect((await user.post('/api/auth/sync')).status).toBe(503)
  })
})
