import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database/database.ts'
import { TestDriver, TestRobot } from '../support/gateway/frame-socket.ts'
import {
  query,
  startOutsideProvider,
  startWheelhouse,
  type Wheelhouse,
} from '../support/processes/processes.ts'
import { type ReadMcap, readMcap } from '../support/recordings/recording-fixture.ts'
import { serviceUrl } from '../support/runner/service-url.ts'
import { createTestUser, type TestUser } from '../support/world/test-user.ts'
import { waitFor } from '../support/world/wait.ts'

const KILLS = 4
const STEP_MS = 10
/** Clocks of this process and of the gateway agree, but a frame takes a moment. */
const TOLERANCE_MS = 200

const closers: (() => unknown)[] = []
let database: TestDatabase
let baseUrl: string
let users: { owner: TestUser; operator: TestUser }
let start: (roles: string) => Wheelhouse

beforeAll(async () => {
  database = await createTestDatabase()
  const provider = await startOutsideProvider()
  closers.push(() => provider[Symbol.asyncDispose]())
  const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-e2e-'))
  closers.push(() => rm(dataDir, { recursive: true, force: true }))
  start = (roles) => {
    const node = startWheelhouse({
      ROLES: roles,
      PORT: '0',
      HUB_PORT: '0',
      GATEWAY_PORT: '0',
      GATEWAY_UDP_PORT: 'off',
      RECORDER_PORT: '0',
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      REDIS_URL: serviceUrl('redisUrl'),
      SECRET_KEY: 'a key for tests only, at least 32 characters',
      HEARTBEAT_TIMEOUT_MS: '10000',
      ...provider.env,
    })
    closers.push(() => node[Symbol.asyncDispose]())
    return node
  }
  ;({ baseUrl } = await start('api,hub,worker').serving())
  const user = async (name: string, role: string) => {
    const token = await provider.tokenFor(name)
    const made = await createTestUser({
      baseUrl,
      hubUrl: baseUrl,
      token,
      onClose: (close) => closers.push(close),
    })
    expect((await made.post('/api/auth/profile', { role })).status).toBe(200)
    return made
  }
  users = { owner: await user('owner', 'client'), operator: await user('operator', 'operator') }
  expect((await users.operator.post('/api/operator/profile', { country: 'DE' })).status).toBe(200)
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
  await database?.drop()
})

/** Drives a recorded session: numbered commands, and when the robot received each of them. */
async function driveRecorded(gatewayUrl: string) {
  const { owner, operator } = users
  const { body } = await owner.post('/api/client/robots', {
    name: 'Robot',
    robot_type: 'testbot',
    hardware_id: crypto.randomUUID(),
    latency_budget_ms: null,
  })
  await owner.patch(`/api/client/robots/${body.id}`, { recording: 'control', latency_limit_ms: 10_000 })
  const robot = new TestRobot(`${gatewayUrl}/robots/${body.id}/control`, body.robot_token).beat()
  await robot.next('welcome')
  const started = await waitFor(async () => {
    const reply = await operator.post('/api/sessions', { robotId: body.id })
    expect(reply.status).toBe(201)
    return reply
  })
  const sessionId: string = started.body.sessionId
  const ticket = await operator.post(`/api/sessions/${sessionId}/ticket`, { part: 'control' })
  const driver = new TestDriver(ticket.body.url, ticket.body.ticket)
  await driver.state()
  /** When the robot received each step, in Unix milliseconds. */
  const receivedMs = new Map<number, number>()
  const reading = (async () => {
    for (;;) {
      const { data } = await robot.next('control')
      receivedMs.set(data.step as number, Date.now())
    }
  })().catch(() => {}) // the connection has ended
  let step = 0
  const timer = setInterval(() => driver.control({ step: ++step }), STEP_MS)
  return {
    sessionId,
    receivedMs,
    /** Ends the session, and returns its recording. */
    async finish() {
      clearInterval(timer)
      await owner.patch(`/api/sessions/${sessionId}`, { action: 'end' })
      await driver.close()
      await robot.close()
      await reading
      const recording = await waitFor(async () => {
        const reply = await owner.get(`/api/sessions/${sessionId}/recording`)
        expect(reply.body).toMatchObject({ status: 'READY' })
        return reply.body
      })
      const file = await fetch(baseUrl + recording.file_url, {
        headers: { Authorization: `Bearer ${owner.token}` },
      })
      return { recording, mcap: await readMcap(new Uint8Array(await file.arrayBuffer())) }
    },
  }
}

/** Returns until when the records of a session are acknowledged, in Unix milliseconds. */
async function acknowledgedMs(sessionId: string): Promise<number> {
  const rows = await query(
    database.url,
    `select max(last_ms) as last_ms from recording_segments g join recordings r on r.id = g.recording_id
     where r.session_id = '${sessionId}'`,
  )
  return Number(rows[0]?.last_ms ?? 0)
}

const stepsOf = (mcap: ReadMcap) =>
  mcap.of('/control').map(({ json }) => (json!.data as { step: number }).step)

/** Expects every command once, in order; missing ones only in gaps, and not if they were acknowledged. */
function expectComplete(
  mcap: ReadMcap,
  gaps: readonly { from: string; to: string }[],
  receivedMs: ReadonlyMap<number, number>,
  acknowledged: number,
) {
  const steps = stepsOf(mcap)
  expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b))
  const recorded = new Set(steps)
  const missing = [...receivedMs].filter(([step]) => !recorded.has(step))
  const unexplained = missing.filter(
    ([, atMs]) =>
      atMs <= acknowledged - TOLERANCE_MS ||
      !gaps.some(
        ({ from, to }) => atMs >= Date.parse(from) - TOLERANCE_MS && atMs <= Date.parse(to) + TOLERANCE_MS,
      ),
  )
  expect(unexplained).toEqual([])
  return missing.length
}

test('kill -9 of the recorder: what was not acknowledged is sent again, and nothing is lost or doubled', async () => {
  const gateway = start('gateway')
  const { gatewayUrl } = await gateway.serving()
  const recorders = [start('recorder'), start('recorder')]
  for (const recorder of recorders) await recorder.serving()
  const session = await driveRecorded(gatewayUrl)
  let acknowledged = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const before = session.receivedMs.size
    await waitFor(() => expect(session.receivedMs.size).toBeGreaterThan(before + 100))
    acknowledged = Math.max(acknowledged, await acknowledgedMs(session.sessionId))
    await recorders[kill % 2]!.end('SIGKILL')
    recorders[kill % 2] = start('recorder')
    await recorders[kill % 2]!.serving()
  }
  const { recording, mcap } = await session.finish()
  const missing = expectComplete(mcap, recording.gaps, session.receivedMs, acknowledged)
  expect(missing, JSON.stringify(recording.gaps)).toBe(0)
})
