import { expect, test } from 'vitest'
import { MINUTE_MS } from '../../support/world/billing.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import { createWorld } from '../../support/world/world.ts'

test('excludes the silence of a disconnected robot and the time until resume from billing', async () => {
  let aheadMs = 0
  const now = () => new Date(Date.now() + aheadMs)
  const env = { ROBOT_GRACE_MS: '86400000' } // the worker does not end the session, however long the reconnect takes
  await using world = await createWorld({ now, env })
  const [owner, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(owner)
  const link = (await world.connect(robot)).beat()
  const read = async () => (await owner.get(`/api/sessions/${id}`)).body
  const id = await start(operator, robot.id)

  aheadMs += 20 * MINUTE_MS // the gateway's clock is now 20 minutes behind, so the silence appears to last 20 minutes
  link.destroy()
  await expect.poll(async () => (await read()).status).toBe('PAUSED')
  aheadMs += 10 * MINUTE_MS
  ;(await world.connect(robot)).beat()
  await expect.poll(async () => (await owner.get(`/api/sessions/${id}/events`)).body.events.length).toBe(3)
  await performAction(operator, id, 'resume')
  aheadMs += 2 * MINUTE_MS + 30_000
  await performAction(operator, id, 'end')
  expect(await read()).toMatchObject({ duration_minutes: 33, client_charge_cents: 150 })
})
