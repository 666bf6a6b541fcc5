import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { SessionLogEvent } from '@wheelhouse/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HubClient } from '../../../packages/sdk/index.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import {
  createEmptyDatabase,
  query,
  startOutsideProvider,
  startWheelhouse,
  type Wheelhouse,
} from '../../support/processes/processes.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { createTestUser, type TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'

/** Long enough for heartbeats that a busy machine sends late. */
const TIMEOUT_MS = 10_000
/** Time between two messages of one user; the hub limits their rate. */
const RHYTHM_MS = 40

const closers: (() => unknown)[] = []
let provider: Awaited<ReturnType<typeof startOutsideProvider>>
let dataDir: string
beforeAll(async () => {
  provider = await startOutsideProvider()
  dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-e2e-'))
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
  await provider[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
})

/** Creates one of several processes with the same database and Redis. */
function startNode(database: { url: string }, roles: string, env: Record<string, string> = {}): Wheelhouse {
  const node = startWheelhouse({
    ROLES: roles,
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    REDIS_URL: serviceUrl('redisUrl'),
    SECRET_KEY: 'a key for tests only, at least 32 characters',
    ...provider.env,
    HEARTBEAT_INTERVAL_MS: '200',
    HEARTBEAT_TIMEOUT_MS: String(TIMEOUT_MS),
    ...env,
  })
  closers.push(() => node[Symbol.asyncDispose]())
  return node
}

/** Creates an observer that reconnects by itself and must receive the whole log, each entry once. */
async function watch(url: string, user: TestUser, sessionId: string) {
  const log: SessionLogEvent[] = []
  const client = new HubClient({ url, token: user.token, reconnect: { baseMs: 10, maxMs: 200 } })
  closers.push(() => client.close())
  await client.connect()
  await client.watch(sessionId, { onEvent: (event) => log.push(event) })
  return { client, log }
}
const seqs = (log: readonly { seq: number }[]) => log.map(({ seq }) => seq)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

async function register(owner: TestUser): Promise<{ id: string; token: string }> {
  const reply = await owner.post('/api/client/robots', {
    name: 'Robot',
    robot_type: 'testbot',
    hardware_id: `board-${Math.random()}`,
  })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return { id: reply.body.id, token: reply.body.robot_token }
}

async function connect(gatewayUrl: string, robot: { id: string; token: string }): Promise<TestRobot> {
  const link = new TestRobot(`${gatewayUrl}/robots/${robot.id}/control`, robot.token)
  closers.push(() => link.destroy())
  await link.next('welcome')
  return link.beat()
}

const statusOf = async (owner: TestUser, robot: { id: string }) =>
  (await owner.get(`/api/client/robots/${robot.id}`)).body.status

describe('six processes: api, worker, two hubs, two gateways', () => {
  let database: TestDatabase
  let hubs: [Wheelhouse, Wheelhouse]
  let gateways: [Wheelhouse, Wheelhouse]
  let hubUrls: [string, string]
  let gatewayUrls: [string, string]
  let owner: TestUser
  let operator: TestUser

  beforeAll(async () => {
    database = await createTestDatabase()
    const api = startNode(database, 'api')
    const debug = { LOG_LEVEL: 'debug' } // logs which hub runs the outbox relay
    const worker = startNode(database, 'worker')
    hubs = [startNode(database, 'hub', debug), startNode(database, 'hub', debug)]
    gateways = [startNode(database, 'gateway'), startNode(database, 'gateway')]
    const { baseUrl } = await api.serving()
    await worker.serving()
    hubUrls = [(await hubs[0].serving()).hubUrl, (await hubs[1].serving()).hubUrl]
    gatewayUrls = [(await gateways[0].serving()).gatewayUrl, (await gateways[1].serving()).gatewayUrl]
    const user = async (name: string, hubUrl: string, role: string) => {
      const token = await provider.tokenFor(name)
      const made = await createTestUser({ baseUrl, hubUrl, token, onClose: (close) => closers.push(close) })
      expect((await made.post('/api/auth/profile', { role })).status).toBe(200)
      return made
    }
    owner = await user('owner', hubUrls[0], 'client')
    operator = await user('operator', hubUrls[1], 'operator')
  })
  afterAll(async () => {
    for (const close of closers.splice(0).reverse()) await close()
    await database?.drop()
  })

  test('a session uses all of them, and survives a kill of the gateway and of the hub with the outbox relay', async () => {
    const robot = await register(owner)
    const idle = await register(owner)
    const board = await owner.hub()
    await board.send('robots:watch')
    const link = await connect(gatewayUrls[0], robot)
    const idleLink = await connect(gatewayUrls[0], idle)
    for (const { id } of [robot, idle]) {
      await board.saw('robot:status', { robot_id: id, status: 'AVAILABLE' })
    }

    const started = await operator.post('/api/sessions', { robotId: robot.id })
    expect(started.status, JSON.stringify(started.body)).toBe(201)
    const sessionId = started.body.sessionId as string
    expect(await link.next('session')).toMatchObject({ session_id: sessionId, status: 'ACTIVE' })
    const session = async () => (await owner.get(`/api/sessions/${sessionId}`)).body
    const observers = {
      owner: await watch(hubUrls[0], owner, sessionId),
      operator: await watch(hubUrls[1], operator, sessionId),
    }

    // Both users chat, each at another hub, until the end of the test.
    const acknowledged: string[] = []
    let chatting = true
    const keepChatting = async (name: 'owner' | 'operator') => {
      for (let n = 0; chatting; n++) {
        const body = `${name} ${n}`
        await observers[name].client.sendChat(sessionId, body)
        acknowledged.push(body)
        // After the answer: the ticks of a timer would accumulate while a busy hub does not answer.
        await delay(RHYTHM_MS)
      }
    }
    const conversation = Promise.allSettled([keepChatting('owner'), keepChatting('operator')])
    const expectMessages = (count: number) =>
      waitFor(() => expect(acknowledged.length).toBeGreaterThan(count))
    await expectMessages(20)

    // kill -9 of the gateway that holds both robots.
    const killedMs = performance.now()
    await gateways[0].end('SIGKILL')
    expect([await link.closed, await idleLink.closed]).toEqual([1006, 1006])
    await waitFor(async () => {
      expect(await session()).toMatchObject({ status: 'PAUSED', pause_reason: 'robot_lost' })
      expect(await statusOf(owner, idle)).toBe('OFFLINE')
    })
    expect(performance.now() - killedMs).toBeGreaterThan(TIMEOUT_MS / 2) // until then it counted as alive
    await board.saw('robot:status', { robot_id: idle.id, status: 'OFFLINE' })
    const back = new TestRobot(`${gatewayUrls[1]}/robots/${robot.id}/control`, robot.token).beat()
    closers.push(() => back.destroy())
    expect((await back.next('welcome')).session).toMatchObject({ session_id: sessionId, status: 'PAUSED' })
    await connect(gatewayUrls[1], idle)
    await waitFor(async () => expect(await statusOf(owner, idle)).toBe('AVAILABLE'))
    const backEvent = () => observers.owner.log.find(({ type }) => type === 'robot.back')
    await waitFor(() => expect(backEvent()).toBeDefined())
    expect((await operator.patch(`/api/sessions/${sessionId}`, { action: 'resume' })).status).toBe(200)
    expect(await back.next('session')).toMatchObject({ status: 'ACTIVE' })

    // kill -9 of the hub that runs the outbox relay; the other one continues.
    const relaying = hubs.findIndex((hub) => hub.output().includes('relaying the outbox')) as 0 | 1
    expect([0, 1]).toContain(relaying)
    await expectMessages(acknowledged.length + 10)
    await hubs[relaying].end('SIGKILL')
    const remaining = relaying === 0 ? 'operator' : 'owner'
    const remainingUrl = hubUrls[relaying === 0 ? 1 : 0]
    const sofar = observers[remaining].log.length
    await operator.post(`/api/sessions/${sessionId}/messages`, { body: 'Is anyone there?' })
    await waitFor(() => expect(observers[remaining].log.length).toBeGreaterThan(sofar))
    chatting = false
    // Messages of the killed hub's client are no longer acknowledged.
    observers[relaying === 0 ? 'owner' : 'operator'].client.close()
    await conversation
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    expect(await back.next('session')).toMatchObject({ status: 'COMPLETED' })

    const log = await wholeLog(sessionId)
    expect(seqs(log)).toEqual(upTo(log.length))
    expect(log.map(({ type }) => type).filter((type) => type !== 'chat.message')).toEqual([
      'session.started',
      'robot.lost',
      'robot.back',
      'session.resumed',
      'session.ended',
    ])
    const bodies = log.filter(({ type }) => type === 'chat.message').map(({ data }) => data.body)
    expect(new Set(bodies).size).toBe(bodies.length)
    expect(acknowledged.filter((body) => !bodies.includes(body))).toEqual([])
    await waitFor(() => expect(seqs(observers[remaining].log)).toEqual(seqs(log)))

    // A new observer at the remaining hub receives the whole log as well.
    const late = await watch(remainingUrl, owner, sessionId)
    await waitFor(() => expect(late.log).toEqual(log))
  })

  test('SIGTERM of a gateway: robots are asked to reconnect, acknowledged beats are stored, exit code 0', async () => {
    const robots = await Promise.all(Array.from({ length: 20 }, () => register(owner)))
    const links = await Promise.all(robots.map((robot) => connect(gatewayUrls[1], robot)))
    const acknowledgedMs = await Promise.all(links.map(async (link) => (await link.next('heartbeat_ack')).t))
    const ended = gateways[1].end('SIGTERM')
    expect(new Set(await Promise.all(links.map((link) => link.closed)))).toEqual(new Set([4503]))
    expect(await ended, gateways[1].output()).toEqual({ code: 0, signal: null })

    for (const [index, robot] of robots.entries()) {
      const lastAckMs = links[index]?.frames
        .filter(({ type }) => type === 'heartbeat_ack')
        .reduce((last, frame) => Math.max(last, frame.t as number), acknowledgedMs[index] as number)
      const view = (await owner.get(`/api/client/robots/${robot.id}`)).body
      expect(view.status).toBe('OFFLINE')
      expect(Date.parse(view.last_heartbeat)).toBeGreaterThanOrEqual(lastAckMs as number)
    }
    expect(await query(database.url, 'select robot_id from robot_presence where connected')).toEqual([])
  })

  async function wholeLog(sessionId: string): Promise<SessionLogEvent[]> {
    const log: SessionLogEvent[] = []
    for (;;) {
      const after = log.at(-1)?.seq ?? 0
      const page = (await owner.get(`/api/sessions/${sessionId}/events?after=${after}&limit=100`)).body.events
      if (page.length === 0) return log
      log.push(...page)
    }
  }
})

test('concurrent starts on an empty database all succeed, and one process creates the schema', async () => {
  const database = await createEmptyDatabase()
  try {
    const nodes = [startNode(database, 'api'), startNode(database, 'api'), startNode(database, 'worker')]
    const urls = await Promise.all(nodes.map((node) => node.serving()))
    for (const { baseUrl } of urls.slice(0, 2)) {
      expect(await (await fetch(`${baseUrl}/api/health`)).json()).toMatchObject({ status: 'ok' })
    }
    const applied = nodes.filter((node) => node.output().includes('database schema migrated'))
    expect(applied).toHaveLength(1)
    const ends = await Promise.all(nodes.map((node) => node.end('SIGTERM')))
    expect(ends).toEqual(nodes.map(() => ({ code: 0, signal: null })))
  } finally {
    await database.drop()
  }
})
