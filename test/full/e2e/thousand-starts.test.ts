import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import { query, startOutsideProvider, startWheelhouse } from '../../support/processes/processes.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { createTestUser, type TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'

const OPERATORS = 50
const STARTS_EACH = 20

const closers: (() => unknown)[] = []
let database: TestDatabase
let apis: readonly string[]
let gatewayUrl: string
let tokenFor: (name: string) => Promise<string>

beforeAll(async () => {
  const provider = await startOutsideProvider()
  const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-e2e-'))
  database = await createTestDatabase()
  closers.push(
    () => rm(dataDir, { recursive: true, force: true }),
    () => provider[Symbol.asyncDispose](),
    () => database.drop(),
  )
  const startNode = (ROLES: string) => {
    const node = startWheelhouse({
      ROLES,
      DATA_DIR: dataDir,
      ...provider.env,
      DATABASE_URL: database.url,
      REDIS_URL: serviceUrl('redisUrl'),
      RATE_LIMIT_PER_MINUTE: '0',
      // A busy machine sends the robot's heartbeats late.
      HEARTBEAT_TIMEOUT_MS: '600000',
      SECRET_KEY: 'a key for tests only, at least 32 characters',
    })
    closers.push(() => node[Symbol.asyncDispose]())
    return node.serving()
  }
  const [first, two, gateway] = await Promise.all([startNode('api'), startNode('api'), startNode('gateway')])
  apis = [first.baseUrl, two.baseUrl]
  gatewayUrl = gateway.gatewayUrl
  tokenFor = provider.tokenFor
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

async function user(name: string, role: 'client' | 'operator'): Promise<TestUser> {
  const baseUrl = apis[0] as string
  const parts = { baseUrl, hubUrl: baseUrl, onClose: (close: () => unknown) => closers.push(close) }
  const made = await createTestUser({ ...parts, token: await tokenFor(name) })
  expect((await made.post('/api/auth/profile', { role })).status).toBe(200)
  return made
}

async function availableRobot(owner: TestUser): Promise<{ id: string }> {
  const input = { name: 'Robot', robot_type: 'testbot', hardware_id: randomUUID() }
  const { body } = await owner.post('/api/client/robots', input)
  const link = new TestRobot(`${gatewayUrl}/robots/${body.id}/control`, body.robot_token)
  closers.push(() => link.destroy())
  link.beat()
  await waitFor(async () => {
    expect((await owner.get(`/api/client/robots/${body.id}`)).body.status).toBe('AVAILABLE')
  })
  return { id: body.id }
}

/** Requests one start, alternately at both processes. */
async function start(turn: number, operator: TestUser, robotId: string, key?: string) {
  const response = await fetch(`${apis[turn % apis.length]}/api/sessions`, {
    method: 'POST',
    headers: {
      // The platform closes an idle connection after a while, at which a busy client may just send a request.
      Connection: 'close',
      Authorization: `Bearer ${operator.token}`,
      'Content-Type': 'application/json',
      ...(key !== undefined && { 'Idempotency-Key': key }),
    },
    body: JSON.stringify({ robotId }),
  })
  return { status: response.status, body: await response.json() }
}

/** Repeats a start that a busy platform has not decided (503). */
async function startDecided(turn: number, operator: TestUser, robotId: string, key?: string) {
  for (;;) {
    const answer = await start(turn, operator, robotId, key)
    if (answer.status !== 503) return answer
  }
}

const sessionsOf = (robotId: string) =>
  query(database.url, 'select id, status from sessions where robot_id = $1', [robotId])

test('1,000 concurrent starts of one robot at two api processes give one 201, 999 times 409, and one session', async () => {
  const robot = await availableRobot(await user('owner', 'client'))
  const operators = await Promise.all(
    Array.from({ length: OPERATORS }, (_, index) => user(`operator${index}`, 'operator')),
  )
  const answers = await Promise.all(
    operators.flatMap((operator, index) =>
      Array.from({ length: STARTS_EACH }, (_, turn) => startDecided(index + turn, operator, robot.id)),
    ),
  )
  const started = answers.filter(({ status }) => status === 201)
  expect(started).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(OPERATORS * STARTS_EACH - 1)
  expect(await sessionsOf(robot.id)).toEqual([{ id: started[0]?.body.sessionId, status: 'ACTIVE' }])
})

test('1,000 identical starts with one Idempotency-Key at two api processes give one session and one answer', async () => {
  const robot = await availableRobot(await user('other owner', 'client'))
  const [operator, key] = [await user('other operator', 'operator'), randomUUID()]
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, turn) => startDecided(turn, operator, robot.id, key)),
  )
  const [session] = await sessionsOf(robot.id)
  const done = answers.filter(({ status }) => status === 201)
  const running = answers.filter(({ status }) => status === 409)
  expect(done.length).toBeGreaterThan(0)
  expect(done.length + running.length).toBe(1_000)
  for (const { body } of done) expect(body).toEqual({ sessionId: session.id, status: 'ACTIVE' })
  for (const { body } of running) expect(body.error).toContain('is still running')
  for (const turn of [0, 1]) {
    expect(await startDecided(turn, operator, robot.id, key)).toMatchObject({
      status: 201,
      body: done[0]?.body,
    })
  }
  expect(await sessionsOf(robot.id)).toHaveLength(1)
})
