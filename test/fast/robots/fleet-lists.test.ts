import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectTo } from '../../support/database/sql.ts'
import { everyPage } from '../../support/world/pages.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import type { Reply, TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const ROBOTS = '/api/client/robots'
const COUNTS = '/api/client/robot-counts'
const AVAILABLE = '/api/operator/available-robots'

interface Robot {
  readonly id: string
  readonly name: string
  readonly robot_type: string
  readonly created_at: string
  readonly total_hours: number
  readonly last_heartbeat: string | null
}

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const rowsOf = (body: Reply['body']): Robot[] => body.robots ?? body
const idsOf = (robots: readonly { id: string }[]) => robots.map(({ id }) => id)

/** Sets columns of robots in the order of `ids`, which no request can set. */
async function setColumns(ids: readonly string[], assignment: string, table = 'robots', key = 'id') {
  await using database = await connectTo(world.database.url)
  await database.query(
    `update ${table} set ${assignment} from unnest($1::uuid[]) with ordinality as listed (listed_id, n)
     where ${table}.${key} = listed.listed_id`,
    [ids],
  )
}

/** Creates an owner with robots whose names, hours and times do not have the same order. */
async function fleetOf(count: number) {
  const owner = await world.client()
  const ids: string[] = []
  for (let index = 0; index < count; index++) {
    const robot = await world.robot(owner, {
      name: `${['b', 'A', 'ä', 'Z'][index % 4]} ${index % 8}`,
      robot_type: index % 3 ? 'arm' : 'rover',
    })
    ids.push(robot.id)
  }
  await setColumns(ids, 'session_seconds = (n % 5) * 3600')
  await setColumns(
    ids.slice(count / 2),
    `last_heartbeat = now() - (n % 3) * interval '1 minute'`,
    'robot_presence',
    'robot_id',
  )
  return { owner, ids }
}

describe('GET /api/client/robots with a cursor', () => {
  const keyOf: Record<string, (robot: Robot) => string | number> = {
    created_at: (robot) => robot.created_at,
    total_hours: (robot) => robot.total_hours,
    last_heartbeat: (robot) => robot.last_heartbeat ?? '',
  }

  test.each(['created_at', 'name', 'total_hours', 'last_heartbeat'])(
    'pages by %s, in both directions, contain every robot once',
    async (column) => {
      const { owner, ids } = await fleetOf(20)
      const up = await everyPage(owner, `${ROBOTS}?limit=3&sort=${column}`, rowsOf)
      const down = await everyPage(owner, `${ROBOTS}?limit=7&sort=-${column}`, rowsOf)
      expect(idsOf(up).sort()).toEqual(ids.toSorted())
      expect(idsOf(down)).toEqual(idsOf(up).reverse())
      const whole = rowsOf((await owner.get(`${ROBOTS}?limit=100&sort=${column}`)).body)
      expect(idsOf(up)).toEqual(idsOf(whole))
      const key = keyOf[column]
      if (!key) return
      const values = up.map(key)
      expect(values).toEqual(values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)))
    },
  )

  test('case does not separate names', async () => {
    const owner = await world.client()
    for (const name of ['beta', 'Alpha', 'alpha 2', 'Beta 2']) await world.robot(owner, { name })
    const robots = rowsOf((await owner.get(`${ROBOTS}?sort=name`)).body)
    expect(robots.map(({ name }) => name)).toEqual(['Alpha', 'alpha 2', 'beta', 'Beta 2'])
  })

  test('robots that are registered and removed in between do not shift the pages', async () => {
    const { owner, ids } = await fleetOf(12)
    const oldest = ids[0] as string
    let pages = 0
    const read = await everyPage(owner, `${ROBOTS}?limit=4`, rowsOf, async () => {
      await world.robot(owner)
      if (++pages === 1) await owner.delete(`${ROBOTS}/${oldest}`)
    })
    expect(idsOf(read)).toEqual(ids.slice(1).reverse())
  })

  test('filters apply to every page, and the total counts all of them', async () => {
    const { owner } = await fleetOf(12)
    const rovers = await everyPage(owner, `${ROBOTS}?limit=3&robot_type=rover&sort=name`, rowsOf)
    expect(rovers.map(({ robot_type }) => robot_type)).toEqual(Array(4).fill('rover'))
    const reply = await owner.get(`${ROBOTS}?limit=3&robot_type=rover`)
    expect(reply.headers.get('X-Total-Count')).toBe('4')
  })

  test('the last page has no cursor', async () => {
    const { owner } = await fleetOf(4)
    for (const query of ['limit=4', 'limit=4&sort=name', 'limit=2&offset=2', ''])
      expect((await owner.get(`${ROBOTS}?${query}`)).headers.get('X-Next-Cursor'), query).toBeNull()
  })

  test('a cursor of another user shows only own robots', async () => {
    const [{ owner, ids }, other] = [await fleetOf(4), await fleetOf(4)]
    const cursor = (await other.owner.get(`${ROBOTS}?limit=1`)).headers.get('X-Next-Cursor')
    const reply = await owner.get(`${ROBOTS}?cursor=${cursor}`)
    expect(idsOf(reply.body)).toEqual(ids.toReversed())
  })

  test('what the list does not understand is a 400, never ignored', async () => {
    const { owner } = await fleetOf(4)
    const cursor = (await owner.get(`${ROBOTS}?limit=1`)).headers.get('X-Next-Cursor')
    for (const query of [
      'cursor=x',
      'cursor=',
      `cursor=${cursor}&sort=name`,
      `cursor=${cursor}&offset=1`,
      'sort=hardware_id',
      'sort=',
      'page=2',
    ])
      expect((await owner.get(`${ROBOTS}?${query}`)).status, query).toBe(400)
    for (const path of [`${COUNTS}?offset=1`, '/api/client/live-robots?offset=1'])
      expect((await owner.get(path)).status, path).toBe(400)
  })
})

