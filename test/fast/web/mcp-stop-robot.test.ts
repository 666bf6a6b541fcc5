import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectMcp } from '../../support/mcp/mcp-client.ts'
import { start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// `stop_robot` with the robot instead of the session.

let world: World
beforeAll(async () => {
  world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '20000' } })
})
afterAll(() => world[Symbol.asyncDispose]())

/** Starts a session of a new operator on a new robot of an owner. */
async function open(owner: TestUser, name: string) {
  const operator = await world.operator()
  const robot = await world.robot(owner, { name })
  const link = (await world.connect(robot)).beat()
  const id = await start(operator, robot.id)
  const stopped = async () => (await owner.get(`/api/sessions/${id}`)).body.control.stop?.reason
  return { operator, robotId: robot.id, id, stopped, close: () => link.close() }
}

test.each(['robotId', 'name', 'name in another case'])('a robot is stopped by its %s', async (by) => {
  const owner = await world.client()
  const session = await open(owner, 'Arm one')
  const other = await open(owner, 'Arm two')
  await using mcp = await connectMcp(world.baseUrl, owner.token)
  const robot = { robotId: session.robotId, name: 'Arm one' }[by] ?? ' ARM ONE '
  expect(await mcp.use('stop_robot', { robot, reason: 'smoke' })).toMatchObject({
    status: 200,
    body: { id: session.id, status: 'PAUSED' },
  })
  expect([await session.stopped(), await other.stopped()]).toEqual(['smoke', undefined])
  // Again: the stop is already in force, also for the operator of the session.
  await using second = await connectMcp(world.baseUrl, session.operator.token)
  expect((await second.use('stop_robot', { robot })).status).toBe(200)
  for (const item of [session, other]) item.close()
})

test('a name that several robots share is refused, and the error lists them', async () => {
  const owner = await world.client()
  const sessions = [await open(owner, 'Twin'), await open(owner, 'twin')]
  // This robot has no session, so its name does not count.
  await world.robot(owner, { name: 'Twin' })
  await using mcp = await connectMcp(world.baseUrl, owner.token)
  const { status, text } = await mcp.use('stop_robot', { robot: 'Twin' })
  expect(status).toBe(409)
  for (const { id, robotId } of sessions) expect(text).toContain(`${robotId} (session ${id})`)
  for (const { stopped, close } of sessions) {
    expect(await stopped()).toBeUndefined()
    close()
  }
})

test('robots of other users are found by an admin only', async () => {
  const name = `Arm ${randomUUID()}`
  const session = await open(await world.client(), name)
  for (const user of [await world.client(), await world.operator()]) {
    await using mcp = await connectMcp(world.baseUrl, user.token)
    for (const robot of [name, session.robotId])
      expect(await mcp.use('stop_robot', { robot })).toMatchObject({ status: 404 })
  }
  expect(await session.stopped()).toBeUndefined()
  await using mcp = await connectMcp(world.baseUrl, (await world.admin()).token)
  expect(await mcp.use('stop_robot', { robot: name, reason: 'admin' })).toMatchObject({ status: 200 })
  expect(await session.stopped()).toBe('admin')
  session.close()
})

test('exactly one of session and robot is required', async () => {
  await using mcp = await connectMcp(world.baseUrl, (await world.client()).token)
  for (const given of [{}, { robot: 'Arm', sessionId: randomUUID() }, { robot: 7 }])
    expect(await mcp.use('stop_robot', given)).toMatchObject({ status: 400 })
})
