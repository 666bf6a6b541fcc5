import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import { createApp } from '../../../src/core/http/app.ts'
import { endpoint } from '../../../src/core/http/endpoint.ts'
import { createCounter } from '../../../src/core/http/rate-limit-counter.ts'
import { createRateLimits } from '../../../src/core/http/rate-limits.ts'
import { createRequestAuthorization } from '../../../src/core/http/request-authorization.ts'
import { ask } from '../../support/network/http-request.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World, type WorldOptions } from '../../support/world/world.ts'

const ROBOTS = '/api/client/robots'
const PER_MINUTE = 20
/** Limits per minute and network: 30 reads, 3 login requests and 3 invalid credentials. */
const PUBLIC_PER_MINUTE = 30

const times = (count: number) => Array.from({ length: count }, (_, index) => index)
let address = 0
/** Returns an address in a network that has sent no request. */
const newcomer = () => `198.51.100.${++address}`

async function limitedWorld(options: Pick<WorldOptions, 'bus' | 'env'> = {}) {
  return await createWorld({
    ...options,
    env: {
      RATE_LIMIT_PER_MINUTE: String(PER_MINUTE),
      RATE_LIMIT_PUBLIC_PER_MINUTE: String(PUBLIC_PER_MINUTE),
      TRUST_PROXY: 'true',
      ALLOW_INSECURE_DEV: 'true',
      ...options.env,
    },
  })
}

const parse = (header: string | null) => /^"([\w-]+)";[qr]=(\d+);[wt]=(\d+)$/.exec(header ?? '') ?? []
function left(answer: { headers: Headers }) {
  const [, name, remaining, seconds] = parse(answer.headers.get('RateLimit'))
  return { name, remaining: Number(remaining), seconds: Number(seconds) }
}
function expectRefusal(answer: Awaited<ReturnType<typeof ask>>, policy: string) {
  expect(answer.status, JSON.stringify(answer.body)).toBe(429)
  expect(answer.body).toEqual({ error: expect.stringContaining(policy) })
  expect(answer.headers.get('Wheelhouse-Error')).toBe('rate_limited')
  const { name, remaining, seconds } = left(answer)
  expect({ name, remaining }).toEqual({ name: policy, remaining: 0 })
  expect(answer.headers.get('Retry-After')).toBe(String(seconds))
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(60)
}

