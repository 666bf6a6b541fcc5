import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RobotStatusEvent, SessionLogEvent } from '@wheelhouse/protocol'
import { expect, test } from 'vitest'
import { HubClient } from '../../../packages/sdk/index.ts'
import { createTestDatabase } from '../../support/database/database.ts'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import { startOutsideProvider, startWheelhouse, type Wheelhouse } from '../../support/processes/processes.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { createTestUser, type TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'

/** Creates one process for all roles except the hub, two hubs, and an open session. */
async function openFixture() {
  const closers: (() => unknown)[] = []
  const database = await createTestDatabase()
  const provider = await startOutsideProvider()
  const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-e2e-'))
  const start = (roles: string): Wheelhouse => {
    const node = startWheelhouse({
      ROLES: roles,
      DATA_DIR: dataDir,
      ...provider.env,
      DATABASE_URL: database.url,
      REDIS_URL: serviceUrl('redisUrl'),
      LOG_LEVEL: 'debug',
      // A busy machine sends heartbeats late.
      HEARTBEAT_TIMEOUT_MS: '30000',
      SECRET_KEY: 'a key for tests only, at least 32 characters',
      RATE_LIMIT_PER_MINUTE: '0',
    })
    closers.push(() => node[Symbol.asyncDispose]())
    return node
  }
  const rest = start('api,gateway,worker')
  const hubs = [start('hub'), start('hub')] as const
  const { baseUrl, gatewayUrl } = await rest.serving()
  const hubUrls = await Promise.all(hubs.map(async (hub) => (await hub.serving()).hubUrl))
  const user = async (name: string, role: string): Promise<TestUser> => {
    const token = await provider.tokenFor(name)
    const parts = { baseUrl, hubUrl: hubUrls[0] as string, token }
    const made = await createTestUser({ ...parts, onClose: (close) => closers.push(close) })
    expect((await made.post('/api/auth/profile', { role })).status).toBe(200)
    return made
  }
  const [owner, operator] = [await user('owner', 'client'), await user('operator', 'operator')]
  const connectRobot = async (hardware_id: string) => {
    const robot = { name: 'Robot', robot_type: 'testbot', hardware_id }
    const { id, robot_token } = (await owner.post('/api/client/robots', robot)).body
    const connect = async () => {
      const link = new TestRobot(`${gatewayUrl}/robots/${id}/control`, robot_token)
      closers.push(() => link.destroy())
      await link.next('welcome')
      return link.beat()
    }
    return { id: id as string, connect, link: await connect() }
  }
  const robot = await connectRobot('board-1')
  const started = await operator.post('/api/sessions', { robotId: robot.id })
  expect(started.status, JSON.stringify(started.body)).toBe(201)
  return {
    hubs,
    hubUrls,
    owner,
    operator,
    connectRobot,
    sessionId: started.body.sessionId as string,
    closers,
    async [Symbol.asyncDispose]() {
      for (const close of closers.reverse()) await close()
      await provider[Symbol.asyncDispose]()
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
type Fixture = Awaited<ReturnType<typeof openFixture>>

/** Follows the session and the owner's robots through one hub, across its failures. */
async function follow(fixture: Fixture, url: string) {
  const log: SessionLogEvent[] = []
  const statuses = new Map<string, string>()
  const note = (robot: RobotStatusEvent) => void statuses.set(robot.robot_id, robot.status)
  const client = new HubClient({ url, token: fixture.owner.token, reconnect: { baseMs: 10, maxMs: 200 } })
  fixture.closers.push(() => client.close())
  await client.connect()
  await client.watch(fixture.sessionId, { onEvent: (event) => log.push(event) })
  await client.watchRobots((update) => {
    if (update.kind === 'list') for (const robot of update.robots) note(robot)
    else note(update.robot)
  })
  return { log, statuses }
}

async function relayingHub({ hubs }: Fixture): Promise<0 | 1> {
  return await waitFor(() => {
    const found = hubs.findIndex((hub) => hub.output().includes('relaying the outbox'))
    expect([0, 1]).toContain(found)
    return found as 0 | 1
  })
}

async function sendMessage({ operator, sessionId }: Fixture, body: string): Promise<number> {
  const reply = await operator.post(`/api/sessions/${sessionId}/messages`, { body })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.seq
}

async function storedLog({ owner, sessionId }: Fixture): Promise<SessionLogEvent[]> {
  return (await owner.get(`/api/sessions/${sessionId}/events?limit=200`)).body.events
}

const reaches = (log: readonly SessionLogEvent[], seq: number) =>
  waitFor(() => expect(log.at(-1)?.seq).toBe(seq))

test('kill -9 of the hub with the outbox relay: the other publishes, completely and in order', async () => {
  await using fixture = await openFixture()
  const relaying = await relayingHub(fixture)
  const remaining = await follow(fixture, fixture.hubUrls[1 - relaying] as string)
  await reaches(remaining.log, await sendMessage(fixture, 'both hubs run'))

  const sending = Array.from({ length: 20 }, (_, index) => sendMessage(fixture, `before ${index}`))
  await fixture.hubs[relaying].end('SIGKILL')
  await reaches(remaining.log, Math.max(...(await Promise.all(sending))))
  await reaches(remaining.log, await sendMessage(fixture, 'one hub runs'))
  expect(remaining.log).toEqual(await storedLog(fixture))
})

test('SIGSTOP of the hub with the outbox relay: the other continues; after SIGCONT no event is duplicated or reordered', async () => {
  await using fixture = await openFixture()
  const relaying = await relayingHub(fixture)
  const [paused, other] = [fixture.hubs[relaying], fixture.hubs[1 - relaying] as Wheelhouse]
  const atPaused = await follow(fixture, fixture.hubUrls[relaying] as string)
  const atOther = await follow(fixture, fixture.hubUrls[1 - relaying] as string)
  const everyone = [atPaused, atOther]
  const robot = await fixture.connectRobot('board-2')
  for (const { statuses } of everyone) {
    await waitFor(() => expect(statuses.get(robot.id)).toBe('AVAILABLE'))
  }

  const sending = Array.from({ length: 20 }, (_, index) => sendMessage(fixture, `before ${index}`))
  process.kill(paused.pid, 'SIGSTOP')
  fixture.closers.push(() => process.kill(paused.pid, 'SIGCONT'))
  await reaches(atOther.log, Math.max(...(await Promise.all(sending))))
  await other.line((text) => text.includes('is unresponsive, taking over'))
  robot.link.destroy()
  await waitFor(() => expect(atOther.statuses.get(robot.id)).toBe('OFFLINE'))
  for (let count = 0; count < 10; count++) await sendMessage(fixture, `in between ${count}`)
  await robot.connect()

  process.kill(paused.pid, 'SIGCONT')
  const last = await sendMessage(fixture, 'all hubs run again')
  const stored = await storedLog(fixture)
  for (const { log, statuses } of everyone) {
    await reaches(log, last)
    expect(log).toEqual(stored)
    await waitFor(() => expect(statuses.get(robot.id)).toBe('AVAILABLE'))
  }
  // The resumed hub is a candidate again: it leads after the other one has ended.
  await other.end('SIGKILL')
  await reaches(atPaused.log, await sendMessage(fixture, 'the roles are swapped'))
  expect(atPaused.log).toEqual(await storedLog(fixture))
})
