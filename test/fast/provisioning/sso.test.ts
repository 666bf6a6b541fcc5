import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createOrganizationClients } from '../../../src/modules/identity/index.ts'
import { createBrowser } from '../../support/network/cookie-client.ts'
import {
  type OrganizationProvider,
  startOrganizationProvider,
} from '../../support/network/organization-provider.ts'
import { addMember, createTeam, teamRobot } from '../../support/world/organizations.ts'
import { createTestUser, type TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const SECRET = 'a secret of the client'
const HOUR_MS = 3_600_000
const METADATA = '/.well-known/openid-configuration'
let passedMs = 0
let world: World
beforeAll(async () => {
  world = await createWorld({
    env: { WEBHOOK_ALLOW_LOOPBACK: 'true' },
    now: () => new Date(Date.now() + passedMs),
  })
  world.tolerateErrors('/auth/sso/') // what a provider answers wrongly is an error in the log
  world.tolerateErrors('identity provider')
})
afterAll(async () => {
  const log = world.errors.join()
  await world[Symbol.asyncDispose]()
  for (const text of [SECRET, Buffer.from(`wheelhouse:${SECRET}`).toString('base64'), 'sso_'])
    expect(log).not.toContain(text)
})

let provider: OrganizationProvider
let domain: string
let owner: TestUser
let team: string
/** The path of the settings. */
let path: string
beforeEach(async () => {
  passedMs = 0
  provider = await startOrganizationProvider()
  domain = `d${randomUUID().slice(0, 8)}.example`
  const boss = await person(`boss@${domain}`)
  team = await createTeam(boss)
  owner = await boss.actingFor(team)
  path = `/api/organizations/${team}/sign-in`
  await verify(team, domain)
})
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  await provider[Symbol.asyncDispose]()
})

const closers: (() => unknown)[] = []
const connect = (token: string, organizationId?: string) =>
  createTestUser({
    baseUrl: world.baseUrl,
    hubUrl: world.hubUrl,
    token,
    onClose: (close) => closers.push(close),
    ...(organizationId && { organizationId }),
  })
/** A user of the platform's provider. */
const person = async (email: string) =>
  await connect(await world.platform.identity.builtIn!.issueDevToken({ email, name: 'Ada' }))

const verify = (organizationId: string, name: string) =>
  world.platform.core.db
    .insertInto('organization_domains')
    .values({
      id: randomUUID(),
      organization_id: organizationId,
      domain: name,
      txt_value: 'x',
      verified_at: new Date(),
    })
    .execute()

const inputOf = (more: object = {}) => ({
  issuer: provider.issuer,
  client_id: 'wheelhouse',
  client_secret: SECRET,
  ...more,
})
const callbackOf = (organizationId: string) => `${world.baseUrl}/auth/sso/${organizationId}/callback`
async function configure(more: object = {}) {
  provider.register({ id: 'wheelhouse', secret: SECRET, callbackUrl: callbackOf(team) })
  const reply = await owner.request('PUT', path, inputOf(more))
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  return reply.body
}
/** Saves without a secret: the one of before. */
const change = (more: object) => owner.request('PUT', path, { ...inputOf(more), client_secret: undefined })

/** Signs somebody in, in a new browser. */
async function signIn(claims: object, start = `/auth/sso/${team}?return_to=/api/auth/profile`) {
  provider.become({ sub: randomUUID(), email_verified: true, ...claims })
  const browser = createBrowser(world.baseUrl)
  const page = await browser.go(start)
  const token = browser.cookie('__session')?.value
  return { browser, page, token }
}
/** Signs somebody in, and returns the user acting for the team. */
async function admitted(claims: object): Promise<TestUser> {
  const { page, token } = await signIn(claims)
  expect(page.status, page.text).toBe(200)
  return await connect(token!, team)
}
async function refused(claims: object, why: string | RegExp) {
  const { page, token } = await signIn(claims)
  expect(page.status, page.text).toBe(403)
  expect(page.text).toMatch(why)
  expect(token).toBeUndefined()
}
const roleOf = async (user: Pick<TestUser, 'id'>, organizationId = team) =>
  (
    await world.platform.core.db
      .selectFrom('organization_members')
      .select('role')
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', user.id)
      .executeTakeFirst()
  )?.role
