import { afterAll, beforeAll, expect, test } from 'vitest'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const MINUTE_MS = 60_000
let world: World
let aheadMs = 0
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(Date.now() + aheadMs) })
})
afterAll(() => world[Symbol.asyncDispose]())

test('samples connected robots once per interval, and removes samples after a day', async () => {
  const owner = await world.client()
  const [robot, silent] = [await world.robot(owner), await world.robot(owner)]
  const health = async (id: string) => (await owner.get(`/api/client/robots/${id}/health`)).body
  const link = (await world.connect(robot)).beat()
  const { robotHealth } = world.platform.robots
  await world.platform.core.db
    .updateTable('robot_presence')
    .set({ battery: 0.5, battery_at: new Date(Date.now() + aheadMs) })
    .where('robot_id', '=', robot.id)
    .execute()
  await Promise.all([robotHealth.sample(), robotHealth.sample()])
  const [first, ...others] = (await health(robot.id)).samples
  expect(others).toEqual([])
  expect(first.battery).toBe(0.5)
  expect(Date.parse(first.at) % (5 * MINUTE_MS)).toBe(0)
  expect((await health(silent.id)).samples).toEqual([])

  aheadMs += 10 * MINUTE_MS
  await robotHealth.sample()
  // The robot has not reported its charge for ten minutes.
  expect((await health(robot.id)).samples).toMatchObject([{ battery: 0.5 }, { battery: null }])
  link.close()
  await waitFor(async () =>
    expect((await owner.get(`/api/client/robots/${robot.id}`)).body.status).toBe('OFFLINE'),
  )
  aheadMs += 24 * 60 * MINUTE_MS
  await robotHealth.sample()
  const left = await world.platform.core.db.selectFrom('robot_health_samples').select('at').execute()
  expect(left).toEqual([])
})

test('lists stops and losses of the last day with their causes, to the owner only', async () => {
  const [owner, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(owner)
  const link = (await world.connect(robot)).beat()
  const sessionId = await start(operator, robot.id)
  await performAction(owner, sessionId, 'emergency_stop', 'Cat on the shelf')
  link.close()
  const path = `/api/client/robots/${robot.id}/health`
  await waitFor(async () =>
    expect((await owner.get(path)).body.incidents).toMatchObject([
      { type: 'robot.lost', session_id: sessionId, actor_name: null },
      { type: 'session.stopped', reason: 'Cat on the shelf', actor_name: owner.name },
    ]),
  )
  await performAction(owner, sessionId, 'end')
  expect((await (await world.client()).get(path)).status).toBe(404)
  aheadMs += 24 * 60 * MINUTE_MS
  expect((await owner.get(path)).body.incidents).toEqual([])
})
