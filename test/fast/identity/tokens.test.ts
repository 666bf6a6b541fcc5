import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import {
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createDiscovery } from '../../../src/modules/identity/tokens/discovery.ts'
import { remoteJwks } from '../../../src/modules/identity/tokens/tokens.ts'
import { ADMIN, createIdentityWorld, type IdentityWorld } from '../../support/world/identity-world.ts'
import { waitFor } from '../../support/world/wait.ts'

let world: IdentityWorld
let key: Awaited<ReturnType<typeof importJWK>>
let kid: string
let publicKey: { x: string; y: string }
beforeAll(async () => {
  world = await createIdentityWorld()
  const { keys } = JSON.parse(await readFile(join(world.dataDir, 'idp-jwks.json'), 'utf8'))
  key = await importJWK(keys[0], 'ES256')
  kid = keys[0].kid
  publicKey = keys[0]
})
afterAll(() => world[Symbol.asyncDispose]())

const now = () => Math.floor(Date.now() / 1000)

const validClaims = (): JWTPayload => ({
  iss: world.idp.issuer,
  aud: world.idp.audience,
  sub: 'someone@example.com',
  exp: now() + 60,
  iat: now(),
})
const sign = (claims: JWTPayload, header = {}) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid, ...header }).sign(key as CryptoKey)

const without = (name: string) => {
  const { [name]: _dropped, ...rest } = validClaims()
  return rest
}

test('a valid token is accepted, and its first use creates the user', async () => {
  const reply = await world.as(await sign(validClaims())).get('/api/auth/profile')

  expect(reply.status).toBe(200)
  expect(reply.body).toMatchObject({ email: null, display_name: 'User', roles: [] })
})

describe('401 with WWW-Authenticate for', () => {
  const faults: Record<string, () => Promise<string> | string> = {
    'an expired token': () => sign({ ...validClaims(), exp: now() - 6 }),
    'a token not valid yet': () => sign({ ...validClaims(), nbf: now() + 60 }),
    'another audience': () => sign({ ...validClaims(), aud: 'urn:other' }),
    'another issuer': () => sign({ ...validClaims(), iss: 'https://evil.example' }),
    'no issuer': () => sign(without('iss')),
    'no audience': () => sign(without('aud')),
    'no expiry': () => sign(without('exp')),
    'no subject': () => sign(without('sub')),
    'an empty subject': () => sign({ ...validClaims(), sub: '' }),
    'a subject that the database cannot store': () => sign({ ...validClaims(), sub: 'a\0b' }),
    'a subject that is too long': () => sign({ ...validClaims(), sub: 'a'.repeat(256) }),
    'algorithm none': () => new UnsecuredJWT(validClaims()).encode(),
    'HS256 with the public key as the secret': () =>
      new SignJWT(validClaims())
        .setProtectedHeader({ alg: 'HS256', kid })
        .sign(Buffer.from(JSON.stringify(publicKey))),
    'an unknown key id': () => sign(validClaims(), { kid: 'unknown' }),
    'a foreign key under the provider’s key id': async () => {
      const { privateKey } = await generateKeyPair('ES256')
      return new SignJWT(validClaims()).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey)
    },
    'a changed payload': async () => {
      const [header, , signature] = (await sign(validClaims())).split('.')
      const payload = Buffer.from(JSON.stringify({ ...validClaims(), sub: 'other' })).toString('base64url')
      return `${header}.${payload}.${signature}`
    },
    'no token at all': () => 'nonsense',
  }
  test.each(Object.keys(faults))('%s', async (name) => {
    const reply = await world.as(await (faults[name]?.() ?? '')).get('/api/auth/profile')

    expect(reply.status).toBe(401)
    expect(reply.headers.get('WWW-Authenticate')).toBe('Bearer')
    expect(reply.body).toEqual({ error: expect.any(String) })
  })

  test.each(['', 'Bearer', 'Bearer ', 'Basic YTpi', 'Bearer a b', 'Token x'])(
    'the header "%s"',
    async (Authorization) => {
      const reply = await world.with({ Authorization }).get('/api/auth/profile')
      expect(reply.status).toBe(401)
      expect(reply.headers.get('WWW-Authenticate')).toBe('Bearer')
    },
  )

  test('no credential', async () => {
    expect((await world.with({}).get('/api/auth/profile')).status).toBe(401)
  })
})

test('clocks may differ by a few seconds', async () => {
  const reply = await world.as(await sign({ ...validClaims(), exp: now() - 2 })).get('/api/auth/profile')
  expect(reply.status).toBe(200)
})

