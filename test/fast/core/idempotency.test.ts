import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import { createApp } from '../../../src/core/http/app.ts'
import { type Endpoint, endpoint } from '../../../src/core/http/endpoint.ts'
import { ask } from '../../support/network/http-request.ts'
import { query } from '../../support/processes/processes.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const ROBOTS = '/api/client/robots'
const SESSIONS = '/api/sessions'
const KEYS = '/api/auth/api-keys'
/** Longer than the lease of a request that died. */
const LEASE_OVER_MS = 31_000
const DAY_MS = 24 * 3_600_000

let world: World
let owner: TestUser
let sql: Client
/** The offset of the platform's clock. */
let aheadMs = 0
beforeAll(async () => {
  world = await createWorld({ bus: 'redis', now: () => new Date(Date.now() + aheadMs) })
  owner = await world.client()
  sql = new Client({ connectionString: world.database.url })
  await sql.connect()
})
afterAll(async () => {
  await sql.end()
  await world[Symbol.asyncDispose]()
})

const board = () => ({ name: 'Arm', robot_type: 'testbot', hardware_id: randomUUID() })

/** Sends a POST with a key to the first api process or to another process. */
const post = (
  user: { token: string },
  path: string,
  body: unknown,
  key: string,
  options: { at?: string; headers?: Record<string, string> } = {},
) =>
  ask((options.at ?? world.baseUrl) + path, {
    method: 'POST',
    token: user.token,
    headers: { 'Idempotency-Key': key, ...options.headers },
    ...(body !== undefined && { body }),
  })
const rows = async (text: string, values: unknown[] = []) => (await sql.query(text, values)).rows
const stored = async (key: string) => (await rows('select * from idempotency_keys where key = $1', [key]))[0]
const robotsWith = (hardwareId: string) => rows('select id from robots where hardware_id = $1', [hardwareId])
const versionOf = async (robotId: string) =>
  (await rows('select token_version from robots where id = $1', [robotId]))[0].token_version

describe('a repeated POST', () => {
  test('gets the first response, marked as replayed, and changes nothing', async () => {
    const [key, body] = [randomUUID(), board()]
    const first = await post(owner, ROBOTS, body, key)
    expect(first.status).toBe(201)
    expect(first.headers.get('Idempotent-Replayed')).toBeNull()
    for (let time = 0; time < 3; time++) {
      const again = await post(owner, ROBOTS, body, key)
      expect(again).toMatchObject({ status: 201, body: first.body })
      expect(again.headers.get('Idempotent-Replayed')).toBe('true')
    }
    expect(await robotsWith(body.hardware_id)).toEqual([{ id: first.body.id }])
  })

  test('is recognised with its fields in another order, and with every credential of the user', async () => {
    const [key, body] = [randomUUID(), board()]
    const first = await post(owner, ROBOTS, body, key)
    const reordered = Object.fromEntries(Object.entries(body).reverse())
    const { key: apiKey } = await owner.key()
    const again = await post({ token: apiKey }, ROBOTS, reordered, key)
    expect(again).toMatchObject({ status: 201, body: first.body })
    expect(again.headers.get('Idempotent-Replayed')).toBe('true')
  })

  test('without a body is recognised too', async () => {
    const robot = await world.robot(owner)
    const key = randomUUID()
    const first = await post(owner, `${ROBOTS}/${robot.id}/token`, undefined, key)
    const again = await post(owner, `${ROBOTS}/${robot.id}/token`, undefined, key)
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.body).toEqual(first.body)
    expect(await versionOf(robot.id)).toBe(2)
  })

  test('gets a response that no cache may store either', async () => {
    const key = randomUUID()
    await post(owner, KEYS, { name: 'kept' }, key)
    const again = await post(owner, KEYS, { name: 'kept' }, key)
    expect(again.headers.get('Idempotent-Replayed')).toBe('true')
    expect(again.headers.get('Cache-Control')).toBe('no-store')
  })

  test.each([
    ['another body', ROBOTS, () => board()],
    ['another route', KEYS, () => ({ name: 'x' })],
    ['another query', `${ROBOTS}?x=1`, undefined],
  ])('with %s is a 422', async (_what, path, make) => {
    const [key, body] = [randomUUID(), board()]
    await post(owner, ROBOTS, body, key)
    const other = await post(owner, path, make?.() ?? body, key)
    expect(other).toMatchObject({ status: 422, body: { error: expect.stringContaining('another request') } })
  })

  test('does not affect other users: the same key of another user is independent', async () => {
    const [key, other] = [randomUUID(), await world.client()]
    const [own, foreign] = [await post(owner, ROBOTS, board(), key), await post(other, ROBOTS, board(), key)]
    expect([own.status, foreign.status]).toEqual([201, 201])
    expect(foreign.body.id).not.toBe(own.body.id)
  })

  test('still requires its credential', async () => {
    const key = randomUUID()
    const { id, key: apiKey } = await owner.key()
    const body = board()
    expect((await post({ token: apiKey }, ROBOTS, body, key)).status).toBe(201)
    await owner.delete(`${KEYS}/${id}`)
    expect((await post({ token: apiKey }, ROBOTS, body, key)).status).toBe(401)
  })
})