describe('GET /api/client/robot-counts', () => {
  test('counts each filter under the other filters, without robots of others', async () => {
    const { owner } = await fleetOf(12)
    await fleetOf(4)
    const online = await world.robot(owner, { name: 'Online rover', robot_type: 'rover' })
    ;(await world.connect(online)).beat()
    const countsAt = async (query: string) => (await owner.get(`${COUNTS}?${query}`)).body
    expect(await countsAt('')).toEqual({
      by_status: { AVAILABLE: 1, IN_SESSION: 0, OFFLINE: 12 },
      by_type: [
        { robot_type: 'arm', count: 8 },
        { robot_type: 'rover', count: 5 },
      ],
      by_tag: [],
      by_battery: [
        { battery_below: 0.2, count: 0 },
        { battery_below: 0.5, count: 0 },
      ],
    })
    expect(await countsAt('status=OFFLINE&robot_type=rover')).toMatchObject({
      by_status: { AVAILABLE: 1, IN_SESSION: 0, OFFLINE: 4 },
      by_type: [
        { robot_type: 'arm', count: 8 },
        { robot_type: 'rover', count: 4 },
      ],
    })
    expect(await countsAt('search=online')).toMatchObject({
      by_status: { AVAILABLE: 1, IN_SESSION: 0, OFFLINE: 0 },
      by_type: [{ robot_type: 'rover', count: 1 }],
    })
    expect(await countsAt('search=nothing')).toMatchObject({ by_type: [] })
  })
})

describe('filters by tag and charge', () => {
  let owner: TestUser
  /** Robots with the tags and charges 0.1 (a, b), 0.3 (a), 0.3 (no tag), and none (b). */
  let ids: string[]
  beforeAll(async () => {
    owner = await world.client()
    const other = await world.client()
    const tags = [['a', 'b', 'a'], ['a'], [], ['b']]
    ids = []
    for (const own of tags) ids.push((await world.robot(owner, { tags: own })).id)
    const foreign = await world.robot(other, { tags: ['a'] })
    const presence = (charged: readonly string[], battery: number) =>
      setColumns(charged, `battery = ${battery}, battery_at = now()`, 'robot_presence', 'robot_id')
    await presence([ids[0] as string, foreign.id], 0.1)
    await presence(ids.slice(1, 3), 0.3)
  })

  const listed = async (query: string) =>
    idsOf(await everyPage(owner, `${ROBOTS}?limit=1&sort=created_at&${query}`, rowsOf))
  const robots = (...indexes: number[]) => indexes.map((index) => ids[index])

  test('pages contain the robots that have the tag and a lower charge', async () => {
    expect(await listed('tag=a')).toEqual(robots(0, 1))
    expect(await listed('tag=b')).toEqual(robots(0, 3))
    expect(await listed('battery_below=0.3')).toEqual(robots(0))
    expect(await listed('battery_below=.31')).toEqual(robots(0, 1, 2))
    expect(await listed('battery_below=1')).toEqual(robots(0, 1, 2))
    expect(await listed('tag=a&battery_below=0.2')).toEqual(robots(0))
    const reply = await owner.get(`${ROBOTS}?limit=1&battery_below=0.5`)
    expect(reply.headers.get('X-Total-Count')).toBe('3')
  })

  test('counts ignore their own filter and respect the others', async () => {
    const countsAt = async (query: string) => (await owner.get(`${COUNTS}?${query}`)).body
    const [a, b] = [(count: number) => ({ tag: 'a', count }), (count: number) => ({ tag: 'b', count })]
    const charges = (low: number, half: number) => [
      { battery_below: 0.2, count: low },
      { battery_below: 0.5, count: half },
    ]
    expect(await countsAt('')).toMatchObject({ by_tag: [a(2), b(2)], by_battery: charges(1, 3) })
    expect(await countsAt('tag=a')).toMatchObject({
      by_status: { OFFLINE: 2 },
      by_tag: [a(2), b(2)],
      by_battery: charges(1, 2),
    })
    expect(await countsAt('battery_below=0.2')).toMatchObject({
      by_status: { OFFLINE: 1 },
      by_tag: [a(1), b(1)],
      by_battery: charges(1, 3),
    })
    expect(await countsAt('status=AVAILABLE')).toMatchObject({ by_tag: [], by_battery: charges(0, 0) })
  })

  test.each(['0', '-0.1', '1.1', '20', '', 'x', '0.00000'])('a charge of %j is a 400', async (charge) => {
    for (const path of [ROBOTS, COUNTS])
      expect((await owner.get(`${path}?battery_below=${charge}`)).status).toBe(400)
  })
})

