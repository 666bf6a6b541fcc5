import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createPresenceStore } from '../../../src/modules/presence/presence.store.ts'
import { createSweep } from '../../../src/modules/presence/presence-sweep.ts'
import { createSilentGateway } from '../../support/world/billing.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const NODE_TIMEOUT_MS = 10_000
const LATE_MS = 6_000
const TIMELY_MS = 500
const ROBOT_GRACE_MS = 60_000

let world: World
beforeAll(async () => {
  world = await createWorld({ bus: 'redis', env: { ROLES: 'api,hub' } }) // the tests run the sweeps
})
afterAll(() => world[Symbol.asyncDispose]())

/** Creates a gateway that has died and one that renews before every sweep, each with a robot, and sweeps on a clock of the test. */
async function createFixture() {
  const { core, sessions } = world.platform
  const store = createPresenceStore({ databaseUrl: world.database.url, poolSize: 1 })
  let clockMs = 0
  const wallClock = { aheadMs: 0 }
  const sweep = createSweep({
    store,
    sessions: sessions.presence,
    lifecycle: sessions.lifecycle,
    log: core.log,
    now: () => new Date(Date.now() + wallClock.aheadMs),
    robotGraceMs: ROBOT_GRACE_MS,
    nodeTimeoutMs: NODE_TIMEOUT_MS,
    handoverMs: NODE_TIMEOUT_MS,
    monotonicMs: () => clockMs,
  })
  const owner = await world.client()
  const [dead, live] = [
    await createSilentGateway(world, Date.now),
    await createSilentGateway(world, Date.now),
  ]
  onTestFinished(async () => {
    for (const gateway of [dead, live]) await gateway[Symbol.asyncDispose]()
    await store.close()
  })
  const [lost, kept] = [await world.robot(owner), await world.robot(owner)]
  await dead.connect(lost.id)
  await live.connect(kept.id)
  dead.fallSilent()
  const markOfLive = async () => (await store.nodes()).find(({ id }) => id === live.nodeId)?.seenMark
  /** Marks have milliseconds, which a fast machine needs to sweep twice. */
  const renewLive = async () => {
    const before = await markOfLive()
    await waitFor(async () => {
      await store.renewNode(live.nodeId, 'ws://nowhere')
      expect(await markOfLive()).not.toBe(before)
    })
  }
  const statusOf = async ({ id }: { id: string }) => (await owner.get(`/api/client/robots/${id}`)).body.status
  return {
    owner,
    live,
    kept,
    wallClock,
    /** Advances the clock, and runs a sweep. */
    async sweepAfter(ms: number): Promise<void> {
      clockMs += ms
      await renewLive()
      await sweep.run()
    },
    /** Returns the status of the robot of the dead gateway, and of the other one. */
    statuses: async () => [await statusOf(lost), await statusOf(kept)],
  }
}

test('of sweeps that are always late, every second one finds dead gateways, and keeps the robots of a live one', async () => {
  const { sweepAfter, statuses } = await createFixture()
  await sweepAfter(0)
  await sweepAfter(2 * NODE_TIMEOUT_MS)
  expect(await statuses()).toEqual(['AVAILABLE', 'AVAILABLE'])
  await sweepAfter(2 * NODE_TIMEOUT_MS)
  expect(await statuses()).toEqual(['OFFLINE', 'AVAILABLE'])
  for (let sweeps = 0; sweeps < 3; sweeps++) await sweepAfter(2 * NODE_TIMEOUT_MS)
  expect(await statuses()).toEqual(['OFFLINE', 'AVAILABLE'])
})

test('a gateway that could not renew during two stalls keeps its robots in the first sweep after each', async () => {
  const { sweepAfter, statuses } = await createFixture()
  await sweepAfter(0)
  for (let stalls = 0; stalls < 2; stalls++) {
    await sweepAfter(LATE_MS)
    await sweepAfter(TIMELY_MS)
    expect(await statuses()).toEqual(['AVAILABLE', 'AVAILABLE'])
  }
  await sweepAfter(LATE_MS)
  expect(await statuses()).toEqual(['AVAILABLE', 'AVAILABLE'])
  await sweepAfter(TIMELY_MS)
  expect(await statuses()).toEqual(['OFFLINE', 'AVAILABLE'])
})

test('a late sweep ends no session of a robot whose return could not be stored', async () => {
  const { sweepAfter, owner, live, kept, wallClock } = await createFixture()
  const operator = await world.operator()
  const { sessionId } = (await operator.post('/api/sessions', { robotId: kept.id })).body
  const session = async () => (await owner.get(`/api/sessions/${sessionId}`)).body
  await sweepAfter(0)
  await live.lose(kept.id, Date.now())
  wallClock.aheadMs = 2 * ROBOT_GRACE_MS
  await sweepAfter(LATE_MS)
  expect(await session()).toMatchObject({ status: 'PAUSED' })
  for (let sweeps = 0; sweeps < 10; sweeps++) await sweepAfter(TIMELY_MS)
  expect(await session(), 'its gateway may still wait for a dead connection').toMatchObject({
    status: 'PAUSED',
  })
  await live.connect(kept.id)
  for (let sweeps = 0; sweeps < 3; sweeps++) await sweepAfter(TIMELY_MS)
  expect(await session()).toMatchObject({ status: 'PAUSED' })
  await live.lose(kept.id, Date.now())
  await sweepAfter(TIMELY_MS)
  expect(await session()).toMatchObject({ status: 'COMPLETED', end_reason: 'robot_lost' })
})

test('a single late sweep gives every gateway the full timeout again', async () => {
  const { sweepAfter, statuses } = await createFixture()
  for (let sweeps = 0; sweeps < 3; sweeps++) await sweepAfter(TIMELY_MS)
  await sweepAfter(10 * NODE_TIMEOUT_MS)
  for (let ms = 0; ms < NODE_TIMEOUT_MS; ms += TIMELY_MS) await sweepAfter(TIMELY_MS)
  expect(await statuses()).toEqual(['AVAILABLE', 'AVAILABLE'])
  await sweepAfter(TIMELY_MS)
  expect(await statuses()).toEqual(['OFFLINE', 'AVAILABLE'])
})
