import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { SessionLogEvent } from '@wheelhouse/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HubClient, ObserverLink, OperatorLink, RobotLink, ticketsOf } from '../../../packages/sdk/index.ts'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { startOutsideProvider, startWheelhouse, type Wheelhouse } from '../../support/processes/processes.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { createTestUser, type TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'

const ROLES = ['api', 'hub', 'gateway', 'worker'] as const
type Role = (typeof ROLES)[number]
const CONTROL_EVERY_MS = 50
const CHAT_EVERY_MS = 60

const closers: (() => unknown)[] = []
let database: TestDatabase
let provider: Awaited<ReturnType<typeof startOutsideProvider>>
let dataDir: string
beforeAll(async () => {
  database = await createTestDatabase()
  provider = await startOutsideProvider()
  dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-rolling-'))
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
  await provider[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
  await database.drop()
})

/** Creates two processes of each role, each on a fixed port, behind one address for each role. */
async function startPlatform() {
  const ports = Object.fromEntries(
    await Promise.all(ROLES.map(async (role) => [role, [await freePort(), await freePort()]] as const)),
  ) as Record<Role, [number, number]>
  const addressOf = async (role: Role) => {
    const balancer = await createTcpProxy(ports[role].map((port) => `http://127.0.0.1:${port}`))
    closers.push(() => balancer[Symbol.asyncDispose]())
    return new URL(balancer.url).host
  }
  const baseUrl = `http://${await addressOf('api')}`
  const hubUrl = `http://${await addressOf('hub')}`
  const robotsUrl = `ws://${await addressOf('gateway')}`

  function start(role: Role, port: number): Wheelhouse {
    const node = startWheelhouse({
      ROLES: role,
      BASE_URL: baseUrl,
      DATA_DIR: dataDir,
      LOG_LEVEL: 'debug',
      DATABASE_URL: database.url,
      REDIS_URL: serviceUrl('redisUrl'),
      [`${role === 'api' ? '' : `${role.toUpperCase()}_`}PORT`]: String(port),
      ...(role === 'gateway' && { GATEWAY_URL: `ws://127.0.0.1:${port}` }),
      SECRET_KEY: 'a key for tests only, at least 32 characters',
      RATE_LIMIT_PER_MINUTE: '0',
      // A busy machine sends heartbeats late, and needs time for a reconnection.
      HEARTBEAT_TIMEOUT_MS: '30000',
      OPERATOR_GRACE_MS: '60000',
      ...provider.env,
    })
    closers.push(() => node[Symbol.asyncDispose]())
    return node
  }
  const nodes = ROLES.flatMap((role) =>
    ports[role].map((port) => ({ role, port, process: start(role, port) })),
  )
  await Promise.all(nodes.map(({ process }) => process.serving()))

  return {
    baseUrl,
    hubUrl,
    robotsUrl,
    nodes,
    /** Ends a process in order and starts it again on the same port. */
    async restart(node: (typeof nodes)[number]): Promise<void> {
      const end = await node.process.end('SIGTERM')
      expect(end, `${node.role} on ${node.port}\n${node.process.output()}`).toEqual({ code: 0, signal: null })
      node.process = start(node.role, node.port)
      await node.process.serving()
    },
  }
}

type Platform = Awaited<ReturnType<typeof startPlatform>>

async function createActors({ baseUrl, hubUrl }: Platform) {
  const user = async (name: string, role: string): Promise<TestUser> => {
    const token = await provider.tokenFor(name)
    const made = await createTestUser({ baseUrl, hubUrl, token, onClose: (close) => closers.push(close) })
    expect((await made.post('/api/auth/profile', { role })).status).toBe(200)
    return made
  }
  return {
    owner: await user('owner', 'client'),
    operator: await user('operator', 'operator'),
    other: await user('other', 'operator'),
  }
}

/** Repeats a request when the connection breaks, as programs do; its idempotency key makes that safe. */
async function ask(user: TestUser, baseUrl: string, method: string, path: string, body?: unknown) {
  const key = crypto.randomUUID()
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await fetch(baseUrl + path, {
        method,
        headers: {
          Authorization: `Bearer ${user.token}`,
          'Content-Type': 'application/json',
          ...(method === 'POST' && { 'Idempotency-Key': key }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await response.json() }
    } catch (cause) {
      if (attempt === 5) throw cause
    }
  }
}

async function register(owner: TestUser): Promise<{ id: string; token: string }> {
  const hardware = { robot_type: 'testbot', hardware_id: `board-${crypto.randomUUID()}` }
  const { status, body } = await owner.post('/api/client/robots', { name: 'Robot', ...hardware })
  expect(status, JSON.stringify(body)).toBe(201)
  await owner.patch(`/api/client/robots/${body.id}`, { latency_limit_ms: 10_000 })
  return { id: body.id, token: body.robot_token }
}

type Step =
  | { what: 'welcome' | 'online' | 'offline'; atMs: number; code?: number | undefined }
  | { what: 'control'; atMs: number; sentMs: number }
  | { what: 'stop'; atMs: number; reason: string }

/** Creates a robot that records its frames. */
async function startRobot({ robotsUrl }: Platform, { id, token }: { id: string; token: string }) {
  const steps: Step[] = []
  const link = new RobotLink({
    url: `${robotsUrl}/robots/${id}/control`,
    token,
    onWelcome: () => steps.push({ what: 'welcome', atMs: performance.now() }),
    onControl: ({ seq, data }) => {
      steps.push({ what: 'control', atMs: performance.now(), sentMs: (data as { sentMs: number }).sentMs })
      link.ack(seq)
    },
    onStop: ({ reason }) => {
      steps.push({ what: 'stop', atMs: performance.now(), reason })
      link.stopped(reason)
    },
    onConnection: (state, code) => {
      if (state === 'offline') steps.push({ what: 'offline', atMs: performance.now(), code })
    },
  })
  closers.push(() => link.close())
  await link.connect()
  const controls = () => steps.filter(({ what }) => what === 'control').length
  return {
    steps,
    /** Settles when the robot has received further control. */
    async isDriven(): Promise<void> {
      const before = controls()
      await waitFor(() => expect(controls()).toBeGreaterThan(before + 3))
    },
  }
}

async function follow(url: string, user: TestUser, sessionId: string) {
  const log: SessionLogEvent[] = []
  const client = new HubClient({ url, token: user.token })
  closers.push(() => client.close())
  await client.connect()
  await client.watch(sessionId, { onEvent: (event) => log.push(event) })
  return { client, log }
}

/** Repeats an action, one run after another, until the test ends it. */
function repeat(everyMs: number, work: () => Promise<unknown>): () => Promise<void> {
  let on = true
  const run = (async () => {
    while (on) {
      await work()
      await delay(everyMs)
    }
  })()
  return async () => {
    on = false
    await run
  }
}

test('a rolling restart of all processes under control neither pauses the session nor loses an event', {
  timeout: 600_000,
}, async () => {
  const platform = await startPlatform()
  const { baseUrl, hubUrl } = platform
  const { owner, operator, other } = await createActors(platform)
  const [driven, busy] = [await register(owner), await register(owner)]
  const robot = await startRobot(platform, driven)
  await startRobot(platform, busy)
  const started = await operator.post('/api/sessions', { robotId: driven.id })
  expect(started.status, JSON.stringify(started.body)).toBe(201)
  const sessionId = started.body.sessionId as string

  const codes: number[] = []
  const part = (user: TestUser, name: 'control' | 'watch') => ({
    getTicket: ticketsOf({ baseUrl, token: user.token, sessionId, part: name }),
    onConnection: (_state: string, code?: number) => {
      if (code !== undefined) codes.push(code)
    },
  })
  const console = new OperatorLink(part(operator, 'control'))
  const observer = new ObserverLink(part(owner, 'watch'))
  closers.push(() => Promise.all([console.close(), observer.close()]))
  await Promise.all([console.connect(), observer.connect()])
  const wheel = setInterval(() => console.control({ sentMs: performance.now() }), CONTROL_EVERY_MS)
  closers.push(() => clearInterval(wheel))

  const followers = [await follow(hubUrl, owner, sessionId), await follow(hubUrl, operator, sessionId)]
  const acknowledged: string[] = []
  const endChats = followers.map(({ client }, who) =>
    repeat(CHAT_EVERY_MS, async () => {
      const body = `${who}: ${acknowledged.length}`
      await client.sendChat(sessionId, body)
      acknowledged.push(body)
    }),
  )
  const sessions: string[] = []
  const endStarts = repeat(100, async () => {
    const { status, body } = await ask(other, baseUrl, 'POST', '/api/sessions', { robotId: busy.id })
    if (status === 409) return // its robot changes gateways
    expect(status, JSON.stringify(body)).toBe(201)
    sessions.push(body.sessionId)
    const end = () => ask(other, baseUrl, 'PATCH', `/api/sessions/${body.sessionId}`, { action: 'end' })
    // A repetition after a broken connection is refused, because the session has ended.
    expect([200, 409]).toContain((await end()).status)
  })
  await robot.isDriven()

  for (const node of platform.nodes) {
    const [sentCount, begun] = [acknowledged.length, sessions.length]
    await platform.restart(node)
    await robot.isDriven()
    await waitFor(() => {
      expect(acknowledged.length).toBeGreaterThan(sentCount)
      expect(sessions.length).toBeGreaterThan(begun)
    })
  }
  await Promise.all([...endChats, endStarts].map((end) => end()))
  clearInterval(wheel)
  expect(console.state?.status).toBe('ACTIVE')
  expect(codes.filter((code) => ![4503, 4009, 1006].includes(code))).toEqual([])

  const ended = await ask(operator, baseUrl, 'PATCH', `/api/sessions/${sessionId}`, { action: 'end' })
  expect(ended.status).toBe(200)
  const log = await wholeLog(owner, sessionId)
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1))
  const actions = log.filter(({ type }) => type !== 'chat.message').map(({ type }) => type)
  expect(actions, 'only its start and its end').toEqual(['session.started', 'session.ended'])
  for (const follower of followers) await waitFor(() => expect(follower.log).toEqual(log))
  const messages = log.filter(({ type }) => type === 'chat.message').map(({ data }) => data.body)
  expect(messages.toSorted()).toEqual(acknowledged.toSorted())

  checkGatewayHandovers(robot.steps)
  const others = await Promise.all(sessions.map((id) => owner.get(`/api/sessions/${id}`)))
  expect(new Set(others.map(({ body }) => body.status))).toEqual(new Set(['COMPLETED']))
  for (const { process } of platform.nodes) {
    expect(process.lines.filter((line) => JSON.parse(line).level >= 50)).toEqual([])
  }
})

/** Checks that the robot halted when it changed gateways, and moved again only after control from the new one. */
function checkGatewayHandovers(steps: readonly Step[]): void {
  const offline = steps.flatMap((step, index) => (step.what === 'offline' ? [index] : []))
  expect(offline.length).toBeGreaterThanOrEqual(2)
  for (const index of offline) {
    expect(steps[index]).toMatchObject({ code: 4503 })
    const before = steps.slice(0, index).findLast(({ what }) => what === 'control' || what === 'stop')
    expect(before?.what, 'the last frame before the change').toBe('stop')
    const after = steps.slice(index).find(({ what }) => what === 'control')
    if (after?.what !== 'control') continue
    const welcome = steps.slice(index).find(({ what }) => what === 'welcome')
    expect(after.sentMs).toBeGreaterThan(welcome?.atMs as number)
  }
}

async function wholeLog(owner: TestUser, sessionId: string): Promise<SessionLogEvent[]> {
  const log: SessionLogEvent[] = []
  for (;;) {
    const after = log.at(-1)?.seq ?? 0
    const page = (await owner.get(`/api/sessions/${sessionId}/events?after=${after}&limit=100`)).body.events
    if (page.length === 0) return log
    log.push(...page)
  }
}
