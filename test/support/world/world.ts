import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import type { Queue } from '../../../src/core/jobs/queue.ts'
import { type RunningPlatform, startRoles } from '../../../src/roles/start-roles.ts'
import { createTestDatabase, type TestDatabase } from '../database/database.ts'
import '../database/shared-metadata.ts'
import { connectTo } from '../database/sql.ts'
import { TestDriver, TestRobot } from '../gateway/frame-socket.ts'
import { freePorts } from '../processes/free-ports.ts'
import { serviceUrl } from '../runner/service-url.ts'
import { WAIT_LIMIT_MS } from '../wait-limit.ts'
import { startJobClock } from './job-clock.ts'
import { createTestUser, type TestUser } from './test-user.ts'
import { waitFor } from './wait.ts'

export interface WorldOptions {
  /** `redis` connects the nodes through a real Redis; `memory` is for one process. Default: memory. */
  readonly bus?: 'memory' | 'redis'
  /** Environment of the first node; overrides the defaults of tests. */
  readonly env?: Record<string, string>
  readonly now?: () => Date
  /** How long a stop at the hub waits for the database. Default: long enough for a busy machine. */
  readonly stopWaitMs?: number
  /** The database, for a test that sets DATABASE_URL to a proxy of it. Default: a new one. */
  readonly database?: TestDatabase
  /** How long a response of the contact form waits for the mail server. Default: longer than any delivery on a busy machine. */
  readonly contactWaitMs?: number
  /** Longest time that a request waits for Redis to count it. Default: that of the platform. */
  readonly redisCommandMs?: number
  /** Called before every guarded handler of the first node; the handler throws the same error. */
  readonly beforeHandler?: (handler: string) => void
}

export type World = Awaited<ReturnType<typeof createWorld>>

/** For tests that advance the clock, or drive over REST only; tests of the limits set their own. */
const withoutLimits = { OPERATOR_JOIN_MS: '0', PAUSE_LIMIT_MS: '0', OPERATOR_GONE_MS: '0' }

/** Short enough to wait for, long enough for a busy machine. */
const testTimes = { HEARTBEAT_INTERVAL_MS: '200', HEARTBEAT_TIMEOUT_MS: '30000', ROBOT_GRACE_MS: '60000' }

/**
 * Creates the whole platform with a separate database, on free ports, with users and robots. Its disposal checks for:
 * open connections, unpublished events, errors in the log.
 */
