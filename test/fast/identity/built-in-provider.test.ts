import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { interactionPolicy, Provider } from 'oidc-provider'
import * as oidc from 'openid-client'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createSecrets } from '../../../src/core/secrets.ts'
import { createIdentityProvider } from '../../../src/modules/identity/oidc/provider.ts'
import { createDiscovery } from '../../../src/modules/identity/tokens/discovery.ts'
import { remoteJwks } from '../../../src/modules/identity/tokens/tokens.ts'
import { createBrowser } from '../../support/network/cookie-client.ts'
import { createIdentityWorld, type IdentityWorld } from '../../support/world/identity-world.ts'

let world: IdentityWorld
beforeAll(async () => {
  world = await createIdentityWorld()
})
afterAll(() => world?.[Symbol.asyncDispose]())

const settings = async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'idp-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const secrets = createSecrets('a root key for tests, 32 characters or more')
  return { baseUrl: 'http://localhost:1', dataDir, secrets, production: false, accounts: [], report() {} }
}

test('the built-in provider refuses to run in production', async () => {
  const parts = { ...(await settings()), production: true }
  await expect(createIdentityProvider(parts)).rejects.toThrow('production')
})

test('processes that start at once share one private key file; a restart keeps it', async () => {
  const parts = await settings()
  const started = await Promise.all(Array.from({ length: 8 }, () => createIdentityProvider(parts)))
  const tokens = await Promise.all(
    [...started, await createIdentityProvider(parts)].map((p) => p.issueDevToken({ email: 'a@b.example' })),
  )

  expect(new Set(tokens.map((token) => decodeProtectedHeader(token).kid)).size).toBe(1)
  const path = join(parts.dataDir, 'idp-jwks.json')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(JSON.parse(await readFile(path, 'utf8')).keys).toHaveLength(1)
})

test('it starts and serves a sign-in without console output', async () => {
  const consoleSpies = (['log', 'info', 'warn', 'error'] as const).map((name) => vi.spyOn(console, name))
  await using starting = await createIdentityWorld()
  const browser = createBrowser(starting.baseUrl)
  await browser.submit(await browser.go('/auth/login'), { email: 'ada@example.com' })
  await browser.go('/idp/auth?client_id=unknown')

  expect(browser.cookie('__session')).toBeDefined()
  for (const spy of consoleSpies) expect(spy).not.toHaveBeenCalled()
  expect(starting.problems).toEqual([])
})

test('only public key material is published', async () => {
  const { keys } = (await world.with({}).get('/idp/jwks')).body
  expect(keys).toHaveLength(1)
  expect(keys[0]).not.toHaveProperty('d')
})

test('a command line signs in over its loopback address and gets tokens like those issued at start', async () => {
  const config = await oidc.discovery(new URL(world.idp.issuer), 'wheelhouse-cli', undefined, oidc.None(), {
    execute: [oidc.allowInsecureRequests],
  })
  const verifier = oidc.randomPKCECodeVerifier()
  const callback = 'http://127.0.0.1:45678/callback'
  const start = oidc.buildAuthorizationUrl(config, {
    redirect_uri: callback,
    scope: 'openid email profile',
    code_challenge_method: 'S256',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
  })

  const browser = createBrowser(world.baseUrl)
  // After a sign-in as another user, the account page must still redirect directly.
  await browser.submit(await browser.go('/auth/login'), { email: 'grace@example.com' })
  const page = await browser.go(start.href)
  expect(page.headers.get('Content-Security-Policy')).toContain(`form-action 'self' http://127.0.0.1:45678;`)
  const back = await browser.submit(page, { email: 'ada@example.com' }, ({ port }) => port === '45678')
  const tokens = await oidc.authorizationCodeGrant(config, new URL(back.url), { pkceCodeVerifier: verifier })

  expect((await world.as(tokens.access_token).get('/api/auth/profile')).body.display_name).toBe('Ada <Owner>')
  const signedIn = decodeJwt(tokens.access_token)
  const issued = decodeJwt(await world.idp.issueDevToken({ email: 'ada@example.com' }))
  for (const claim of ['iss', 'aud', 'sub', 'email', 'email_verified', 'name']) {
    expect([claim, issued[claim]]).toEqual([claim, signedIn[claim]])
  }
  expect(decodeProtectedHeader(tokens.access_token)).toMatchObject({ typ: 'at+jwt', alg: 'ES256' })
})

