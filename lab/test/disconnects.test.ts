import { expect, test } from 'vitest'
import { openSessionFixture } from '../../test/support/world/session-fixtures.ts'
import { createWorld } from '../../test/support/world/world.ts'
import { runDisconnects } from '../chaos/disconnects.ts'

const BREAKS = 1_000
const SESSIONS = 4

test('clients receive every event once and in order over a thousand broken connections to two hubs', {
  timeout: 600_000,
}, async () => {
  await using world = await createWorld({ bus: 'redis' })
  const second = await world.addNode('hub')
  const sessions: { id: string; tokens: string[] }[] = []
  for (let count = 0; count < SESSIONS; count++) {
    const { id, owner, operator } = await openSessionFixture(world)
    sessions.push({ id, tokens: [owner.token, operator.token] })
  }
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
  console.info(`SEED=${seed} repeats these breaks`)
  const report = await runDisconnects({
    hubs: [world.hubUrl, second.hubUrl],
    baseUrl: world.baseUrl,
    sessions,
    seed,
    breaks: BREAKS,
  })
  const { breaks, clients, acknowledged, entries } = report
  console.info(JSON.stringify({ breaks, clients, acknowledged, entries }))
  expect(report.problems, `SEED=${seed}`).toEqual([])
  expect(breaks).toBeGreaterThanOrEqual(BREAKS)
  expect(acknowledged).toBeGreaterThan(SESSIONS * 5)
})
