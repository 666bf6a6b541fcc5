import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiEndpoints } from '../../../src/roles/api/api.ts'
import { ask } from '../../support/network/http-request.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const CONSOLE = 'https://console.example'
const PROFILE = '/api/auth/profile'

let world: World
let owner: TestUser
let cookie: { Cookie: string }
beforeAll(async () => {
  world = await createWorld({ env: { CORS_ORIGINS: CONSOLE } })
  owner = await world.client()
  cookie = { Cookie: `__session=${owner.token}` }
})
afterAll(() => world[Symbol.asyncDispose]())

/** Headers that browsers send with requests of foreign pages. src/modules/identity/auth/same-origin.test.ts has more. */
const hostile = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }
const allowedRequests = (): Record<string, Record<string, string>> => ({
  'the platform’s pages': { 'Sec-Fetch-Site': 'same-origin', Origin: world.baseUrl },
  'the platform’s pages, in an old browser': { Origin: world.baseUrl },
  'the user (address bar)': { 'Sec-Fetch-Site': 'none' },
  'an allowed origin': { 'Sec-Fetch-Site': 'cross-site', Origin: CONSOLE },
})

describe('a request with the session cookie', () => {
  test('that names another site changes nothing on any route', async () => {
    const unsafe = apiEndpoints(world.platform, () => '').filter(
      ({ method, access }) => method !== 'get' && access !== 'public',
    )
    expect(unsafe.length).toBeGreaterThan(10)
    for (const { method, path } of unsafe) {
      const url = world.baseUrl + path.replace('{id}', randomUUID())
      const headers = { ...cookie, ...hostile }
      const answer = await ask(url, { method: method.toUpperCase(), headers, body: {} })
      expect(answer.status, `${method} ${path}`).toBe(403)
      expect(answer.body.error, `${method} ${path}`).toContain('allowed origin')
    }
  })

  test('from another site as a form or a simple request is rejected too', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const headers = { ...cookie, ...hostile, 'Content-Type': type }
      const body = '{"display_name":"Hacked"}'
      const answer = await ask(world.baseUrl + PROFILE, { method: 'POST', headers, body })
      expect(answer.status, type).toBe(403)
    }
    expect((await owner.get(PROFILE)).body.display_name).toBe(owner.name)
  })

  test('from the platform’s pages and from allowed origins can change data', async () => {
    for (const [from, headers] of Object.entries(allowedRequests())) {
      const change = { method: 'POST', headers: { ...cookie, ...headers }, body: { display_name: from } }
      const answer = await ask(world.baseUrl + PROFILE, change)
      expect(answer, from).toMatchObject({ status: 200, body: { display_name: from } })
    }
  })

  test('can read from any origin; CORS decides whether a page sees the response', async () => {
    const answer = await ask(world.baseUrl + PROFILE, { headers: { ...cookie, ...hostile } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull()
  })

  test('is rejected the same way with a valid and an invalid cookie', async () => {
    const headers = { Cookie: '__session=nonsense', ...hostile }
    expect((await ask(world.baseUrl + PROFILE, { method: 'POST', headers, body: {} })).status).toBe(401)
  })
})

test('a request with a Bearer token requires no origin', async () => {
  for (const headers of [{}, hostile]) {
    const change = { method: 'POST', token: owner.token, headers, body: { display_name: 'By program' } }
    expect((await ask(world.baseUrl + PROFILE, change)).status).toBe(200)
  }
})

test('a cookie does not replace an invalid Bearer token', async () => {
  const headers = {
    ...cookie,
    ...allowedRequests()['the platform’s pages'],
    Authorization: 'Bearer nonsense',
  }
  expect((await ask(world.baseUrl + PROFILE, { method: 'POST', headers, body: {} })).status).toBe(401)
})

describe('signing in and out', () => {
  test.each([{}, hostile])('a request that names %j signs no user out', async (from) => {
    const headers = { ...cookie, ...from }
    const answer = await ask(`${world.baseUrl}/auth/logout`, { method: 'POST', headers })
    expect(answer.status).toBe(403)
    expect(answer.headers.get('Set-Cookie')).toBeNull()
  })

  test('the platform’s pages and allowed origins sign out', async () => {
    for (const [from, headers] of Object.entries(allowedRequests())) {
      const answer = await ask(`${world.baseUrl}/auth/logout`, {
        method: 'POST',
        headers: { ...cookie, ...headers },
      })
      expect(answer.status, from).toBe(204)
      expect(answer.headers.get('Set-Cookie'), from).toContain('__session=; Path=/; Max-Age=0')
    }
  })

  test('a link to the callback signs no other browser in', async () => {
    const begun = await ask(`${world.baseUrl}/auth/login`)
    const state = new URL(begun.headers.get('Location') ?? '').searchParams.get('state')
    const link = `${world.baseUrl}/auth/callback?code=stolen&state=${state}`
    const answer = await ask(link) // another browser without the state cookie
    expect(answer.status).toBe(400)
    expect(answer.headers.get('Set-Cookie')).toBeNull()
  })

  test('both cookies are HttpOnly and SameSite', async () => {
    const begun = await ask(`${world.baseUrl}/auth/login`)
    expect(begun.headers.get('Set-Cookie')).toMatch(/^__login=.*; HttpOnly; SameSite=Lax$/)
  })
})
