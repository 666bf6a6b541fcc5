import { afterAll, beforeAll, expect, test } from 'vitest'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

test('lists connected robots and open sessions of the caller, those that need attention first', async () => {
  const [owner, operator, other] = [await world.client(), await world.operator(), await world.client()]
  const read = async (query = '') => {
    const { status, body } = await owner.get(`/api/client/live-robots${query}`)
    expect(status, JSON.stringify(body)).toBe(200)
    return body
  }
  expect(await read()).toMatchObject({ total: 0, robots: [] })
  const [idle, driven, stopped] = await Promise.all(
    ['A idle', 'B driven', 'C stopped'].map((name) => world.robot(owner, { name })),
  )
  await world.robot(owner, { name: 'Offline' })
  const links = await Promise.all([idle, driven, stopped].map((robot) => world.connect(robot!)))
  for (const link of links) link.beat()
  ;(await world.connect(await world.robot(other))).beat()
  const session = await start(operator, driven!.id)
  const stoppedSession = await start(await world.operator(), stopped!.id)
  await performAction(owner, stoppedSession, 'emergency_stop', 'Cat on the shelf')

  const list = await read()
  expect(list.total).toBe(3)
  expect(list.robots).toMatchObject([
    {
      id: stopped!.id,
      state: 'STOPPED',
      session: { id: stoppedSession, stop: { reason: 'Cat on the shelf', by_name: owner.name } },
    },
    {
      id: driven!.id,
      state: 'DRIVING',
      session: { id: session, operator_name: operator.name, stop: null, asks_for_control: null },
    },
    { id: idle!.id, state: 'READY', session: null, battery: null },
  ])
  links[1]!.send({ type: 'autonomy', mode: 'autonomous' })
  await waitFor(async () => {
    const modes = (await read()).robots.map(({ mode }: { mode: unknown }) => mode)
    expect(modes).toEqual([null, 'autonomous', null])
  })
  expect(await read('?limit=1')).toMatchObject({ total: 3, robots: [{ id: stopped!.id }] })

  await performAction(operator, session, 'pause')
  expect((await read()).robots[1]).toMatchObject({ state: 'PAUSED', session: { pause_reason: 'requested' } })
  links[1]!.close()
  await waitFor(async () => expect((await read()).robots[1]).toMatchObject({ state: 'LOST', mode: null }))
  links[0]!.close()
  await waitFor(async () => expect((await read()).total).toBe(2))
  expect((await operator.get('/api/client/live-robots')).status).toBe(403)
  expect((await owner.get('/api/client/live-robots?limit=501')).status).toBe(400)
})

test('says who asks for help, and who controls the robot after control changed hands', async () => {
  const [owner, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(owner)
  ;(await world.connect(robot)).beat()
  const session = await start(operator, robot.id)
  const read = async () => (await owner.get('/api/client/live-robots')).body.robots[0].session
  expect((await operator.post(`/api/sessions/${session}/control`, { action: 'offer' })).status).toBe(200)
  const asking = await read()
  expect(asking.asks_for_control).toEqual({ kind: 'offer', from_name: operator.name })
  expect(asking).not.toHaveProperty('holder')
  expect((await owner.post(`/api/sessions/${session}/control`, { action: 'take_over' })).status).toBe(200)
  expect(await read()).toMatchObject({
    asks_for_control: null,
    holder: { user_id: owner.id, kind: 'owner', name: owner.name },
  })
})