export async function createWorld(options: WorldOptions = {}) {
  const database = options.database ?? (await createTestDatabase())
  const jobClock = options.now && (await startJobClock(database.url, options.now))
  const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-test-'))
  const errors: string[] = []
  const tolerated: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void errors.push(line) })
  const closers: (() => Promise<unknown> | unknown)[] = []
  const now = options.now ?? (() => new Date())
  const common = {
    NODE_ENV: 'test', // answers are validated against their schemas
    DATABASE_URL: database.url,
    ...(options.bus === 'redis' && { REDIS_URL: serviceUrl('redisUrl') }),
    DATA_DIR: dataDir,
    SECRET_KEY: 'a key for tests only, at least 32 characters',
    ADMIN_EMAILS: 'admin@test.local',
    // Tests of video add the role media.
    ROLES: 'api,hub,gateway,worker',
    ...freePorts,
    // With the thread, a world starts in 0.6 s instead of 0.1 s; test/full/e2e runs the gateway in one.
    GATEWAY_THREAD: 'false',
    GATEWAY_UDP_PORT: 'off',
    DEMO: 'false',
    // Tests send requests faster than users do; tests of the limits set their own.
    RATE_LIMIT_PER_MINUTE: '1000000',
    RATE_LIMIT_PUBLIC_PER_MINUTE: '1000000',
    ROBOT_CONNECTS_PER_MINUTE: '0',
    // Each connection of a new database costs as much as dozens of queries.
    DATABASE_POOL_SIZE: '4',
    ...testTimes,
    ...withoutLimits,
    ...options.env,
  }
  const nodes: RunningPlatform[] = []
  const start = async (env: Record<string, string>, beforeHandler?: (handler: string) => void) => {
    const node = await startRoles(loadConfig({ ...common, ...env }), log, {
      now,
      stopWaitMs: options.stopWaitMs ?? 10_000,
      beforeHandler,
      superviseJobs: !jobClock,
      shutdownStepMs: WAIT_LIMIT_MS,
      contactWaitMs: options.contactWaitMs ?? WAIT_LIMIT_MS,
      redisCommandMs: options.redisCommandMs,
    })
    nodes.push(node)
    return node
  }
  const first = await start({}, options.beforeHandler)
  const { platform, baseUrl, gatewayUrl, hubUrl } = first
  let userCount = 0
  const user = async (email: string, role?: 'client' | 'operator'): Promise<TestUser> => {
    const token = await platform.identity.builtIn!.issueDevToken({
      email,
      name: email.split('@')[0] as string,
    })
    const made = await createTestUser({ baseUrl, hubUrl, token, onClose: (close) => closers.push(close) })
    if (role) await made.post('/api/auth/profile', { role }).then((reply) => expect(reply.status).toBe(200))
    return made
  }

  const world = {
    platform,
    baseUrl,
    gatewayUrl,
    hubUrl,
    database,
    errors,
    node: first,

    /** Starts all roles of another process; needs `bus: 'redis'`. */
    addNode: (roles: string, env: Record<string, string> = {}) =>
      start({ ROLES: roles, BASE_URL: baseUrl, ...env }),

    client: () => user(`client${++userCount}@test.local`, 'client'),
    operator: () => user(`operator${++userCount}@test.local`, 'operator'),
    admin: () => user('admin@test.local'),
    newUser: () => user(`user${++userCount}@test.local`),

    /**
     * Registers a robot without a latency budget, and with a generous limit of the picture's age, so that a busy machine does
     * not slow it down; it is OFFLINE until it connects.
     */
    async robot(owner: TestUser, input: Record<string, unknown> = {}) {
      const id = `board-${++userCount}`
      const reply = await owner.post('/api/client/robots', {
        name: `Robot ${id}`,
        robot_type: 'testbot',
        hardware_id: id,
        latency_budget_ms: null,
        video_limit_ms: 700,
        ...input,
      })
      expect(reply.status, JSON.stringify(reply.body)).toBe(201)
      return { id: reply.body.id as string, token: reply.body.robot_token as string }
    },

    /** Opens a robot's connection, and reads its welcome; it sends no heartbeats by itself. */
    async connect(robot: { id: string; token: string }, gateway = gatewayUrl): Promise<TestRobot> {
      const link = new TestRobot(`${gateway}/robots/${robot.id}/control`, robot.token)
      closers.push(() => link.close())
      await link.next('welcome')
      return link
    },

    /** Opens a user's connection to a session at the gateway, with a ticket. */
    async drive(
      user: TestUser,
      sessionId: string,
      part: 'control' | 'watch' = 'control',
    ): Promise<TestDriver> {
      const reply = await user.post(`/api/sessions/${sessionId}/ticket`, { part })
      expect(reply.status, JSON.stringify(reply.body)).toBe(201)
      const link = new TestDriver(reply.body.url, reply.body.ticket)
      closers.push(() => link.close())
      return link
    },

    /** Sets the clock of the jobs to the clock of the test. It follows by itself after a moment. */
    syncJobClock: async () => await jobClock?.sync(),

    /** Runs the due jobs of these queues, and waits for them and for those that the worker runs. */
    async runJobs(...queues: Queue[]): Promise<void> {
      await jobClock?.sync()
      for (const queue of queues) {
        await platform.core.jobs.runDue(queue)
        await platform.core.jobs.idle(queue)
      }
    },

    /** Ignores errors with this text at the disposal, also those that the log gets during it. */
    tolerateErrors: (text: string) => void tolerated.push(text),

    /** Settles when all events have left the outbox. */
    drained: () =>
      waitFor(async () => {
        const left = await platform.core.db.selectFrom('outbox').select('name').execute()
        expect(left).toEqual([])
      }),

    async [Symbol.asyncDispose]() {
      for (const close of closers.reverse()) await close()
      try {
        await world.drained()
        for (const node of nodes.toReversed()) await node.stop()
        await jobClock?.close()
        await nothingLeft(database)
        const unexpected = errors.filter((line) => !tolerated.some((text) => line.includes(text)))
        expect(unexpected, 'errors in the log').toEqual([])
      } finally {
        for (const node of nodes) await node.stop()
        await jobClock?.close()
        await database.drop()
        await rm(dataDir, { recursive: true, force: true })
      }
    },
  }
  return world
}

const LEFTOVERS = `select
  (select count(*)::int from robot_presence where connected) as connected,
  (select count(*)::int from gateway_nodes) as nodes`

/** Settles when no robot counts as connected, and no node and no connection remains. */
async function nothingLeft(database: TestDatabase): Promise<void> {
  // PostgreSQL lists a connection for a short time after it was closed.
  await waitFor(async () => expect(await database.connections(), 'remaining connections').toBe(0))
  await using client = await connectTo(database.url)
  const left = (await client.query(LEFTOVERS)).rows[0]
  expect(left, 'remaining connections of robots, and nodes').toEqual({ connected: 0, nodes: 0 })
}