/** An owner signs in, so that the settings can be enforced. */
async function enforce() {
  await configure()
  await admitted({ sub: 'boss', email: `boss@${domain}` })
  expect((await change({ enforced: true })).status).toBe(200)
}
/** Starts a session with a robot of the team, and controls it. */
async function drive(operator: TestUser) {
  const robot = await teamRobot(owner, { operators: 'own' })
  const link = await world.connect(robot)
  link.send({ type: 'heartbeat', seq: 1 })
  const started = await operator.post('/api/sessions', { robotId: robot.id })
  expect(started.status, JSON.stringify(started.body)).toBe(201)
  const driver = await world.drive(operator, started.body.sessionId)
  await driver.next('state')
  return driver
}
const codeOf = (reply: { headers: Headers; status: number }) => [
  reply.status,
  reply.headers.get('Wheelhouse-Error'),
]

describe('the settings', () => {
  test('are saved and returned without the secret, which is nowhere to be read', async () => {
    expect((await owner.get(path)).body).toEqual({
      callback_url: callbackOf(team),
      sign_in_url: `${world.baseUrl}/auth/sso/${team}`,
      settings: null,
    })
    const saved = await configure({ session_hours: 8, groups_claim: 'roles' })
    expect(saved.settings).toEqual({
      issuer: provider.issuer,
      client_id: 'wheelhouse',
      scopes: ['openid', 'email', 'profile'],
      groups_claim: 'roles',
      creates_members: true,
      enforced: false,
      session_hours: 8,
      owner_signed_in_at: null,
    })
    expect((await owner.get(path)).body).toEqual(saved)
    const { db } = world.platform.core
    const entries = await db.selectFrom('audit_log').selectAll().where('organization_id', '=', team).execute()
    expect(entries.map(({ action }) => action)).toContain('sign_in.configured')
    const stored = await db.selectFrom('organization_sign_ins').selectAll().execute()
    expect(JSON.stringify([saved, entries, stored, world.errors])).not.toContain(SECRET)
  })

  test('are for owners of a team', async () => {
    const admin = await person(`admin@${domain}`)
    await addMember(world, team, admin, 'admin')
    const acting = await admin.actingFor(team)
    expect(codeOf(await acting.get(path))).toEqual([403, 'permission_required'])
    expect(codeOf(await admin.get(`/api/organizations/${admin.id}/sign-in`))).toEqual([
      409,
      'personal_organization',
    ])
    expect(codeOf(await owner.delete(path))).toEqual([404, 'sign_in_not_configured'])
  })

  test('need a verified domain', async () => {
    await world.platform.core.db
      .updateTable('organization_domains')
      .set({ verified_at: null })
      .where('organization_id', '=', team)
      .execute()
    provider.register({ id: 'wheelhouse', secret: SECRET, callbackUrl: callbackOf(team) })
    expect(codeOf(await owner.request('PUT', path, inputOf()))).toEqual([409, 'domain_required'])
  })

  test('may have the issuer of another organization, but not that of the platform', async () => {
    await configure()
    const other = await createTeam(await person(`x@${domain}`))
    await verify(other, `other-${domain}`)
    const acting = await (await person(`x@${domain}`)).actingFor(other)
    const reply = await acting.request('PUT', `/api/organizations/${other}/sign-in`, inputOf())
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    const own = await owner.request('PUT', path, inputOf({ issuer: `${world.baseUrl}/idp` }))
    expect(codeOf(own)).toEqual([409, 'issuer_taken'])
  })

  const answers: Record<string, RequestListener> = {
    'closes the connection': (_request, response) => void response.destroy(),
    'returns 10 MB': (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.end(' '.repeat(10_000_000))
    },
    redirects: (_request, response) => void response.writeHead(302, { Location: '/other' }).end(),
    'names another issuer': (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.end(
        JSON.stringify({ issuer: 'https://evil.example', authorization_endpoint: 'https://evil.example/a' }),
      )
    },
  }
  test.each(Object.keys(answers))('refuse a provider that %s', async (what) => {
    provider.answer(METADATA, answers[what] as RequestListener)
    expect(codeOf(await owner.request('PUT', path, inputOf()))).toEqual([409, 'issuer_not_usable'])
  })

  test('refuse a provider that does not answer in time', async () => {
    provider.answer(METADATA, () => {})
    const outbound = world.platform.webhooks.outboundClient
    const { discover } = createOrganizationClients({ baseUrl: world.baseUrl, outbound, limitMs: 50 })
    await expect(discover({ issuer: provider.issuer, clientId: 'x' })).rejects.toMatchObject({
      code: 'issuer_not_usable',
    })
  })

  test.each(['http://169.254.169.254', 'http://10.0.0.1', 'http://example.com', 'file:///etc/passwd'])(
    'refuse %s as the issuer',
    async (issuer) => {
      expect(codeOf(await owner.request('PUT', path, inputOf({ issuer })))).toEqual([400, 'invalid_request'])
    },
  )

  test('send a secret to the provider that it is for only, and are enforced only once an owner has used them', async () => {
    provider.register({ id: 'wheelhouse', secret: SECRET, callbackUrl: callbackOf(team) })
    expect(codeOf(await change({}))).toEqual([400, 'client_secret_required'])
    expect(codeOf(await owner.request('PUT', path, inputOf({ enforced: true })))).toEqual([
      409,
      'sign_in_not_used',
    ])
    await enforce()
    expect(codeOf(await change({ client_id: 'other' }))).toEqual([400, 'client_secret_required'])
    const other = inputOf({ client_id: 'other', enforced: true })
    expect(codeOf(await owner.request('PUT', path, other))).toEqual([409, 'sign_in_not_used'])
  })
})

