import { afterAll, beforeAll, expect, test } from 'vitest'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

interface Result {
  readonly kind: string
  readonly id: string
  readonly title: string
  readonly detail: string
  readonly at: string | null
}
async function search(user: TestUser, text: string): Promise<Result[]> {
  const { status, body } = await user.get(`/api/search?q=${encodeURIComponent(text)}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.results
}
const found = async (user: TestUser, text: string) =>
  (await search(user, text)).map(({ kind, id }) => `${kind} ${id}`)

test('finds own robots by all words of name, type, hardware and tags, and no robots of others', async () => {
  const [owner, other] = [await world.client(), await world.client()]
  const robot = await world.robot(owner, { name: '100% Crane', robot_type: 'lift', tags: ['dock'] })
  await world.robot(other, { name: '100% Crane', robot_type: 'lift' })
  expect(await found(owner, 'cRANE dock')).toEqual([`own_robot ${robot.id}`])
  expect(await found(owner, '100%')).toEqual([`own_robot ${robot.id}`])
  expect(await found(owner, '100_')).toEqual([])
  expect(await found(owner, 'crane missing')).toEqual([])
  expect((await search(owner, 'crane'))[0]).toEqual({
    kind: 'own_robot',
    id: robot.id,
    title: '100% Crane',
    detail: 'lift',
    at: null,
  })
})

test('finds at most five of a kind, newest first', async () => {
  const owner = await world.client()
  for (let number = 1; number <= 7; number++) await world.robot(owner, { name: `Serial ${number}` })
  expect((await search(owner, 'serial')).map(({ title }) => title)).toEqual(
    [7, 6, 5, 4, 3].map((number) => `Serial ${number}`),
  )
})

test('finds robots that an operator may drive now, and sessions for both sides only', async () => {
  const [owner, operator, stranger] = [await world.client(), await world.operator(), await world.operator()]
  const robot = await world.robot(owner, { name: 'Welder', require_certification: false })
  const guarded = await world.robot(owner, { name: 'Welder two', require_certification: true })
  expect(await found(operator, 'welder')).toEqual([])
  ;(await world.connect(robot)).beat()
  ;(await world.connect(guarded)).beat()
  await waitFor(async () => expect(await found(operator, 'welder')).toEqual([`available_robot ${robot.id}`]))
  await owner.patch(`/api/client/robots/${robot.id}`, { on_hold: true })
  expect(await found(operator, 'welder')).toEqual([])
  await owner.patch(`/api/client/robots/${robot.id}`, { on_hold: false })

  const admin = await world.admin()
  await admin.post(`/api/admin/users/${owner.id}/suspend`, { reason: 'Owner cannot be reached.' })
  expect(await found(operator, 'welder')).toEqual([])
  await admin.post(`/api/admin/users/${owner.id}/restore`)
  await waitFor(async () => expect(await found(operator, 'welder')).toEqual([`available_robot ${robot.id}`]))

  const sessionId = await start(operator, robot.id)
  const [session] = await search(operator, 'welder')
  expect(session).toMatchObject({ kind: 'session', id: sessionId, title: 'Welder', detail: operator.name })
  expect(Date.parse(session?.at ?? '')).toBeGreaterThan(0)
  expect(await found(owner, `welder ${operator.name}`)).toEqual([`session ${sessionId}`])
  expect(await found(stranger, 'welder')).toEqual([])
  await performAction(operator, sessionId, 'end')
})

test('finds users, open sessions and sessions by id for admins only', async () => {
  const [admin, owner, operator] = [await world.admin(), await world.client(), await world.operator()]
  expect(await found(admin, owner.name)).toEqual([`user ${owner.id}`])
  expect(await found(admin, owner.id)).toEqual([`user ${owner.id}`])
  expect(await found(owner, operator.name)).toEqual([])

  const robot = await world.robot(owner, { name: 'Sweeper', require_certification: false })
  ;(await world.connect(robot)).beat()
  const sessionId = await start(operator, robot.id)
  expect(await found(admin, 'sweeper')).toEqual([`session ${sessionId}`])
  await performAction(operator, sessionId, 'end')
  expect(await found(admin, 'sweeper')).toEqual([])
  expect(await found(admin, sessionId)).toEqual([`session ${sessionId}`])
  expect(await found(await world.client(), sessionId)).toEqual([])
})

test('refuses empty, long and malformed searches', async () => {
  const user = await world.newUser()
  for (const text of ['', ' ', 'x'.repeat(101), 'a b c d e f', 'a\0b'])
    expect((await user.get(`/api/search?q=${encodeURIComponent(text)}`)).status, text).toBe(400)
  expect((await user.get('/api/search')).status).toBe(400)
})