test('a key must have 1 to 255 printable characters', async () => {
  for (const key of ['', 'x'.repeat(256), 'schlüssel']) {
    const answer = await post(owner, ROBOTS, board(), key)
    expect(answer, JSON.stringify(key)).toMatchObject({ status: 400 })
    expect(answer.body.error).toContain('Idempotency-Key')
  }
  for (const key of ['x', '~'.repeat(255), 'with spaces and "quotes"']) {
    expect((await post(owner, ROBOTS, board(), key)).status, key).toBe(201)
  }
})

test('methods other than POST ignore the key', async () => {
  const robot = await world.robot(owner)
  const headers = { 'Idempotency-Key': 'a key', Authorization: `Bearer ${owner.token}` }
  for (const notes of ['one', 'two']) {
    const url = `${world.baseUrl}${ROBOTS}/${robot.id}`
    const changed = await ask(url, { method: 'PATCH', headers, body: { notes } })
    expect(changed).toMatchObject({ status: 200, body: { notes } })
    expect((await ask(url, { headers })).body.notes).toBe(notes)
  }
  expect(await stored('a key')).toBeUndefined()
})

describe('after a failure the key is released:', () => {
  test('invalid input may be corrected', async () => {
    const [key, body] = [randomUUID(), board()]
    expect((await post(owner, ROBOTS, { ...body, name: '' }, key)).status).toBe(400)
    expect((await post(owner, ROBOTS, '{', key)).status).toBe(400)
    expect((await post({ token: 'nonsense' }, ROBOTS, body, key)).status).toBe(401)
    expect((await post(await world.newUser(), ROBOTS, body, key)).status).toBe(403)
    expect((await post(owner, `${ROBOTS}/${randomUUID()}/token`, undefined, key)).status).toBe(404)
    expect((await post(owner, ROBOTS, `"${'x'.repeat(300_000)}"`, key)).status).toBe(413)
    const text = { headers: { 'Content-Type': 'text/plain' } }
    expect((await post(owner, ROBOTS, 'text', key, text)).status).toBe(415)
    const tokenPath = `${ROBOTS}/${randomUUID()}/token`
    expect((await post(owner, tokenPath, 'text', key, text)).status, 'a body that is not read').toBe(415)
    expect(await stored(key)).toBeUndefined()
    expect((await post(owner, ROBOTS, body, key)).status).toBe(201)
  })

  test('a request that the state refused may be retried', async () => {
    const [key, body] = [randomUUID(), board()]
    const taken = await owner.post(ROBOTS, body)
    expect((await post(owner, ROBOTS, body, key)).status).toBe(409)
    expect((await owner.delete(`${ROBOTS}/${taken.body.id}`)).status).toBe(204)
    expect((await post(owner, ROBOTS, body, key)).status).toBe(201)
  })

  test('a request that failed internally may be retried', async () => {
    const [key, body] = [randomUUID(), board()]
    await rows(`
      create function fail() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
      create trigger fail before insert on robots for each row execute function fail();`)
    expect(await post(owner, ROBOTS, body, key)).toMatchObject({
      status: 500,
      body: { error: 'The platform failed to answer this request. Try again later.' },
    })
    await rows('drop function fail cascade')
    expect(world.errors.splice(0)).toHaveLength(1)
    expect((await post(owner, ROBOTS, body, key)).status).toBe(201)
  })
})

