import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { connectMcp, type McpClient } from '../../support/mcp/mcp-client.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// `stop_robot` with the robot instead of the session.

interface Driven {
  readonly operator: TestUser
  readonly robotId: string
  readonly id: string
}

let world: World
let owner: TestUser
let mcp: McpClient
let arm: Driven
let twins: Driven[]
beforeAll(async () => {
  world = await createWorld()
  owner = await world.client()
  mcp = await connectMcp(world.baseUrl, owner.token)
  arm = await open('Arm one')
  twins = [await open('Twin'), await open('twin')]
})
afterAll(async () => {
  await mcp[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})
beforeEach(async () => {
  if (await stopped(arm)) await performAction(owner, arm.id, 'clear_stop')
})

/** Starts a session of a new operator on a new robot of the owner. */
async function open(name: string): Promise<Driven> {
  const operator = await world.operator()
  const robot = await world.robot(owner, { name })
  ;(await world.connect(robot)).beat()
  return { operator, robotId: robot.id, id: await start(operator, robot.id) }
}

const stopped = async ({ id }: Driven) => (await owner.get(`/api/sessions/${id}`)).body.control.stop?.reason

test.each(['robotId', 'name', 'name in another case'])('a robot is stopped by its %s', async (by) => {
  const robot = { robotId: arm.robotId, name: 'Arm one' }[by] ?? ' ARM ONE '
  expect(await mcp.use('stop_robot', { robot, reason: 'smoke' })).toMatchObject({
    status: 200,
    body: { id: arm.id, status: 'PAUSED' },
  })
  expect(await Promise.all([arm, ...twins].map(stopped))).toEqual(['smoke', undefined, undefined])
})

test('a name that several robots share is refused, and the error lists them', async () => {
  // This robot has no session, so its name does not count.
  await world.robot(owner, { name: 'Twin' })
  const { status, text } = await mcp.use('stop_robot', { robot: 'Twin' })
  expect(status).toBe(409)
  for (const { id, robotId } of twins) expect(text).toContain(`${robotId} (session ${id})`)
  expect(await Promise.all(twins.map(stopped))).toEqual([undefined, undefined])
})

test('a robot is found by its owner, the operator of its session and an admin only', async () => {
  for (const user of [await world.client(), await world.operator()]) {
    await using other = await connectMcp(world.baseUrl, user.token)
    for (const robot of ['Arm one', arm.robotId])
      expect(await other.use('stop_robot', { robot })).toMatchObject({ status: 404 })
  }
  expect(await stopped(arm)).toBeUndefined()
  for (const user of [arm.operator, await world.admin()]) {
    await using other = await connectMcp(world.baseUrl, user.token)
    expect(await other.use('stop_robot', { robot: 'Arm one', reason: user.name })).toMatchObject({
      status: 200,
    })
    expect(await stopped(arm)).toBe(user.name)
    await performAction(owner, arm.id, 'clear_stop')
  }
})

test('exactly one of session and robot is required', async () => {
  for (const given of [{}, { robot: 'Arm', sessionId: randomUUID() }, { robot: 7 }])
    expect(await mcp.use('stop_robot', given)).toMatchObject({ status: 400 })
})
