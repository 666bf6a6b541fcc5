import { afterAll, beforeAll, expect, test } from 'vitest'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const START_MS = Date.parse('2026-11-20T10:00:00Z')
let world: World
let aheadMs = 0
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(START_MS + aheadMs) })
})
afterAll(() => world[Symbol.asyncDispose]())

test('the activity lists what robots did in their sessions of the last day', async () => {
  const [owner, operator, other] = [await world.client(), await world.operator(), await world.client()]
  const [arm, cart] = [await world.robot(owner, { name: 'Arm' }), await world.robot(owner, { name: 'Cart' })]
  for (const robot of [arm, cart]) (await world.connect(robot)).beat()
  const read = async (query = '') => {
    const { status, body } = await owner.get(`/api/client/activity${query}`)
    expect(status, JSON.stringify(body)).toBe(200)
    return body.sessions
  }
  expect(await read()).toEqual([])
  const id = await start(operator, arm.id)
  aheadMs += 60_000
  await performAction(owner, id, 'emergency_stop')
  aheadMs += 30_000
  await performAction(owner, id, 'clear_stop')
  aheadMs += 30_000
  await performAction(operator, id, 'resume')
  aheadMs += 60_000
  const at = (seconds: number) => new Date(START_MS + seconds * 1_000).toISOString()
  const spans = [
    { state: 'DRIVING', from: at(0), to: at(60) },
    { state: 'STOPPED', from: at(60), to: at(90) },
    { state: 'PAUSED', from: at(90), to: at(120) },
  ]
  expect(await read()).toMatchObject([
    {
      id,
      robot_name: 'Arm',
      operator_name: operator.name,
      driven_seconds: 120,
      cost_cents: 100,
      spans: [...spans, { state: 'DRIVING', from: at(120), to: null }],
    },
  ])
  await performAction(operator, id, 'end')
  expect((await read())[0].spans.at(-1)).toEqual({ state: 'DRIVING', from: at(120), to: at(180) })
  expect(await read(`?robotId=${cart.id}`)).toEqual([])
  expect((await other.get('/api/client/activity')).body.sessions).toEqual([])
  aheadMs += 25 * 3_600_000
  expect(await read()).toEqual([])
})