describe('a sign-in', () => {
  test('makes a person a member, who acts for the team and the personal organization only', async () => {
    await configure()
    const { page, browser, token } = await signIn({ sub: 'grace', email: `grace@${domain}`, name: 'Grace' })
    expect(page).toMatchObject({ status: 200, url: `${world.baseUrl}/api/auth/profile` })
    expect(JSON.parse(page.text)).toMatchObject({ email: `grace@${domain}`, display_name: 'Grace' })
    expect(browser.cookie('__session')?.attributes).toMatch(/Max-Age=4\d{4}; HttpOnly; SameSite=Lax$/)
    const grace = await connect(token!, team)
    expect(await roleOf(grace)).toBe('viewer')
    expect((await grace.get(`/api/organizations/${team}`)).body.role).toBe('viewer')
    const other = await createTeam(await person(`other@${domain}`))
    await addMember(world, other, grace, 'viewer')
    const elsewhere = await connect(token!, team)
    expect(codeOf(await elsewhere.request('GET', `/api/organizations/${other}`))).toEqual([
      403,
      'sign_in_required',
    ])
    expect(codeOf(await grace.post('/api/organizations', { name: 'Mine' }))).toEqual([
      403,
      'sign_in_required',
    ])
    const again = await admitted({ sub: 'grace', email: `grace.new@${domain}` })
    expect(again.id).toBe(grace.id)
    expect((await again.get('/api/auth/profile')).body.email).toBe(`grace.new@${domain}`)
    expect((await again.request('POST', '/api/auth/sync')).status).toBe(200)
    const { db } = world.platform.core
    const entry = await db
      .selectFrom('audit_log')
      .selectAll()
      .where('action', '=', 'sign_in.completed')
      .where('actor_id', '=', grace.id)
      .executeTakeFirstOrThrow()
    expect(entry).toMatchObject({ credential: `sign_in:${entry.subject_id}`, organization_id: team })
  })

  test('begins with the work address, whose domain is looked up', async () => {
    await configure()
    const start = (email: string) =>
      `/auth/sso?return_to=/api/auth/profile&email=${encodeURIComponent(email)}`
    const { page } = await signIn({ email: `ada@${domain}` }, start(`Nobody@${domain.toUpperCase()}`))
    expect(page.status, page.text).toBe(200)
    expect((await createBrowser(world.baseUrl).go(start('a@nowhere.example'))).status).toBe(404)
    const form = await createBrowser(world.baseUrl).go('/auth/sso?return_to=/x')
    expect(form.text).toContain('name="email"')
    expect((await createBrowser(world.baseUrl).go(`/auth/sso/${randomUUID()}`)).status).toBe(404)
  })

  test('finds the user of the platform with the verified address, who keeps the role', async () => {
    await configure()
    const ada = await person(`ada@${domain}`)
    await addMember(world, team, ada, 'operator')
    const signed = await admitted({ email: `Ada@${domain}`, groups: ['Admins'] })
    expect(signed.id).toBe(ada.id)
    expect(await roleOf(ada)).toBe('operator')
    // An address that the provider gives to another person does not give the account.
    await refused({ email: `ada@${domain}` }, /another account/)
  })

  test.each([
    ['of a domain that is not verified', () => ({ email: 'x@unverified.example' }), /verified domain/],
    ['that is not verified', () => ({ email: `x@${domain}`, email_verified: false }), /not verified/],
    ['that is missing', () => ({ email: undefined }), /no address/],
  ])('is refused with an address %s', async (_what, claims, why) => {
    await configure()
    await refused(claims(), why)
  })

  test('is refused with an address in a domain of another organization', async () => {
    await configure()
    const other = await createTeam(await person(`x@${domain}`))
    await verify(other, `other-${domain}`)
    await refused({ email: `x@other-${domain}` }, /verified domain/)
  })

  test('is refused for administrators of the platform', async () => {
    await configure()
    const { db } = world.platform.core
    await world.admin()
    await verify(team, 'test.local')
    await refused({ email: 'admin@test.local' }, /Administrators/)
    await db.deleteFrom('organization_domains').where('domain', '=', 'test.local').execute()
  })

  test('makes nobody a member where the settings say so, or whom the organization has removed', async () => {
    await configure({ creates_members: false })
    await refused({ email: `new@${domain}` }, /no member/)
    await change({ creates_members: true })
    const grace = await admitted({ sub: 'grace', email: `grace@${domain}` })
    expect((await owner.delete(`/api/organizations/${team}/members/${grace.id}`)).status).toBe(204)
    expect((await grace.get('/api/auth/profile')).status).toBe(401)
    await refused({ sub: 'grace', email: `grace@${domain}` }, /no member/)
  })

  test('gives the role of the groups, and takes it away', async () => {
    await configure()
    for (const [name, role] of [
      ['Drivers', 'operator'],
      ['Bosses', 'admin'],
    ])
      expect((await owner.post(`/api/organizations/${team}/role-mappings`, { name, role })).status).toBe(201)
    const claims = { sub: 'grace', email: `grace@${domain}` }
    const grace = await admitted({ ...claims, groups: ['drivers', 'BOSSES', 7, 'x'.repeat(300)] })
    expect(await roleOf(grace)).toBe('admin')
    await admitted({ ...claims, groups: 'Drivers' })
    expect(await roleOf(grace)).toBe('operator')
    await admitted({ ...claims, groups: [] })
    expect(await roleOf(grace)).toBe('viewer')
  })

  test('is refused for whom SCIM has deactivated, and leaves the roles of others to SCIM', async () => {
    await configure()
    await owner.post(`/api/organizations/${team}/role-mappings`, { name: 'Drivers', role: 'operator' })
    const { body } = await owner.post(`/api/organizations/${team}/scim-tokens`, { name: 'Entra' })
    const scim = async (method: string, rest: string, input: object) => {
      const reply = await fetch(`${world.baseUrl}/scim/v2/${team}${rest}`, {
        method,
        headers: { Authorization: `Bearer ${body.token}`, 'Content-Type': 'application/scim+json' },
        body: JSON.stringify(input),
      })
      return await reply.json()
    }
    const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User']
    const userName = `grace@${domain}`
    const { id } = await scim('POST', '/Users', { schemas, userName, active: true })
    const claims = { sub: 'grace', email: userName, groups: ['Drivers'] }
    const grace = await admitted(claims)
    expect(await roleOf(grace)).toBe('viewer')
    await scim('PUT', `/Users/${id}`, { schemas, userName, active: false })
    await refused(claims, /deactivated/)
    expect((await grace.get('/api/auth/profile')).status).toBe(401)
  })

  test('ends after the hours that the organization has chosen, and with the sign-out', async () => {
    await configure({ session_hours: 8 })
    const claims = { sub: 'grace', email: `grace@${domain}` }
    const grace = await admitted(claims)
    passedMs = 8 * HOUR_MS - 60_000
    expect((await grace.get('/api/auth/profile')).status).toBe(200)
    passedMs = 8 * HOUR_MS + 60_000
    expect(codeOf(await grace.get('/api/auth/profile'))).toEqual([401, 'token_expired'])
    const { token, browser } = await signIn(claims)
    const out = await fetch(`${world.baseUrl}/auth/logout`, {
      method: 'POST',
      headers: { Cookie: browser.cookieHeader(), Origin: world.baseUrl },
    })
    expect(out.status).toBe(204)
    expect(codeOf(await grace.request('GET', '/api/auth/profile', undefined, token))).toEqual([
      401,
      'token_invalid',
    ])
    const forged = `${token?.slice(0, -4)}AAAA`
    expect(codeOf(await grace.request('GET', '/api/auth/profile', undefined, forged))).toEqual([
      401,
      'token_invalid',
    ])
  })
})

