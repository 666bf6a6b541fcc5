import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ok, silence, startReceiver, verify } from '../../support/network/webhook-receiver.ts'
import { startWheelhouse } from '../../support/processes/processes.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { abandonJobs, recoverAbandoned } from '../../support/world/jobs.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** A platform without workers: the tests start workers as separate processes. */
let world: World
let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-test-'))
  world = await createWorld({
    bus: 'redis',
    env: { ROLES: 'api,hub,gateway', WEBHOOK_ALLOW_LOOPBACK: 'true' },
  })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
})

async function startWorker() {
  const worker = startWheelhouse({
    ROLES: 'worker',
    WEBHOOK_ALLOW_LOOPBACK: 'true',
    DATABASE_URL: world.database.url,
    REDIS_URL: serviceUrl('redisUrl'),
    DATA_DIR: dataDir,
    SECRET_KEY: 'a key for tests only, at least 32 characters',
    HEARTBEAT_TIMEOUT_MS: '5000',
  })
  await worker.serving()
  return worker
}
const recordEvents = (owner: TestUser, count: number) =>
  world.platform.core.transact(async (tx) => {
    for (let n = 0; n < count; n++) {
      const robot = { robot_id: crypto.randomUUID(), status: 'OFFLINE', last_heartbeat: null } as const
      tx.publish('robots.status', { robots: [{ ...robot, owner_id: owner.id, robot_type: 'x' }] })
    }
  })
async function createWebhook(owner: TestUser, url: string) {
  const { body } = await owner.post('/api/webhooks', { url, types: ['robot.status'] })
  return { secret: body.secret as string, path: `/api/webhooks/${body.id}` }
}
/** Makes the jobs of a crashed worker look abandoned, and recovers them. A worker does it after seconds of silence. */
async function expireClaims(): Promise<void> {
  await abandonJobs(world.database.url)
  await recoverAbandoned(world.platform.core.jobs)
}

test('no delivery is lost if a worker is killed before, between or during deliveries: another worker sends them with the same ids', async () => {
  const owner = await world.client()
  await using receiver = await startReceiver(silence)
  const { secret, path } = await createWebhook(owner, receiver.url)
  // Committed and published while no worker is running.
  await recordEvents(owner, 120)
  await world.drained()
  expect((await owner.get('/api/events')).body.events).toEqual([])

  await using first = await startWorker()
  await waitFor(() => expect(receiver.received).toHaveLength(1))
  await first.end('SIGKILL') // during an attempt
  receiver.answerWith(ok)
  await expireClaims()

  await using second = await startWorker()
  await waitFor(() => expect(receiver.received.length).toBeGreaterThan(20))
  await second.end('SIGKILL')
  await expireClaims()

  await using _third = await startWorker()
  const seen = () => new Set(receiver.ids())
  await waitFor(() => expect(seen().size).toBe(120))
  const stream = (await owner.get('/api/events?limit=500')).body.events as { id: string }[]
  expect([...seen()]).toEqual(stream.map(({ id }) => id))
  expect(receiver.ids()[1], 'the delivery that the first worker was sending when it was killed').toBe(
    receiver.ids()[0],
  )
  for (const item of receiver.received) verify(secret, item)
  await waitFor(async () => {
    expect((await owner.get(`${path}/deliveries?status=PENDING`)).body.deliveries).toEqual([])
  })
  expect(receiver.received.length, 'only interrupted deliveries are repeated').toBeLessThanOrEqual(122)
})

test('two workers share deliveries: none is sent twice, and each receiver gets one request at a time', async () => {
  await using _worker = await startWorker()
  await using _secondWorker = await startWorker()
  const owner = await world.client()
  await using slow = await startReceiver((response) => setTimeout(() => response.end(), 3))
  await using quick = await startReceiver()
  for (const { url } of [slow, quick]) await createWebhook(owner, url)
  for (let n = 0; n < 8; n++) await recordEvents(owner, 10)
  for (const receiver of [slow, quick]) {
    await waitFor(() => expect(receiver.received.length).toBeGreaterThanOrEqual(80))
    expect(receiver.received.map(({ event }) => event.seq)).toEqual(
      Array.from({ length: 80 }, (_, n) => n + 1),
    )
    expect(receiver.mostUnderWay).toBe(1)
  }
})