describe('one process', () => {
  let world: World
  let owner: TestUser
  beforeAll(async () => {
    world = await limitedWorld()
    owner = await world.client()
  })
  afterAll(() => world[Symbol.asyncDispose]())
  const get = (path: string, options: Parameters<typeof ask>[1] = {}) => ask(world.baseUrl + path, options)
  /** Returns a credential with a full token bucket. */
  const fresh = async () => ({ token: (await owner.key()).key })

  test('every response of a limited route reports the remaining requests, failures included', async () => {
    const caller = await fresh()
    const first = await get(ROBOTS, caller)
    expect(first.headers.get('RateLimit-Policy')).toBe(`"default";q=${PER_MINUTE};w=60`)
    expect(left(first)).toMatchObject({ name: 'default', remaining: PER_MINUTE - 1 })
    const unknown = await get(`${ROBOTS}/${crypto.randomUUID()}`, caller)
    expect(unknown.status).toBe(404)
    expect(left(unknown).remaining).toBe(PER_MINUTE - 2)
    const forbidden = await get('/api/operator/certifications', caller)
    expect(forbidden.status).toBe(403)
    expect(left(forbidden).remaining).toBe(PER_MINUTE - 3)
    const invalid = await get(ROBOTS, { ...caller, method: 'POST', body: {} })
    expect(invalid.status).toBe(400)
    expect(left(invalid).remaining).toBe(PER_MINUTE - 4)
  })

  test('a credential beyond its limit is refused, and no other', async () => {
    const [greedy, other] = [await fresh(), await fresh()]
    const answers = await Promise.all(times(PER_MINUTE + 5).map(() => get(ROBOTS, greedy)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(PER_MINUTE)
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefusal(answer, 'default')
    expect((await get(ROBOTS, other)).status).toBe(200)
    const metrics = await (await fetch(`${world.baseUrl}/metrics`)).text()
    expect(metrics).toMatch(/wheelhouse_rate_limit_refusals_total\{policy="default"\} [1-9]/)
  })

  test('a new session token has no new limit', async () => {
    const email = 'often@test.local'
    const token = () => world.platform.identity.builtIn!.issueDevToken({ email })
    const [item, two] = [await token(), await token()]
    expect(item).not.toBe(two)
    const before = left(await get('/api/auth/profile', { token: item })).remaining
    expect(left(await get('/api/auth/profile', { token: two })).remaining).toBe(before - 1)
  })

  test('actions on sessions have a separate limit', async () => {
    const caller = await fresh()
    const path = `/api/sessions/${crypto.randomUUID()}`
    const performAction = (action: string) => get(path, { ...caller, method: 'PATCH', body: { action } })
    for (const _ of times(PER_MINUTE)) await get(ROBOTS, caller)
    expectRefusal(await get(ROBOTS, caller), 'default')
    for (const _ of times(PER_MINUTE)) expect((await performAction('pause')).status).toBe(404)
    expectRefusal(await performAction('pause'), 'sessions')
  })

  describe('by network', () => {
    const from = (path: string, forwarded: string, options: Parameters<typeof ask>[1] = {}) =>
      get(path, { ...options, headers: { 'X-Forwarded-For': forwarded, ...options.headers } })

    test('bad credentials get 429 beyond the limit, and good ones from the same network still pass', async () => {
      const here = newcomer()
      const bad = () => from(ROBOTS, here, { token: 'nonsense' })
      for (const _ of times(PUBLIC_PER_MINUTE / 10)) {
        const answer = await bad()
        expect(answer.status).toBe(401)
        expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer')
        expect(left(answer).name).toBe('failed-auth')
      }
      expectRefusal(await bad(), 'failed-auth')
      expect((await from(ROBOTS, newcomer(), { token: 'nonsense' })).status).toBe(401)
      expect((await from(ROBOTS, here, await fresh())).status).toBe(200)
    })

    test('login is limited, with a page for browsers', async () => {
      const here = newcomer()
      for (const _ of times(PUBLIC_PER_MINUTE / 10)) {
        const answer = await from('/auth/login', here)
        expect(answer.status).toBe(302)
        expect(left(answer).name).toBe('login')
      }
      expectRefusal(await from('/auth/login', here), 'login')
      expectRefusal(await from('/idp/interaction/x', here, { method: 'POST' }), 'login')
      const page = await from('/auth/login', here, { headers: { Accept: 'text/html' } })
      expect(page.status).toBe(429)
      expect(page.headers.get('Retry-After')).toMatch(/^\d+$/)
      expect(page.body).toContain('Too many requests')
      expect((await from('/idp/jwks', here)).status).toBe(200)
    })

    test('only the address that the trusted proxy adds to X-Forwarded-For counts', async () => {
      const here = newcomer()
      const answers: string[] = []
      for (const invented of times(PUBLIC_PER_MINUTE / 10 + 1)) {
        const answer = await from(ROBOTS, `10.0.0.${invented}, ${here}`, { token: 'nonsense' })
        answers.push(String(answer.status))
      }
      expect(answers.at(-1)).toBe('429')
    })
  })

  test.each(['/api/health', '/livez', '/readyz', '/metrics'])('%s is not limited', async (path) => {
    for (const _ of times(PUBLIC_PER_MINUTE + 5)) {
      const answer = await get(path)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('RateLimit')).toBeNull()
    }
  })
})

test('0 disables the limits', async () => {
  await using world = await limitedWorld({
    env: { RATE_LIMIT_PER_MINUTE: '0', RATE_LIMIT_PUBLIC_PER_MINUTE: '0' },
  })
  const owner = await world.client()
  for (const _ of times(30)) {
    const answer = await owner.get(ROBOTS)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('RateLimit')).toBeNull()
    expect((await ask(`${world.baseUrl}${ROBOTS}`, { token: 'bad' })).status).toBe(401)
  }
})