describe('the callback', () => {
  /** Goes to the callback without following it. */
  async function atCallback(start = `/auth/sso/${team}`, change = (url: URL) => url) {
    await configure()
    provider.become({ sub: 'ada', email: `ada@${domain}`, email_verified: true })
    const browser = createBrowser(world.baseUrl)
    const { url } = await browser.go(start, {}, (at) => at.pathname === '/auth')
    const stopped = await browser.go(change(new URL(url)).href, {}, (at) => at.pathname.endsWith('/callback'))
    return { browser, callback: new URL(stopped.url) }
  }

  test('works once', async () => {
    const { browser, callback } = await atCallback()
    const state = browser.cookie('__login')
    expect((await browser.go(callback.href, {}, (at) => at.pathname === '/dashboard')).url).toContain(
      '/dashboard',
    )
    expect((await browser.go(callback.href)).status).toBe(400)
    const replayed = await fetch(callback, { headers: { Cookie: `__login=${state?.value}` } })
    expect(codeOf(replayed)).toEqual([400, 'sign_in_expired'])
  })

  test('refuses an answer for another nonce', async () => {
    const { browser, callback } = await atCallback(undefined, (url) => {
      url.searchParams.set('nonce', 'another')
      return url
    })
    expect((await browser.go(callback.href)).status).toBe(502)
    expect(browser.cookie('__session')).toBeUndefined()
  })

  test('refuses the answer of another issuer', async () => {
    const { browser, callback } = await atCallback()
    expect(callback.searchParams.get('iss')).toBe(provider.issuer)
    callback.searchParams.set('iss', 'https://evil.example')
    expect((await browser.go(callback.href)).status).toBe(502)
  })

  test('refuses the state of another organization, and of the platform', async () => {
    const { browser, callback } = await atCallback()
    await using second = await startOrganizationProvider()
    const boss = await person(`x@${domain}`)
    const other = await createTeam(boss)
    await verify(other, `other-${domain}`)
    second.register({ id: 'other', secret: SECRET, callbackUrl: callbackOf(other) })
    const acting = await boss.actingFor(other)
    const input = { issuer: second.issuer, client_id: 'other', client_secret: SECRET }
    expect((await acting.request('PUT', `/api/organizations/${other}/sign-in`, input)).status).toBe(200)
    expect((await browser.go(`/auth/sso/${other}/callback${callback.search}`)).status).toBe(400)
    expect((await browser.go(`/auth/callback${callback.search}`)).status).toBe(400)
  })

  test.each(['iss', 'aud', 'signature'])('refuses an ID token with another %s', async (what) => {
    const { browser, callback } = await atCallback()
    const state = JSON.parse(
      Buffer.from(browser.cookie('__login')?.value.split('.')[0] ?? '', 'base64url').toString(),
    )
    const { publicKey, privateKey } = await generateKeyPair('RS256')
    const { privateKey: otherKey } = await generateKeyPair('RS256')
    const json =
      (body: unknown): RequestListener =>
      (_request, response) =>
        void response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
    provider.answer(
      '/jwks',
      json({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }] }),
    )
    const signed = (right: boolean) =>
      new SignJWT({ email: `ada@${domain}`, nonce: state.nonce })
        .setProtectedHeader({ alg: 'RS256', kid: 'k' })
        .setSubject('ada')
        .setIssuer(!right && what === 'iss' ? 'https://evil.example' : provider.issuer)
        .setAudience(!right && what === 'aud' ? 'another' : 'wheelhouse')
        .setIssuedAt()
        .setExpirationTime('1 minute')
        .sign(!right && what === 'signature' ? otherKey : privateKey)
    const answer = async (right: boolean) =>
      provider.answer(
        '/token',
        json({ access_token: 'x', token_type: 'Bearer', id_token: await signed(right) }),
      )
    await answer(false)
    const headers = { Cookie: browser.cookieHeader() }
    expect((await fetch(callback, { headers })).status).toBe(502)
    await answer(true)
    expect((await fetch(callback, { headers, redirect: 'manual' })).status).toBe(302)
  })

  test('says when the provider does not answer, or with too much', async () => {
    const { browser, callback } = await atCallback()
    const headers = { Cookie: browser.cookieHeader() }
    provider.answer('/token', (_request, response) => void response.destroy())
    expect(codeOf(await fetch(callback, { headers }))).toEqual([503, 'identity_provider_unavailable'])
    provider.answer('/token', (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(' '.repeat(1_000_000))
    })
    expect(codeOf(await fetch(callback, { headers }))).toEqual([502, 'identity_provider_error'])
  })
})

