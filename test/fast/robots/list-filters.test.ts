import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Reply, TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const ROBOTS = '/api/client/robots'
let world: World
let owner: TestUser
/** The robots of the owner, newest first. */
const ids: string[] = []
beforeAll(async () => {
  world = await createWorld()
  owner = await world.client()
  for (let index = 0; index < 60; index++) {
    const robot = await world.robot(owner, {
      name: `Unit ${index}`,
      robot_type: index % 3 ? 'so-101' : 'rover',
      hardware_id: `list-${index}`,
      tags: index === 7 ? ['Tromsø', '100%_sure'] : [],
    })
    ids.unshift(robot.id)
    if (index === 7) (await world.connect(robot)).beat()
  }
})
afterAll(() => world[Symbol.asyncDispose]())

const list = (query = '', user = owner) => user.get(ROBOTS + query)
const idsOf = ({ body }: Reply) => body.map(({ id }: { id: string }) => id)
const totalOf = ({ headers }: Reply) => headers.get('X-Total-Count')

describe('GET /api/client/robots', () => {
  test('returns a bare array of the 50 newest without parameters, as the specification requires', async () => {
    const reply = await list()
    expect(idsOf(reply)).toEqual(ids.slice(0, 50))
    expect(totalOf(reply)).toBe('60')
  })

  test('returns every robot on exactly one page', async () => {
    const pages = await Promise.all([0, 25, 50, 75].map((offset) => list(`?limit=25&offset=${offset}`)))
    expect(pages.flatMap(idsOf)).toEqual(ids)
    expect(pages.map(totalOf)).toEqual(['60', '60', '60', '60'])
    expect(idsOf(await list('?limit=100'))).toEqual(ids)
  })

  test.each(['limit=101', 'limit=0', 'limit=', 'offset=-1', 'offset=1.5', 'status=BROKEN', 'color=red'])(
    '%s is refused, never clamped',
    async (query) => expect((await list(`?${query}`)).status).toBe(400),
  )

  test.each([
    ['Unit 7', ['Unit 7']],
    ['uNIT list-12', ['Unit 12']],
    ['tromsø', ['Unit 7']],
    ['100%_', ['Unit 7']],
    ['%', ['Unit 7']],
    ['_', ['Unit 7']],
    ['\\', []],
    ["' or true --", []],
    ['rover 59', []],
    ['  ', 'all'],
  ])('search %j', async (search, expected) => {
    const reply = await list(`?limit=100&search=${encodeURIComponent(search)}`)
    const names = reply.body.map(({ name }: { name: string }) => name)
    if (expected === 'all') expect(names).toHaveLength(60)
    else
      expect(names).toEqual(
        search === 'Unit 7' ? ['Unit 57', 'Unit 47', 'Unit 37', 'Unit 27', 'Unit 17', 'Unit 7'] : expected,
      )
    expect(totalOf(reply)).toBe(String(names.length))
  })

  test('limits the search, and rejects text that PostgreSQL rejects', async () => {
    for (const search of ['x '.repeat(11), 'x'.repeat(201), '\0', '%ED%A0%80']) {
      const query = search.startsWith('%') ? search : encodeURIComponent(search)
      expect((await list(`?search=${query}`)).status, search).toBeOneOf([200, 400])
    }
    expect((await list(`?search=${encodeURIComponent('x '.repeat(11))}`)).status).toBe(400)
  })

  test('combines the filters for type and status with the others', async () => {
    const rovers = await list('?robot_type=rover&limit=5&offset=10')
    expect(totalOf(rovers)).toBe('20')
    expect(rovers.body).toHaveLength(5)
    expect(new Set(rovers.body.map((robot: { robot_type: string }) => robot.robot_type))).toEqual(
      new Set(['rover']),
    )
    const there = await list('?status=AVAILABLE')
    expect(there.body).toMatchObject([{ name: 'Unit 7' }])
    expect(totalOf(await list('?status=OFFLINE&robot_type=so-101&search=unit'))).toBe('39')
    expect(idsOf(await list('?robot_type=ROVER'))).toEqual([])
  })

  test('filters by a whole tag, together with the others', async () => {
    const tagged = async (tag: string, others = '') =>
      (await list(`?tag=${encodeURIComponent(tag)}${others}`)).body.map(({ name }: { name: string }) => name)
    expect(await tagged('Tromsø')).toEqual(['Unit 7'])
    expect(await tagged('100%_sure')).toEqual(['Unit 7'])
    for (const other of ['Troms', 'tromsø', '%', '{}']) expect(await tagged(other), other).toEqual([])
    expect(await tagged('Tromsø', '&robot_type=rover')).toEqual([])
    expect(totalOf(await list('?tag=Troms%C3%B8&search=unit&status=AVAILABLE'))).toBe('1')
    expect((await list('?tag=')).status).toBe(400)
  })

  test('omits robots of other owners', async () => {
    const other = await world.client()
    const reply = await list('?search=unit', other)
    expect(reply.body).toEqual([])
    expect(totalOf(reply)).toBe('0')
  })

  test('exposes the total count to other origins', async () => {
    const origin = 'https://app.example.com'
    await using open = await createWorld({ env: { CORS_ORIGINS: origin } })
    const { token } = await open.client()
    const response = await fetch(open.baseUrl + ROBOTS, {
      headers: { Authorization: `Bearer ${token}`, Origin: origin },
    })
    expect(response.headers.get('Access-Control-Expose-Headers')).toContain('X-Total-Count')
    expect(response.headers.get('X-Total-Count')).toBe('0')
  })
})
