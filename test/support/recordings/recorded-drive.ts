import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createTestDatabase } from '../database/database.ts'
import { TestDriver, TestRobot } from '../gateway/frame-socket.ts'
import { query, startOutsideProvider, startWheelhouse, type Wheelhouse } from '../processes/processes.ts'
import { serviceUrl } from '../runner/service-url.ts'
import { createTestUser } from '../world/test-user.ts'
import { waitFor } from '../world/wait.ts'
import { type ReadMcap, readMcap } from './recording-fixture.ts'

const STEP_MS = 10
/** How much times of two processes differ. */
const TOLERANCE_MS = 200

/** Starts the api of a platform whose other roles are processes that a test starts and kills. */
export async function createSplitPlatform(
  options: {
    /** The roles of the first process. */
    roles?: string
    env?: Readonly<Record<string, string>>
    /** Prepares the environment of the first process, with the data directory. */
    wrapper?: (dataDir: string) => readonly string[]
  } = {},
) {
  const { roles = 'api,hub,worker', env = {}, wrapper = () => [] } = options
  const closers: (() => unknown)[] = []
  const database = await createTestDatabase()
  closers.push(() => database.drop())
  const provider = await startOutsideProvider()
  closers.push(() => provider[Symbol.asyncDispose]())
  const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-e2e-'))
  closers.push(() => rm(dataDir, { recursive: true, force: true }))
  const start = (own: string, prepare: readonly string[] = []): Wheelhouse => {
    const settings = {
      ROLES: own,
      GATEWAY_UDP_PORT: 'off',
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      REDIS_URL: serviceUrl('redisUrl'),
      SECRET_KEY: 'a key for tests only, at least 32 characters',
      HEARTBEAT_TIMEOUT_MS: '15000',
      RATE_LIMIT_PER_MINUTE: '0',
      ...provider.env,
      ...env,
    }
    const node = startWheelhouse(settings, prepare)
    closers.push(() => node[Symbol.asyncDispose]())
    return node
  }
  const main = start(roles, wrapper(dataDir))
  const { baseUrl, gatewayUrl } = await main.serving()
  const user = async (name: string, role: string) => {
    const token = await provider.tokenFor(name)
    const onClose = (close: () => unknown) => closers.push(close)
    const made = await createTestUser({ baseUrl, hubUrl: baseUrl, token, onClose })
    expect((await made.post('/api/auth/profile', { role })).status).toBe(200)
    return made
  }
  const owner = await user('owner', 'client')
  const operator = await user('operator', 'operator')
  expect((await operator.post('/api/operator/profile', { country: 'DE' })).status).toBe(200)
  return {
    baseUrl,
    gatewayUrl,
    dataDir,
    database,
    owner,
    operator,
    main,
    start,
    query: (statement: string) => query(database.url, statement),
    async [Symbol.asyncDispose]() {
      for (const close of closers.reverse()) await close()
    },
  }
}
export type SplitPlatform = Awaited<ReturnType<typeof createSplitPlatform>>