describe('an organization that enforces its sign-in', () => {
  test('refuses members whom the provider of the platform has signed in, and leads them on', async () => {
    const ada = await person(`ada@${domain}`)
    await addMember(world, team, ada, 'operator')
    const acting = await ada.actingFor(team)
    const { key } = await acting.key()
    const socket = await acting.hub()
    const driver = await drive(acting)
    await enforce()
    await waitFor(() => expect(socket.socket.connected).toBe(false))
    await driver.closed
    expect(codeOf(await acting.get(`/api/organizations/${team}`))).toEqual([403, 'sign_in_required'])
    expect((await acting.request('GET', `/api/organizations/${team}`, undefined, key)).status).toBe(200)
    expect((await ada.get('/api/auth/profile')).status).toBe(200)

    const browser = createBrowser(world.baseUrl)
    const page = await browser.submit(await browser.go('/auth/login'), { email: `ada@${domain}` })
    expect(page.status).toBe(403)
    expect(page.text).toContain(`href="/auth/sso/${team}"`)
    expect(browser.cookie('__session')).toBeUndefined()

    expect(
      (await (await admitted({ email: `ada@${domain}` })).get(`/api/organizations/${team}`)).status,
    ).toBe(200)
  })

  test('lets owners in with the provider of the platform', async () => {
    await enforce()
    expect((await owner.get(`/api/organizations/${team}`)).status).toBe(200)
    const browser = createBrowser(world.baseUrl)
    const start = await browser.go('/auth/login?return_to=/api/auth/profile')
    expect((await browser.submit(start, { email: `boss@${domain}` })).status).toBe(200)
    expect((await owner.delete(path)).status).toBe(204)
  })
})

