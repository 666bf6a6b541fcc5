import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RobotLink } from '../../../packages/sdk/index.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { connectTo } from '../../support/database/sql.ts'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import {
  query,
  startOutsideProvider,
  startWheelhouse,
  type Wheelhouse,
} from '../../support/processes/processes.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { datasetsOf, episodeFrame, hasRead, storeEpisode, totals } from '../../support/world/episodes.ts'
import { createTestUser, type TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'

/** Any number: the advisory lock on which commits of episodes wait. */
const COMMIT_LOCK = 4_711

const closers: (() => unknown)[] = []
let database: TestDatabase
let gateways: [Wheelhouse, Wheelhouse]
let gatewayUrls: [string, string]
let owner: TestUser
let start: (roles: string) => Wheelhouse
let robot: { id: string; token: string }

beforeAll(async () => {
  database = await createTestDatabase()
  const provider = await startOutsideProvider()
  closers.push(() => provider[Symbol.asyncDispose]())
  const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-e2e-'))
  closers.push(() => rm(dataDir, { recursive: true, force: true }))
  start = (roles) => {
    const node = startWheelhouse({
      ROLES: roles,
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      REDIS_URL: serviceUrl('redisUrl'),
      SECRET_KEY: 'a key for tests only, at least 32 characters',
      // Longer than the tests take: a robot without the SDK sends no heartbeats.
      HEARTBEAT_TIMEOUT_MS: '600000',
      ...provider.env,
    })
    closers.push(() => node[Symbol.asyncDispose]())
    return node
  }
  const api = start('api,worker')
  gateways = [start('gateway'), start('gateway')]
  const { baseUrl } = await api.serving()
  gatewayUrls = [(await gateways[0].serving()).gatewayUrl, (await gateways[1].serving()).gatewayUrl]
  const token = await provider.tokenFor('owner')
  owner = await createTestUser({ baseUrl, hubUrl: baseUrl, token, onClose: (close) => closers.push(close) })
  expect((await owner.post('/api/auth/profile', { role: 'client' })).status).toBe(200)
  const reply = await owner.post('/api/client/robots', {
    name: 'Robot',
    robot_type: 'testbot',
    hardware_id: 'board',
  })
  robot = { id: reply.body.id, token: reply.body.robot_token }
  await query(
    database.url,
    `create function wait_at_commit() returns trigger language plpgsql as $$
     begin perform pg_advisory_xact_lock_shared(${COMMIT_LOCK}); return null; end $$;
     create constraint trigger episodes_wait_at_commit after insert on episodes
       deferrable initially deferred for each row execute function wait_at_commit()`,
  )
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
  await database?.drop()
})

/** Makes commits of episodes wait, until the returned function is called. */
async function holdCommits(): Promise<() => Promise<void>> {
  const holder = await connectTo(database.url)
  await holder.query('select pg_advisory_lock($1)', [COMMIT_LOCK])
  return () => holder.end()
}

const urlAt = (gatewayUrl: string) => `${gatewayUrl}/robots/${robot.id}/control`

test('kill -9 of the gateway between commit and acknowledgement: the repeated episode is counted once', async () => {
  const release = await holdCommits()
  const frames = Array.from({ length: 20 }, () => episodeFrame())
  const link = new TestRobot(urlAt(gatewayUrls[0]), robot.token)
  closers.push(() => link.destroy())
  await link.next('welcome')
  for (const frame of frames) link.send(frame)
  await hasRead(link)
  // The gateway has sent commit, and waits for the answer.
  await waitFor(async () => {
    const waiting = await query(
      database.url,
      `select query from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`,
    )
    expect(waiting).toEqual([{ query: expect.stringMatching(/^commit/i) }])
  })
  expect(link.frames.filter(({ type }) => type === 'episode_ack')).toEqual([])

  await gateways[0].end('SIGKILL')
  expect(await link.closed).toBe(1006)
  await release() // now the commit succeeds, and no process acknowledges it
  await waitFor(async () => {
    expect(await datasetsOf(owner)).toMatchObject([{ episode_count: expect.any(Number) }])
  })
  const [committed] = await datasetsOf(owner)
  expect(committed.episode_count).toBeGreaterThan(0)

  const again = new TestRobot(urlAt(gatewayUrls[1]), robot.token)
  closers.push(() => again.destroy())
  await again.next('welcome')
  for (const frame of frames) await storeEpisode(again, frame)
  expect(await datasetsOf(owner)).toMatchObject([{ episode_count: 20, size_mb: 30 }])
  await again.close()
})

test('a robot of the SDK loses no episode when its gateway is killed', async () => {
  const victim = start('gateway')
  await using proxy = await createTcpProxy((await victim.serving()).gatewayUrl)
  const url = urlAt(proxy.url.replace(/\/$/, ''))
  const link = new RobotLink({ url, token: robot.token, reconnect: { maxMs: 200 } })
  closers.push(() => link.close())
  await link.connect()
  const before = (await datasetsOf(owner))[0].episode_count
  let answered = 0
  const send = (n: number) => {
    const { type: _type, ...report } = episodeFrame({ episode_id: `sdk-${n}` })
    return link.sendEpisode(report).then(() => void answered++)
  }
  const first = Array.from({ length: 200 }, (_, n) => send(n))
  await first[100]
  const release = await holdCommits()
  const rest = Array.from({ length: 300 }, (_, n) => send(200 + n))
  await victim.end('SIGKILL')
  expect(answered, 'the gateway was killed during the reports').toBeLessThan(500)
  await release()
  proxy.point(gatewayUrls[1])
  await Promise.all([...first, ...rest])
  const { datasets } = await totals(database.url)
  expect(datasets).toMatchObject([{ count: before + 500, rows: before + 500 }])
  await link.close()
})
