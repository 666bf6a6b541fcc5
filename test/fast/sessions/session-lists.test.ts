import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectTo } from '../../support/database/sql.ts'
import { everyPage } from '../../support/world/pages.ts'
import type { Reply, TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const SESSIONS = '/api/sessions'
const NONE = { PENDING: 0, ACTIVE: 0, PAUSED: 0, COMPLETED: 0, CANCELLED: 0 }

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const idsOf = (body: Reply['body']): string[] => body.sessions.map(({ id }: { id: string }) => id)

interface Parties {
  readonly owner: TestUser
  readonly operator: TestUser
  readonly robotId: string
}

/** Inserts past sessions, two of each millisecond, newest first. Every third one is CANCELLED. Returns their ids in this order. */
async function seed({ owner, operator, robotId }: Parties, count: number): Promise<string[]> {
  await using database = await connectTo(world.database.url)
  await database.query('set session_replication_role = replica')
  const { rows } = await database.query<{ id: string }>(
    `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, ended_at, created_at,
       client_charge_cents, operator_earnings_cents,
       recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name)
     select gen_random_uuid(), $1, $2, $3, case when n % 3 = 0 then 'CANCELLED' else 'COMPLETED' end,
       at, at + interval '90 s', at, 100, 70, 'Recorded', 'recorded', 'Recorded', 'Owner'
     from (select n, timestamptz '2026-03-01T12:00:00Z' - (n / 2) * interval '1 ms' as at from generate_series(0, $4 - 1) n) rows
     returning id`,
    [robotId, operator.id, owner.id, count],
  )
  const ordered = await database.query<{ id: string }>(
    'select id from sessions where id = any($1) order by created_at desc, id desc',
    [rows.map(({ id }) => id)],
  )
  return ordered.rows.map(({ id }) => id)
}

async function createParties(robot: Record<string, unknown> = {}): Promise<Parties> {
  const [owner, operator] = await Promise.all([world.client(), world.operator()])
  return { owner, operator, robotId: (await world.robot(owner, robot)).id }
}

describe('GET /api/sessions with a cursor', () => {
  test('pages in both directions contain every session once, also those of the same millisecond', async () => {
    const parties = await createParties()
    const ids = await seed(parties, 25)
    for (const user of [parties.owner, parties.operator]) {
      expect(await everyPage(user, `${SESSIONS}?limit=3`, idsOf)).toEqual(ids)
      expect(await everyPage(user, `${SESSIONS}?limit=4&sort=created_at`, idsOf)).toEqual(ids.toReversed())
    }
  })

  test('a user with both roles sees each session once, on every page', async () => {
    const { owner: both, operator, robotId } = await createParties()
    await both.post('/api/auth/profile', { role: 'operator' })
    const other = await createParties()
    const asClient = await seed({ owner: both, operator, robotId }, 5)
    const asOperator = await seed({ ...other, operator: both }, 5)
    const asBoth = await seed({ owner: both, operator: both, robotId }, 5)
    const all = [...asClient, ...asOperator, ...asBoth].sort()
    for (const sort of ['created_at', '-created_at'])
      expect((await everyPage(both, `${SESSIONS}?limit=4&sort=${sort}`, idsOf)).sort()).toEqual(all)
    const counts = await both.get('/api/session-counts')
    // Of five sessions, those with the numbers 0 and 3 are CANCELLED.
    expect(counts.body.by_status).toEqual({ ...NONE, COMPLETED: 9, CANCELLED: 6 })
  })

  test('sessions that are created in between do not shift the pages', async () => {
    const parties = await createParties()
    const ids = await seed(parties, 10)
    const read = await everyPage(parties.owner, `${SESSIONS}?limit=4`, idsOf, async () => {
      await using database = await connectTo(world.database.url)
      await database.query('set session_replication_role = replica')
      await database.query(
        `insert into sessions (id, robot_id, operator_id, client_id, status, created_at,
           recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name)
         values ($1, $2, $3, $4, 'CANCELLED', now(), 'R', 'r', 'O', 'C')`,
        [randomUUID(), parties.robotId, parties.operator.id, parties.owner.id],
      )
    })
    expect(read).toEqual(ids)
  })

  test('what the list does not understand is a 400, never ignored', async () => {
    const { owner, ...parties } = await createParties()
    await seed({ owner, ...parties }, 3)
    const cursor = (await owner.get(`${SESSIONS}?limit=1`)).headers.get('X-Next-Cursor')
    for (const query of [
      'cursor=x',
      `cursor=${cursor}&sort=created_at`,
      `cursor=${cursor}&offset=1`,
      'sort=rating',
      'page=2',
      `search=${'x%20'.repeat(11)}`,
      'search=%00',
    ])
      expect((await owner.get(`${SESSIONS}?${query}`)).status, query).toBe(400)
    for (const path of ['/api/session-counts?status=ACTIVE', '/api/session-robots?offset=1'])
      expect((await owner.get(path)).status, path).toBe(400)
  })
})

describe('the search of sessions', () => {
  test('finds robots by current name and type, and operators by name, among own sessions only', async () => {
    const crane = await createParties({ name: 'Harbour crane 100%', robot_type: 'crane' })
    const ids = await seed(crane, 4)
    const rover = await world.robot(crane.owner, { name: 'Rover', robot_type: 'rover' })
    const roverIds = await seed({ ...crane, robotId: rover.id }, 3)
    const stranger = await createParties({ name: 'Foreign crane', robot_type: 'crane' })
    await seed(stranger, 2)
    const found = async (search: string, user = crane.owner) =>
      idsOf((await user.get(`${SESSIONS}?search=${encodeURIComponent(search)}`)).body)

    expect(await found('HARBOUR crane')).toEqual(ids)
    expect(await found('100%')).toEqual(ids)
    expect(await found('_')).toEqual([])
    expect(await found(`rover ${crane.operator.name}`)).toEqual(roverIds)
    expect(await found(crane.operator.name)).toHaveLength(7)
    expect(await found('foreign')).toEqual([])
    expect(await found('crane', crane.operator)).toEqual(ids)
    expect(await found('crane', stranger.operator)).toHaveLength(2)
    const completed = await everyPage(crane.owner, `${SESSIONS}?limit=1&search=rover&status=COMPLETED`, idsOf)
    expect(completed).toHaveLength(2)
    expect(roverIds).toEqual(expect.arrayContaining(completed))
  })

  test('an export contains what the search finds', async () => {
    const { owner, operator, robotId } = await createParties({ name: 'Exported one' })
    const ids = await seed({ owner, operator, robotId }, 3)
    const other = await world.robot(owner, { name: 'Another' })
    await seed({ owner, operator, robotId: other.id }, 2)
    const filter = { format: 'json', search: 'exported' }
    expect((await owner.post('/api/session-exports/count', filter)).body.rows).toBe(3)
    expect(idsOf((await owner.post('/api/sessions/export', filter)).body)).toEqual(ids)
  })
})

describe('GET /api/session-counts', () => {
  test('counts the statuses under the other filters', async () => {
    const { owner, operator, robotId } = await createParties({ name: 'Counted' })
    await seed({ owner, operator, robotId }, 6)
    const other = await world.robot(owner, { name: 'Second' })
    await seed({ owner, operator, robotId: other.id }, 3)
    await seed(await createParties({ name: 'Counted' }), 3)
    const countsAt = async (query: string, user = owner) =>
      (await user.get(`/api/session-counts?${query}`)).body.by_status
    expect(await countsAt('')).toEqual({ ...NONE, COMPLETED: 6, CANCELLED: 3 })
    expect(await countsAt('', operator)).toEqual({ ...NONE, COMPLETED: 6, CANCELLED: 3 })
    expect(await countsAt(`robotId=${other.id}`)).toEqual({ ...NONE, COMPLETED: 2, CANCELLED: 1 })
    expect(await countsAt('search=counted')).toEqual({ ...NONE, COMPLETED: 4, CANCELLED: 2 })
    expect(await countsAt('to=2026-02-01T00:00:00Z')).toEqual(NONE)
    expect(await countsAt('', await world.client())).toEqual(NONE)
  })

  test('stops at ten thousand of each status', async () => {
    const parties = await createParties()
    await seed(parties, 30_010)
    const { by_status } = (await parties.owner.get('/api/session-counts')).body
    expect(by_status).toEqual({ ...NONE, COMPLETED: 10_000, CANCELLED: 10_000 })
  })
})

describe('GET /api/session-robots', () => {
  test('finds one of more robots than a page has, also removed ones, by name', async () => {
    const owner = await world.client()
    const operator = await world.operator()
    for (let index = 0; index < 25; index++) {
      const robot = await world.robot(owner, { name: `Robot ${String(index).padStart(2, '0')}` })
      await seed({ owner, operator, robotId: robot.id }, 1)
      if (index === 24) await owner.delete(`/api/client/robots/${robot.id}`)
    }
    await world.robot(owner, { name: 'Robot without sessions' })
    const namesAt = async (query: string, user = owner) =>
      (await user.get(`/api/session-robots?${query}`)).body.robots.map(({ name }: { name: string }) => name)
    expect(await namesAt('')).toEqual(
      Array.from({ length: 20 }, (_, index) => `Robot ${String(index).padStart(2, '0')}`),
    )
    expect(await namesAt('search=24')).toEqual(['Robot 24'])
    expect(await namesAt('search=24', operator)).toEqual(['Robot 24'])
    expect(await namesAt('search=without')).toEqual([])
    expect(await namesAt('', await world.operator())).toEqual([])
    const { robots } = (await owner.get('/api/session-robots?search=07')).body
    expect((await owner.get(`/api/session-robots?robotId=${robots[0].id}`)).body).toEqual({ robots })
    const stranger = await world.client()
    expect((await stranger.get(`/api/session-robots?robotId=${robots[0].id}`)).body).toEqual({ robots: [] })
  })
})