test('several processes share the limits through Redis', async () => {
  await using world = await limitedWorld({ bus: 'redis' })
  const port = await freePort()
  await world.addNode('api', { PORT: String(port) })
  const owner = await world.client()
  const { key: token } = await owner.key()
  const at = (index: number) => (index % 2 === 0 ? world.baseUrl : `http://localhost:${port}`) + ROBOTS
  // A process whose connection is not ready yet counts in memory.
  await waitFor(async () => {
    const credential = { token: 'nonsense', headers: { 'X-Forwarded-For': newcomer() } }
    const first = left(await ask(at(0), credential)).remaining
    expect(left(await ask(at(1), credential)).remaining).toBe(first - 1)
  })
  // One after the other: on a busy machine, Redis would answer some of many at once too late to count.
  const statuses: number[] = []
  for (const index of times(PER_MINUTE + 10)) statuses.push((await ask(at(index), { token })).status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(PER_MINUTE)
  expect(statuses.filter((status) => status === 429)).toHaveLength(10)
})

test('public routes are limited by network, writes more than reads; the payment webhook is not limited', async () => {
  const refusals: string[] = []
  const limits = createRateLimits(
    { perMinute: 7, publicPerMinute: 30 },
    { redis: undefined, countRejected: (policy) => refusals.push(policy) },
  )
  const open = (method: 'get' | 'post', path: string) =>
    endpoint({ method, path, summary: 'x', access: 'public', response: [204], run: async () => {} })
  const app = createApp({
    log: pino({ level: 'silent' }),
    corsOrigins: [],
    trustedProxies: 2,
    https: false,
    before: [],
    endpoints: [
      open('get', '/api/read'),
      open('post', '/api/write'),
      open('post', '/api/payments/webhook'),
      { ...open('post', '/api/offer'), publicLimit: 'video' },
    ],
    authenticate: createRequestAuthorization({
      identify: () => Promise.reject(),
      authorize: () => {},
      limits,
      requestLimits: async () => {},
    }),
  })
  const server = createServer(app.callback())
  await new Promise<void>((done) => server.listen(0, 'localhost', done))
  try {
    const base = `http://localhost:${(server.address() as AddressInfo).port}`
    /** Sends requests through two proxies and groups the replies by status. X-Forwarded-For lists the client's own
     *  value, its address, and the outer proxy. */
    const statuses = async (method: string, path: string, count: number, network: string) => {
      const from = (invented: number) => ({ 'X-Forwarded-For': `10.9.8.${invented}, ${network}, 10.0.0.1` })
      const answers = await Promise.all(
        times(count).map((item) => ask(base + path, { method, headers: from(item) })),
      )
      return Object.groupBy(answers, ({ status }) => String(status))
    }
    const reads = await statuses('GET', '/api/read', 35, '2001:db8::1')
    expect([reads['204']?.length, reads['429']?.length]).toEqual([30, 5])
    for (const answer of reads['429']!) expectRefusal(answer, 'public')
    const writes = await statuses('POST', '/api/write', 5, '2001:db8::2') // the same /64
    expect([writes['204']?.length, writes['429']?.length]).toEqual([2, 3])
    for (const answer of writes['429']!) expectRefusal(answer, 'public-writes')
    const offers = await statuses('POST', '/api/offer', 9, '2001:db8::2')
    expect([offers['204']?.length, offers['429']?.length]).toEqual([7, 2])
    for (const answer of offers['429']!) expectRefusal(answer, 'video')
    expect((await statuses('HEAD', '/api/read', 1, '2001:db8::3'))['429']).toHaveLength(1)
    expect((await statuses('GET', '/api/read', 1, '2001:db8:0:1::1'))['204']).toHaveLength(1)
    expect((await statuses('POST', '/api/payments/webhook', 50, '2001:db8::1'))['204']).toHaveLength(50)
    expect(refusals.toSorted()).toEqual([
      ...times(6).map(() => 'public'),
      ...times(3).map(() => 'public-writes'),
      ...times(2).map(() => 'video'),
    ])
  } finally {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
})

describe('counting in memory', () => {
  test('forgets the oldest callers beyond its capacity, and never an active one', async () => {
    const count = createCounter({ name: 'x', limit: 3, windowSeconds: 60, redis: undefined })
    for (const _ of times(3)) await count('first')
    expect((await count('first')).allowed).toBe(false)
    for (const caller of times(19_999)) await count(`flood ${caller}`)
    expect((await count('first')).allowed).toBe(false)
    await count('one more')
    expect(await count('first')).toMatchObject({ allowed: true, remaining: 2 })
  })
})

test('counting in Redis leaves no keys', async () => {
  const redis = new Redis(serviceUrl('redisUrl'))
  try {
    await redis.ping() // connected
    const count = createCounter({ name: 'test-expiry', limit: 1, windowSeconds: 10, redis })
    expect((await count('me')).allowed).toBe(true)
    expect((await count('me')).allowed).toBe(false)
    expect(await redis.keys('wheelhouse:rate:test-expiry:*')).toEqual(['wheelhouse:rate:test-expiry:me'])
    // Redis removes the key with the window.
    const leftMs = await redis.pttl('wheelhouse:rate:test-expiry:me')
    expect(leftMs).toBeGreaterThan(0)
    expect(leftMs).toBeLessThanOrEqual(10_000)
  } finally {
    redis.disconnect()
  }
})
