import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase } from '../../support/database/database.ts'
import { connectTo } from '../../support/database/sql.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let client: TestUser
let aheadMs = 0
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(Date.now() + aheadMs) })
  client = await world.client()
})
afterAll(() => world[Symbol.asyncDispose]())

const fetched = async () => await fetch(`${world.baseUrl}/api/stats`)
/** Returns the statistics after the cached ones have expired. */
async function stats(): Promise<Record<string, number>> {
  aheadMs += 5_000
  return await (await fetched()).json()
}
const becomes = (expected: Record<string, number>) =>
  waitFor(async () => expect(await stats()).toMatchObject(expected))

describe('GET /api/stats', () => {
  test('GET /api/stats: returns only numbers, without a credential, cacheable for five seconds', async () => {
    const response = await fetched()
    expect(response.status).toBe(200)
    expect(response.headers.get('Cache-Control')).toBe('public, max-age=5')
    const body = await response.json()
    expect(Object.keys(body).sort()).toEqual(
      [
        'robots_total',
        'robots_online',
        'sessions_active',
        'sessions_completed',
        'teleop_hours',
        'operators',
        'episodes_collected',
      ].sort(),
    )
    for (const value of Object.values(body)) expect(value).toEqual(expect.any(Number))
  })

  test('counts robots that are registered, and those that are connected', async () => {
    const before = await stats()
    const robots = [await world.robot(client), await world.robot(client), await world.robot(client)]
    expect(await stats()).toMatchObject({
      robots_total: before.robots_total! + 3,
      robots_online: before.robots_online!,
    })
    const link = (await world.connect(robots[0]!)).beat()
    await becomes({ robots_online: before.robots_online! + 1 })
    await link.close()
    await becomes({ robots_online: before.robots_online! })
    await client.delete(`/api/client/robots/${robots[1]!.id}`)
    expect(await stats()).toMatchObject({ robots_total: before.robots_total! + 2 })
  })

  test('counts operators once, whatever other roles they have', async () => {
    const before = await stats()
    const operator = await world.operator()
    await operator.post('/api/auth/profile', { role: 'client' })
    await world.newUser()
    expect((await stats()).operators).toBe(before.operators! + 1)
  })

  test('follows a session from its start to its end, pauses included', async () => {
    const before = await stats()
    const robot = await world.robot(client)
    ;(await world.connect(robot)).beat()
    const operator = await world.operator()
    const { sessionId } = (await operator.post('/api/sessions', { robotId: robot.id })).body
    expect(await stats()).toMatchObject({
      sessions_active: before.sessions_active! + 1,
      sessions_completed: before.sessions_completed!,
    })
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'pause' })
    expect(await stats()).toMatchObject({ sessions_active: before.sessions_active! + 1 })

    aheadMs += 90 * 60_000
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    const after = await stats()
    expect(after).toMatchObject({
      sessions_active: before.sessions_active!,
      sessions_completed: before.sessions_completed! + 1,
    })
    expect(after.teleop_hours! - before.teleop_hours!).toBeCloseTo(1.5, 1)
  })

  test('a cancelled session is not counted', async () => {
    const robot = await world.robot(client)
    ;(await world.connect(robot)).beat()
    const operator = await world.operator()
    const before = await stats()
    const scheduledFor = new Date(Date.now() + aheadMs + 3_600_000).toISOString()
    const reply = await operator.post('/api/sessions', { robotId: robot.id, scheduledFor })
    await operator.patch(`/api/sessions/${reply.body.sessionId}`, { action: 'cancel' })
    expect(await stats()).toEqual(before)
  })

  test('is read once in five seconds, however many clients request it', async () => {
    aheadMs += 5_000
    await using lock = await connectTo(world.database.url)
    await lock.query('begin')
    await lock.query('lock table session_totals in access exclusive mode')
    const requests = Array.from({ length: 50 }, fetched)
    await waitFor(async () => expect(await waitingReads(world)).toBe(1))
    // The server has answered later requests, so it has accepted all fifty.
    for (let n = 0; n < 10; n++) await fetch(`${world.baseUrl}/api/health`)
    expect(await waitingReads(world)).toBe(1)
    await lock.query('rollback')
    const bodies = await Promise.all(requests.map(async (response) => (await response).json()))
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
  })

  test('is cached for five seconds, and no longer', async () => {
    const first = await stats()
    await world.robot(client)
    aheadMs += 2_000
    expect(await (await fetched()).json()).toEqual(first)
    aheadMs += 3_000
    expect((await (await fetched()).json()).robots_total).toBe(first.robots_total! + 1)
  })

  test('a clock that steps back does not freeze it', async () => {
    const before = await stats()
    await world.robot(client)
    aheadMs -= 3_600_000
    expect(await (await fetched()).json()).toMatchObject({ robots_total: before.robots_total! + 1 })
    aheadMs += 3_600_000
  })
})