/** Drives a recorded session: numbered commands, and when the robot received each of them. */
export async function driveRecorded(
  platform: SplitPlatform,
  gatewayUrl: string,
  { padding = 0 }: { padding?: number } = {},
) {
  const { owner, operator, baseUrl } = platform
  const { body } = await owner.post('/api/client/robots', {
    name: 'Robot',
    robot_type: 'testbot',
    hardware_id: crypto.randomUUID(),
    latency_budget_ms: null,
  })
  await owner.patch(`/api/client/robots/${body.id}`, { recording: 'control', latency_limit_ms: 10_000 })
  /** When the operator sent each step, and when the robot received it, in Unix milliseconds. */
  const [sentMs, receivedMs] = [new Map<number, number>(), new Map<number, number>()]
  let robot = await connectRobot(gatewayUrl)
  const started = await waitFor(async () => {
    const reply = await operator.post('/api/sessions', { robotId: body.id })
    expect(reply.status).toBe(201)
    return reply
  })
  const sessionId: string = started.body.sessionId
  let driver = await connectDriver()
  let step = 0
  const text = 'x'.repeat(padding)
  const timer = setInterval(() => {
    sentMs.set(++step, Date.now())
    driver.control({ step, ...(padding > 0 && { text }) })
  }, STEP_MS)

  async function connectRobot(url: string) {
    const connected = new TestRobot(`${url}/robots/${body.id}/control`, body.robot_token).beat()
    await connected.next('welcome')
    const read = async () => {
      for (;;) {
        const { data } = await connected.next('control')
        receivedMs.set(data.step as number, Date.now())
      }
    }
    read().catch(() => {}) // the connection has ended
    return connected
  }
  async function connectDriver() {
    const ticket = await operator.post(`/api/sessions/${sessionId}/ticket`, { part: 'control' })
    const connected = new TestDriver(ticket.body.url, ticket.body.ticket)
    await connected.state()
    return connected
  }

  return {
    sessionId,
    sentMs,
    receivedMs,
    /** Connects robot and operator to another gateway, and settles when the robot obeys again. */
    async reconnectTo(url: string): Promise<void> {
      robot = await connectRobot(url)
      driver = await connectDriver()
      const before = receivedMs.size
      await waitFor(async () => {
        const { status } = (await operator.get(`/api/sessions/${sessionId}`)).body
        if (status === 'PAUSED') await operator.patch(`/api/sessions/${sessionId}`, { action: 'resume' })
        expect(receivedMs.size).toBeGreaterThan(before)
      })
    },
    /** Settles when the robot has received this many more commands. */
    async obeyed(count: number): Promise<void> {
      const before = receivedMs.size
      await waitFor(() => expect(receivedMs.size).toBeGreaterThan(before + count))
    },
    /** Returns the entries of the session's log about its recording. */
    async notes(): Promise<{ type: string; data: { cause?: string } }[]> {
      const { events } = (await owner.get(`/api/sessions/${sessionId}/events?limit=200`)).body
      return events.filter(({ type }: { type: string }) => type.startsWith('recording.'))
    },
    /** Returns until when the samples of the session are acknowledged, in Unix milliseconds. */
    async acknowledgedMs(): Promise<number> {
      const rows = await platform.query(
        `select max(last_ms) as last_ms from recording_segments g join recordings r on r.id = g.recording_id
         where r.session_id = '${sessionId}'`,
      )
      return Number(rows[0]?.last_ms ?? 0)
    },
    /** Ends the session, without waiting for its recording. */
    async end(): Promise<void> {
      clearInterval(timer)
      await owner.patch(`/api/sessions/${sessionId}`, { action: 'end' })
      await driver.close()
      await robot.close()
    },
    /** Returns the finished recording. */
    async finished() {
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

type RecordedDrive = Awaited<ReturnType<typeof driveRecorded>>

const stepsOf = (mcap: ReadMcap) =>
  mcap.of('/control').map(({ json }) => (json as { data: { step: number } }).data.step)

/**
 * Expects every command once, in order; missing ones only in gaps, and not if they were acknowledged. Returns how many are missing.
 */
export function expectComplete(
  mcap: ReadMcap,
  gaps: readonly { from: string; to: string }[],
  { sentMs, receivedMs }: Pick<RecordedDrive, 'sentMs' | 'receivedMs'>,
  acknowledgedMs: number,
): number {
  const steps = stepsOf(mcap)
  expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b))
  const recorded = new Set(steps)
  const missing = [...receivedMs].filter(([step]) => !recorded.has(step))
  // The gateway relayed a command at some time between both: on a busy machine they are far apart.
  const isInGap = (step: number, atMs: number) =>
    gaps.some(
      ({ from, to }) =>
        atMs >= Date.parse(from) - TOLERANCE_MS &&
        (sentMs.get(step) ?? atMs) <= Date.parse(to) + TOLERANCE_MS,
    )
  const unexplained = missing.filter(
    ([step, atMs]) => atMs <= acknowledgedMs - TOLERANCE_MS || !isInGap(step, atMs),
  )
  expect(unexplained, JSON.stringify(gaps)).toEqual([])
  return missing.length
}