describe('sign-ins end at once', () => {
  test.each([
    ['when single sign-on is turned off', () => owner.delete(path)],
    ['with another issuer or client', () => owner.request('PUT', path, inputOf({ client_id: 'another' }))],
    [
      'with the domain',
      async () => {
        const { body } = await owner.get(`/api/organizations/${team}/domains`)
        return await owner.delete(`/api/organizations/${team}/domains/${body.domains[0].id}`)
      },
    ],
    [
      'with the membership',
      async () => {
        const member = await world.platform.core.db
          .selectFrom('organization_members')
          .select('user_id')
          .where('organization_id', '=', team)
          .where('role', '=', 'operator')
          .executeTakeFirstOrThrow()
        return await owner.delete(`/api/organizations/${team}/members/${member.user_id}`)
      },
    ],
  ])('%s, in the hub and at the gateway, too', async (_when, end) => {
    await configure()
    await owner.post(`/api/organizations/${team}/role-mappings`, { name: 'Drivers', role: 'operator' })
    const grace = await admitted({ email: `grace@${domain}`, groups: ['Drivers'] })
    const driver = await drive(grace)
    const socket = await grace.hub()
    expect((await end()).status).toBeLessThan(300)
    expect((await grace.get('/api/auth/profile')).status).toBe(401)
    await waitFor(() => expect(socket.socket.connected).toBe(false))
    await driver.closed
  })
})

test('connections end with the time of a sign-in', async () => {
  await configure({ session_hours: 1 })
  await owner.post(`/api/organizations/${team}/role-mappings`, { name: 'Drivers', role: 'operator' })
  const grace = await admitted({ email: `grace@${domain}`, groups: ['Drivers'] })
  const driver = await drive(grace)
  await world.platform.core.db
    .updateTable('sign_in_sessions')
    .set({ expires_at: new Date() })
    .where('id', '=', grace.token.slice('sso_'.length).split('.')[0] as string)
    .execute()
  await driver.closed

  passedMs = 3_000 - HOUR_MS // the hub has the time of the machine
  const socket = await (await admitted({ email: `ada@${domain}` })).hub()
  await waitFor(() => expect(socket.socket.connected).toBe(false))
})