test('a code without its PKCE verifier is rejected', async () => {
  const browser = createBrowser(world.baseUrl)
  const page = await browser.go('/auth/login')
  const back = await browser.submit(
    page,
    { email: 'ada@example.com' },
    (url) => url.pathname === '/auth/callback',
  )
  const exchange = await fetch(`${world.baseUrl}/idp/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'wheelhouse-dashboard',
      code: new URL(back.url).searchParams.get('code') ?? '',
      code_verifier: 'x'.repeat(43),
      redirect_uri: `${world.baseUrl}/auth/callback`,
    }),
  })
  expect(exchange.status).toBe(400)
  expect(await exchange.json()).toMatchObject({ error: 'invalid_grant' })
})

test('another browser cannot continue a sign-in', async () => {
  const page = await createBrowser(world.baseUrl).go('/auth/login')
  const unrelatedUser = await createBrowser(world.baseUrl).submit(page, { email: 'ada@example.com' })

  expect(unrelatedUser.status).toBe(400)
  expect(unrelatedUser.text).toContain('another browser')
})

test('a provider whose access tokens are opaque signs in with its ID token', async () => {
  const server = createServer().listen(0, 'localhost')
  await new Promise((done) => server.once('listening', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`
  const client = { clientId: 'console', clientSecret: 's3cret:/%' }

  await using world = await createIdentityWorld({
    provider: (baseUrl) => {
      server.on('request', strangeProvider(issuer, client, `${baseUrl}/auth/callback`).callback())
      const jwks = remoteJwks({ discover: createDiscovery({ issuer }) })
      return { ...client, issuer, audience: client.clientId, jwks }
    },
  })
  const browser = createBrowser(world.baseUrl)
  const page = await browser.go('/auth/login?return_to=/api/auth/profile')

  expect(JSON.parse(page.text)).toMatchObject({ email: 'eve@elsewhere.example' })
  expect(decodeJwt(browser.cookie('__session')?.value ?? '')).toMatchObject({ aud: 'console' })
})

test('an unreachable provider is reported as a page or as JSON', async () => {
  const issuer = 'http://127.0.0.1:9'
  const jwks = remoteJwks({ discover: createDiscovery({ issuer }) })
  await using world = await createIdentityWorld({
    provider: () => ({ issuer, audience: 'console', clientId: 'console', jwks }),
  })
  const page = await createBrowser(world.baseUrl).go('/auth/login')
  const reply = await world.with({ Accept: 'application/json' }).get('/auth/login')

  expect([page.status, reply.status]).toEqual([503, 503])
  expect(page.text).toContain('unreachable')
  expect(reply.body).toEqual({ error: expect.stringContaining('unreachable') })
})

/** Starts an external provider with opaque access tokens and a client secret, where every user is Eve. */
function strangeProvider(
  issuer: string,
  client: { clientId: string; clientSecret: string },
  redirectUri: string,
): Provider {
  // The provider warns about its defaults, which this test uses on purpose.
  for (const name of ['warn', 'info'] as const) vi.spyOn(console, name).mockImplementation(() => {})
  onTestFinished(() => void vi.restoreAllMocks())
  const policy = interactionPolicy.base()
  policy.clear()
  const provider = new Provider(issuer, {
    clients: [
      { client_id: client.clientId, client_secret: client.clientSecret, redirect_uris: [redirectUri] },
    ],
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    interactions: { policy },
    findAccount: (_http, sub) => ({
      accountId: sub,
      claims: async () => ({ sub, email: 'eve@elsewhere.example', email_verified: true }),
    }),
    async loadExistingGrant({ oidc: { provider: own } }) {
      const grant = new own.Grant({ clientId: client.clientId, accountId: 'eve' })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  provider.use(async (http, next) => {
    const session = await provider.Session.get(http)
    if (!session.accountId) {
      session.loginAccount({ accountId: 'eve' })
      await session.save(600)
      http.cookies.set('_session', session.jti)
      http.req.headers.cookie = `_session=${session.jti}`
    }
    await next()
  })
  return provider
}