describe('an address of an admin', () => {
  const rolesFor = async (email: string, email_verified: unknown = true) => {
    const claims = { ...validClaims(), sub: randomUUID(), email, email_verified }
    const user = world.as(await sign(claims))
    const first = (await user.get('/api/auth/profile')).body
    const synced = (await user.post('/api/auth/sync')).body
    return [...first.roles, ...synced.roles]
  }

  test('makes an admin if the provider verified it, regardless of case', async () => {
    expect(await rolesFor(ADMIN)).toEqual(['admin', 'admin'])
    expect(await rolesFor(ADMIN.toUpperCase(), 'true')).toEqual(['admin', 'admin'])
  })

  test.each([
    ['a leading space', ` ${ADMIN}`],
    ['a trailing space', `${ADMIN} `],
    ['a trailing line break', `${ADMIN}\n`],
    ['NUL before it', `\0${ADMIN}`],
    ['a trailing control character', `${ADMIN}\u0085`],
    ['a trailing line separator', `${ADMIN}\u2028`],
    ['more characters than are stored', `${ADMIN}${' '.repeat(400)}x`],
  ])('with %s makes no admin: the provider verified another address', async (_what, email) => {
    expect(await rolesFor(email)).toEqual([])
  })

  test.each([false, 'false', 'yes', 1, null])('with email_verified %j makes no admin', async (verified) => {
    expect(await rolesFor(ADMIN, verified)).toEqual([])
  })
})

test('claims that the database cannot store are normalized, not rejected', async () => {
  const odd = {
    sub: 'odd',
    name: `\0 ${'é\u{1f916}'.repeat(80)}`,
    email: 'no address',
    picture: 'javascript:x',
  }
  const reply = await world.as(await sign({ ...validClaims(), ...odd })).get('/api/auth/profile')

  expect(reply.status).toBe(200)
  expect(reply.body).toMatchObject({ email: null, avatar_url: null })
  expect(reply.body.display_name.length).toBeLessThanOrEqual(100)
})

test('concurrent first requests of a new subject create one user', async () => {
  const token = await sign({ ...validClaims(), sub: 'newcomer' })
  // The lock allows reads but no inserts, so that all requests find no user before one creates it.
  const replies = await world.db.transaction().execute(async (trx) => {
    await sql`lock table users in share row exclusive mode`.execute(trx)
    const asked = Array.from({ length: 9 }, () => world.as(token).get('/api/auth/profile'))
    await waitFor(async () => {
      const waiting = sql`select from pg_locks where not granted and relation = 'users'::regclass`
      expect((await waiting.execute(trx)).rows).toHaveLength(9)
    })
    return asked
  })

  const answers = (await Promise.all(replies)).map(({ status, body }) => `${status} ${body.id}`)
  expect(new Set(answers).size).toBe(1)
  expect(answers[0]).toMatch(/^200 /)
  const rows = await world.db.selectFrom('users').select('id').where('subject', '=', 'newcomer').execute()
  expect(rows).toHaveLength(1)
})

test('a provider’s key with an unlisted algorithm is rejected', async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES384')
  const jwks = createLocalJWKSet({ keys: [await exportJWK(publicKey)] })
  await using other = await createIdentityWorld({
    provider: () => ({ issuer: world.idp.issuer, audience: world.idp.audience, jwks }),
  })
  const token = await new SignJWT(validClaims()).setProtectedHeader({ alg: 'ES384' }).sign(privateKey)

  expect((await other.as(token).get('/api/auth/profile')).status).toBe(401)
})

describe('keys read from the provider', () => {
  test('are discovered and verify its tokens', async () => {
    const jwks = remoteJwks({ discover: createDiscovery({ issuer: world.idp.issuer }) })
    await using other = await createIdentityWorld({
      provider: () => ({ issuer: world.idp.issuer, audience: world.idp.audience, jwks }),
    })
    const token = await world.tokenOf('ada')
    expect((await other.as(token).get('/api/auth/profile')).body.email).toBe('ada@example.com')
    expect((await other.as(await sign(validClaims(), { kid: 'x' })).get('/api/auth/profile')).status).toBe(
      401,
    )
  })

  test.each([
    ['discovery', { discover: createDiscovery({ issuer: 'http://127.0.0.1:9' }) }],
    ['the key set', { discover: neverAsked, jwksUrl: 'http://127.0.0.1:9/jwks' }],
  ])('result in 503, not 401, while %s is unreachable', async (_what, source) => {
    await using other = await createIdentityWorld({
      provider: () => ({ issuer: world.idp.issuer, audience: world.idp.audience, jwks: remoteJwks(source) }),
    })
    const reply = await other.as(await world.tokenOf('ada')).get('/api/auth/profile')

    expect(reply.status).toBe(503)
    expect(reply.headers.get('Retry-After')).toBe('1')
    expect(reply.headers.get('WWW-Authenticate')).toBeNull()
  })

  test('remain valid from the cache while the provider is unreachable', async () => {
    const { publicKey } = await generateKeyPair('ES256')
    const published = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }] })
    const server = createServer((_request, reply) => reply.end(published)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const jwks = remoteJwks({ discover: neverAsked, jwksUrl: `http://127.0.0.1:${port}/` })
    const find = () => jwks({ alg: 'ES256', kid: 'k' }, { payload: '', signature: '' })
    await find()

    server.closeAllConnections()
    await new Promise((done) => server.close(done))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 }) // long after the cache expires
    onTestFinished(() => void vi.useRealTimers())

    await expect(find()).resolves.toBeDefined()
    await expect(jwks({ alg: 'ES256', kid: 'new' }, { payload: '', signature: '' })).rejects.toThrow(
      'unreachable',
    )
  })
})

async function neverAsked(): Promise<never> {
  throw new Error('discovery is not needed here')
}