/** Returns the number of queries that wait for the totals. */
async function waitingReads({ database }: World): Promise<number> {
  await using client = await connectTo(database.url)
  const { rows } = await client.query(
    `select count(*)::int as waiting from pg_locks where relation = 'session_totals'::regclass and not granted`,
  )
  return rows[0].waiting
}

test('GET /api/stats: without the database it returns 503 instead of old numbers, and correct numbers afterwards', async () => {
  const database = await createTestDatabase()
  const proxy = await createTcpProxy(database.url)
  let later = 0
  const now = () => new Date(Date.now() + later)
  try {
    await using other = await createWorld({ env: { DATABASE_URL: proxy.url }, now })
    const ask = async () => (await fetch(`${other.baseUrl}/api/stats`)).status
    expect(await ask()).toBe(200)
    proxy.cut()
    expect(await ask(), 'still fresh').toBe(200)
    later += 5_000
    expect(await ask()).toBe(503)
    proxy.restore()
    await waitFor(async () => expect(await ask()).toBe(200))
    other.errors.length = 0 // the expected 503 was logged
  } finally {
    await proxy[Symbol.asyncDispose]()
    await database.drop()
  }
})

describe('the totals of sessions', () => {
  /** Returns the expected totals, counted from the sessions themselves. */
  const counted = `select count(*) filter (where status = 'COMPLETED')::int as completed,
    coalesce(sum((extract(epoch from ended_at - started_at) * 1000)::bigint)
      filter (where status = 'COMPLETED'), 0)::float as ms,
    coalesce(sum(episodes_collected), 0)::int as episodes from sessions`
  const kept = `select sum(completed)::int as completed, sum(teleop_ms)::float as ms,
    sum(episodes)::int as episodes from session_totals`

  async function agree() {
    await using client = await connectTo(world.database.url)
    const [[currentState], [totals]] = [(await client.query(counted)).rows, (await client.query(kept)).rows]
    expect(totals).toEqual(currentState)
    return currentState
  }

  test('agree with the sessions after concurrent changes by different users', async () => {
    const robots = await Promise.all(Array.from({ length: 4 }, () => world.robot(client)))
    const operator = await world.operator()
    const before = await agree()
    await Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        await using sql = await connectTo(world.database.url)
        const id = randomUUID()
        await sql.query(
          `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, ended_at)
           values ($1, $2, $3, $4, 'COMPLETED', now() - interval '1 hour', now())`,
          [id, robots[n % 4]!.id, operator.id, client.id],
        )
        await sql.query('update sessions set episodes_collected = episodes_collected + 3 where id = $1', [id])
        await sql.query(`update sessions set ended_at = started_at + interval '30 minutes' where id = $1`, [
          id,
        ])
        await sql.query('begin')
        await sql.query(`update sessions set episodes_collected = 100, status = 'CANCELLED' where id = $1`, [
          id,
        ])
        await sql.query(n % 2 ? 'rollback' : 'commit')
        if (n % 3 === 0) await sql.query('delete from sessions where id = $1', [id])
      }),
    )
    const after = await agree()
    expect(after).not.toEqual(before)
    expect((await stats()).episodes_collected).toBe(after.episodes)
    expect((await stats()).sessions_completed).toBe(after.completed)
  })

  test('two changes of one session in one transaction are both counted', async () => {
    const robot = await world.robot(client)
    const operator = await world.operator()
    await using sql = await connectTo(world.database.url)
    const id = randomUUID()
    await sql.query('begin')
    await sql.query(
      `insert into sessions (id, robot_id, operator_id, client_id, status, scheduled_for, episodes_collected)
       values ($1, $2, $3, $4, 'PENDING', now() + interval '1 day', 2)`,
      [id, robot.id, operator.id, client.id],
    )
    await sql.query(
      `update sessions set status = 'COMPLETED', episodes_collected = 5,
       started_at = now() - interval '1 minute', ended_at = now() where id = $1`,
      [id],
    )
    await sql.query('commit')
    await agree()
  })
})