describe('at the same time', () => {
  test('equal POST /api/sessions to two processes start one session', async () => {
    const port = await freePort()
    await world.addNode('api', { PORT: String(port) })
    const operator = await world.operator()
    const robot = await world.robot(owner)
    const link = (await world.connect(robot)).beat()
    await waitFor(async () => {
      expect((await owner.get(`${ROBOTS}/${robot.id}`)).body.status).toBe('AVAILABLE')
    })
    const [key, body] = [randomUUID(), { robotId: robot.id }]
    const locations = [world.baseUrl, `http://localhost:${port}`]
    const send = (index: number) =>
      post(operator, SESSIONS, body, key, { at: locations[index % 2] as string })

    // Each waits at most five seconds for a connection of the database.
    const COUNT = 30
    const answers = await Promise.all(Array.from({ length: COUNT }, (_, index) => send(index)))

    const [done, running] = [201, 409].map((status) => answers.filter((answer) => answer.status === status))
    expect(done!.length + running!.length).toBe(COUNT)
    expect(done!.length).toBeGreaterThan(0)
    expect(new Set(done!.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
    expect(done!.filter((answer) => answer.headers.get('Idempotent-Replayed') === null)).toHaveLength(1)
    for (const { headers, body: refusal } of running!) {
      expect(headers.get('Retry-After')).toBe('1')
      expect(refusal.error).toContain('is still running')
    }
    const sessions = await rows('select id from sessions where robot_id = $1', [robot.id])
    expect(sessions).toEqual([{ id: done![0]!.body.sessionId }])
    for (const location of locations) {
      const again = await post(operator, SESSIONS, body, key, { at: location })
      expect(again).toMatchObject({ status: 201, body: done![0]!.body })
    }
    await operator.patch(`${SESSIONS}/${done![0]!.body.sessionId}`, { action: 'end' })
    link.close()
  })

  test('a request that is slower than its lease yields to its repetition', async () => {
    const robot = await world.robot(owner)
    const path = `${ROBOTS}/${robot.id}/token`
    const key = randomUUID()
    await sql.query('begin')
    await sql.query('select from robots where id = $1 for update', [robot.id])
    const slow = post(owner, path, undefined, key)
    await blockedBackends(1)
    expect(await post(owner, path, undefined, key)).toMatchObject({ status: 409 })
    aheadMs += LEASE_OVER_MS
    const repetition = post(owner, path, undefined, key)
    await blockedBackends(2)
    await sql.query('commit')

    expect(await slow).toMatchObject({ status: 409, body: { error: expect.stringContaining('is running') } })
    const carriedOut = await repetition
    expect(carriedOut.status).toBe(201)
    expect(await versionOf(robot.id), 'rotated once').toBe(2)
    expect((await post(owner, path, undefined, key)).body).toEqual(carriedOut.body)
  })
})

/** Resolves once the given number of queries wait for a lock. */
async function blockedBackends(count: number): Promise<number[]> {
  const lockWaits = `select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and backend_type = 'client backend'`
  return await waitFor(async () => {
    const blocked = await query(world.database.url, lockWaits)
    expect(blocked).toHaveLength(count)
    return blocked.map(({ pid }) => pid as number)
  })
}

// test/full/core/idempotency.test.ts kills processes at these moments.
describe('a request whose process ended', () => {
  /** Changes a finished request to one that the process left unfinished. */
  async function leftUnfinished(key: string, effectAt: 'effect_at' | 'null') {
    await rows(
      `update idempotency_keys set status = null, body = null, effect_at = ${effectAt} where key = $1`,
      [key],
    )
  }

  test('after the commit is not carried out again, and the repetition learns so', async () => {
    const [key, body] = [randomUUID(), board()]
    expect((await post(owner, ROBOTS, body, key)).status).toBe(201)
    await leftUnfinished(key, 'effect_at')
    expect((await stored(key)).effect_at).toBeInstanceOf(Date)
    expect(await post(owner, ROBOTS, { ...body, name: 'Other' }, key)).toMatchObject({ status: 422 })
    aheadMs += LEASE_OVER_MS
    const repeat = await post(owner, ROBOTS, body, key)
    expect(repeat).toMatchObject({ status: 409, body: { error: expect.stringContaining('was processed') } })
    expect(repeat.headers.get('Retry-After')).toBeNull()
    expect(await robotsWith(body.hardware_id)).toHaveLength(1)
  })

  test('before the commit is carried out by the repetition once the lease has expired', async () => {
    const path = `${ROBOTS}/${(await world.robot(owner)).id}/token`
    const key = randomUUID()
    await post(owner, path, undefined, key)
    await leftUnfinished(key, 'null')
    const early = await post(owner, path, undefined, key)
    expect(early).toMatchObject({ status: 409, body: { error: expect.stringContaining('still') } })
    aheadMs += LEASE_OVER_MS
    const repeat = await post(owner, path, undefined, key)
    expect(repeat.status).toBe(201)
    expect(repeat.headers.get('Idempotent-Replayed')).toBeNull()
  })
})

describe('a stored response', () => {
  test('expires after a day: the same request is carried out again, and its row is deleted', async () => {
    const key = randomUUID()
    const first = await post(owner, KEYS, { name: 'daily' }, key)
    aheadMs += DAY_MS - 60_000
    expect((await post(owner, KEYS, { name: 'daily' }, key)).body).toEqual(first.body)
    await world.platform.core.idempotency.removeExpired()
    expect(await stored(key)).toBeDefined()
    aheadMs += 60_000
    const next = await post(owner, KEYS, { name: 'daily' }, key)
    expect(next.status).toBe(201)
    expect(next.body.id).not.toBe(first.body.id)
    aheadMs += DAY_MS
    await world.platform.core.idempotency.removeExpired()
    expect(await rows('select * from idempotency_keys')).toEqual([])
    expect(await post(owner, KEYS, { name: 'another' }, key)).toMatchObject({ status: 201 })
  })

  test('is deleted once it has expired, however many rows exist, and not before', async () => {
    const made = (key: string, at: Date) =>
      rows(
        `insert into idempotency_keys (scope, key, fingerprint, claim_id, claimed_until, created_at)
         select 'many', $1 || n, 'f', gen_random_uuid(), $2, $2 from generate_series(1, 2500) as n`,
        [key, at],
      )
    const now = world.platform.core.now().getTime()
    await made('old', new Date(now - DAY_MS - 1_000))
    await made('young', new Date(now - DAY_MS + 60_000))
    await world.platform.core.idempotency.removeExpired()
    const left = await rows(`select left(key, 3) as kind, count(*)::int from idempotency_keys
      where scope = 'many' group by 1`)
    expect(left).toEqual([{ kind: 'you', count: 2_500 }])
    await rows(`delete from idempotency_keys where scope = 'many'`)
  })

  test('reveals nothing to a reader of the database and is valid for its own key only', async () => {
    const key = randomUUID()
    const first = await post(owner, KEYS, { name: 'secret' }, key)
    const row = await stored(key)
    expect(row.status).toBe(201)
    expect(JSON.stringify(row)).not.toContain(first.body.key.slice(10, 30))
    expect(Buffer.from(row.body, 'base64url').toString('latin1')).not.toContain(first.body.key)

    // A response copied to the row of another key is rejected.
    const other = randomUUID()
    await post(owner, KEYS, { name: 'secret' }, other)
    await rows('update idempotency_keys set body = $2 where key = $1', [other, row.body])
    const transferred = await post(owner, KEYS, { name: 'secret' }, other)
    expect(transferred).toMatchObject({ status: 409, body: { error: expect.stringContaining('not stored') } })
    await rows('update idempotency_keys set body = $2 where key = $1', [other, `A${row.body.slice(1)}`])
    expect(await post(owner, KEYS, { name: 'secret' }, other)).toMatchObject({ status: 409 })
  })
})

describe('any endpoint', () => {
  const calls: string[] = []
  const made = (path: string, more: Partial<Endpoint>, run: Endpoint['run']) =>
    ({
      ...endpoint({
        method: 'post',
        path,
        summary: 'x',
        access: 'public',
        response: [200, z.any()],
        run: async () => ({}),
      }),
      ...more,
      run: async (input: Parameters<Endpoint['run']>[0]) => {
        calls.push(path)
        return await run(input)
      },
    }) as Endpoint
  const large = 'x'.repeat(256 * 1024)
  const endpoints = [
    made('/api/large', {}, async () => ({ large })),
    made('/api/empty', { response: [204] }, async () => undefined),
    made('/api/public', { body: z.any() }, async () => ({ at: calls.length })),
    made('/api/download', { media: ['text/csv'], response: [200] }, async ({ http }) => {
      http.body = 'a,b'
    }),
    made('/api/refused', {}, async ({ http }) => {
      http.status = 503
      return { busy: true }
    }),
  ]
  let close: () => Promise<void>
  let base: string
  beforeAll(async () => {
    const app = createApp({
      log: pino({ level: 'silent' }),
      corsOrigins: [],
      trustedProxies: 1,
      https: false,
      before: [],
      endpoints,
      authenticate: async () => undefined,
      interceptor: world.platform.core.idempotency.intercept,
    })
    const server = createServer(app.callback())
    await new Promise<void>((done) => server.listen(0, 'localhost', done))
    base = `http://localhost:${(server.address() as AddressInfo).port}`
    close = async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    }
  })
  afterAll(() => close())
  const send = (path: string, key: string, headers: Record<string, string> = {}) =>
    ask(base + path, { method: 'POST', headers: { 'Idempotency-Key': key, ...headers } })

  test('whose response is too large to store is not carried out again either', async () => {
    const key = randomUUID()
    expect(await send('/api/large', key)).toMatchObject({ status: 200, body: { large } })
    expect(await send('/api/large', key)).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('not stored') },
    })
    expect(calls.filter((path) => path === '/api/large')).toHaveLength(1)
  })

  test('that answers without a body is replayed without a body', async () => {
    const key = randomUUID()
    await send('/api/empty', key)
    const again = await send('/api/empty', key)
    expect(again).toMatchObject({ status: 204, body: '' })
    expect(again.headers.get('Idempotent-Replayed')).toBe('true')
    expect(calls.filter((path) => path === '/api/empty')).toHaveLength(1)
  })

  test('that streams a download is carried out again', async () => {
    const key = randomUUID()
    for (let time = 0; time < 2; time++) {
      expect(await send('/api/download', key)).toMatchObject({ status: 200, body: 'a,b' })
    }
    expect(calls.filter((path) => path === '/api/download')).toHaveLength(2)
    expect(await stored(key)).toBeUndefined()
  })

  test('that declares a failure as its response is carried out again', async () => {
    const key = randomUUID()
    for (let time = 0; time < 2; time++) expect((await send('/api/refused', key)).status).toBe(503)
    expect(calls.filter((path) => path === '/api/refused')).toHaveLength(2)
  })

  test('that is public distinguishes callers by their network', async () => {
    const key = randomUUID()
    const from = async (address: string) =>
      (
        await ask(`${base}/api/public`, {
          method: 'POST',
          headers: { 'Idempotency-Key': key, 'X-Forwarded-For': address },
          body: {},
        })
      ).body.at
    const first = await from('192.0.2.1')
    expect(await from('192.0.2.1')).toBe(first)
    expect(await from('192.0.2.2')).not.toBe(first)
  })
})