describe('GET /api/operator/available-robots', () => {
  let owner: TestUser
  let operator: TestUser
  const names: string[] = []
  beforeAll(async () => {
    owner = await world.client()
    operator = await world.operator()
    for (let index = 0; index < 7; index++) {
      const name = `Gripper ${'gfedcba'[index]}`
      const robot = await world.robot(owner, {
        name,
        robot_type: index % 2 ? 'gripper-1' : 'gripper-2',
        hardware_id: `secret-${index}`,
      })
      ;(await world.connect(robot)).beat()
      names.push(name)
    }
    const held = await world.robot(owner, { name: 'Gripper on hold' })
    ;(await world.connect(held)).beat()
    await owner.patch(`${ROBOTS}/${held.id}`, { on_hold: true })
    const certified = await world.robot(owner, { name: 'Gripper certified', require_certification: true })
    ;(await world.connect(certified)).beat()
    await world.robot(owner, { name: 'Gripper offline' })
  })

  test('pages contain every robot that can be started once, in each order', async () => {
    const namesOf = async (sort: string, limit: number) =>
      (await everyPage(operator, `${AVAILABLE}?search=gripper&limit=${limit}&sort=${sort}`, rowsOf)).map(
        ({ name }) => name,
      )
    expect(await namesOf('-created_at', 2)).toEqual(names.toReversed())
    expect(await namesOf('created_at', 3)).toEqual(names)
    expect(await namesOf('name', 2)).toEqual(names.toSorted())
    expect(await namesOf('-name', 7)).toEqual(names.toSorted().reverse())
  })

  test('search and counts cover what operators see, not the hardware id', async () => {
    const found = async (query: string) => rowsOf((await operator.get(`${AVAILABLE}?${query}`)).body)
    expect((await found('search=gripper%20a')).map(({ name }) => name)).toEqual(['Gripper a'])
    expect(await found('search=gripper&robot_type=gripper-1')).toHaveLength(3)
    expect(await found('search=secret')).toEqual([])
    const counts = await operator.get('/api/operator/available-robot-counts?search=gripper')
    expect(counts.body).toEqual({
      total: 7,
      by_type: [
        { robot_type: 'gripper-2', count: 4 },
        { robot_type: 'gripper-1', count: 3 },
      ],
    })
  })

  test('robots show what an operator chooses by, and move to those in a session', async () => {
    const find = async (query: string) =>
      (await operator.get(`${AVAILABLE}?search=chosen&${query}`)).body.robots
    const robot = await world.robot(owner, { name: 'Chosen' })
    ;(await world.connect(robot)).send({ type: 'heartbeat', seq: 1, battery: 0.62 })
    const shown = {
      id: robot.id,
      owner_name: owner.name,
      earnings_cents_per_minute: 35,
      gateway_url: world.gatewayUrl,
    }
    await waitFor(async () => expect(await find('')).toMatchObject([{ ...shown, battery: 0.62 }]))
    expect(await find('')).toMatchObject([{ status: 'AVAILABLE', busy_since: null, free_at: null }])
    expect(await find('status=IN_SESSION')).toEqual([])

    const rival = await world.operator()
    const sessionId = await start(rival, robot.id)
    expect(await find('')).toEqual([])
    const busy = await find('status=IN_SESSION')
    expect(busy).toMatchObject([{ ...shown, status: 'IN_SESSION', free_at: null }])
    expect(Date.parse(busy[0].busy_since)).toBeLessThanOrEqual(Date.now())
    expect(JSON.stringify(busy)).not.toContain(rival.name)
    await performAction(rival, sessionId, 'end')
    expect(await find('status=IN_SESSION')).toEqual([])
  })

  test('unknown parameters are a 400', async () => {
    for (const query of ['status=OFFLINE', 'offset=1', 'limit=201', 'sort=total_hours', 'cursor=x'])
      expect((await operator.get(`${AVAILABLE}?${query}`)).status, query).toBe(400)
  })
})
