import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { createLog } from '../../../src/core/log.ts'
import { startRoles } from '../../../src/roles/start-roles.ts'
import { demoAccounts } from '../../../tools/demo/accounts.ts'
import { seedDemo } from '../../../tools/demo/seed.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { expectSteps, type Step, startDemo } from '../../support/processes/demo-process.ts'
import { freePorts } from '../../support/processes/free-ports.ts'

const program = fileURLToPath(new URL('../../../tools/demo/run-scenario.ts', import.meta.url))
/** Ends a hang. */
const PROCESS_LIMIT_MS = 600_000

let database: TestDatabase
let dataDir: string

beforeAll(async () => {
  database = await createTestDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-demo-'))
})
afterAll(async () => {
  await database.drop()
  await rm(dataDir, { recursive: true })
})

const start = (args: string[] = [], env: Record<string, string> = {}) =>
  startDemo(program, { args, env, limitMs: PROCESS_LIMIT_MS })

const scenario: readonly Step[] = [
  [
    'A robot connects',
    'ROBOT    ← welcome, epoch 1, no session',
    'ROBOT    ← heartbeat_ack 2',
    'OWNER    ← robot:status AVAILABLE',
  ],
  [
    'An operator starts a session',
    'OPERATOR ← 200 available: Pip',
    'OPERATOR ← 201 session ACTIVE',
    'ROBOT    ← session ACTIVE, operator Pat Pilot',
    'OWNER    ← notification session.started',
    'OWNER    ← robot:status IN_SESSION',
    'OWNER    ← log session.started ACTIVE, #1',
  ],
  [
    'They chat',
    'OWNER    ← log chat.message "Hello, I have your robot." from Pat Pilot, #2',
    'OPERATOR ← log chat.message "Welcome. Mind the shelf." from Olive Owner, #3',
  ],
  [
    'The owner pauses',
    'ROBOT    ← session PAUSED',
    'ROBOT    ← stop session_paused',
    'OPERATOR ← notification session.paused',
    'ROBOT    ← session ACTIVE',
    'OWNER    ← log session.resumed ACTIVE, #5',
  ],
  [
    "The robot's connection breaks",
    'ROBOT    ← offline, close code 1006',
    'OWNER    ← log robot.lost PAUSED (robot_lost), #6',
    'OPERATOR ← notification robot.lost',
    'OPERATOR ← 409 The robot is offline. Resume the session when the robot is connected again.',
    'ROBOT    ← welcome, epoch 2, session PAUSED',
    'OPERATOR ← log robot.back PAUSED, #7',
    'OWNER    ← log session.resumed ACTIVE, #8',
  ],
  [
    "The owner's connection breaks",
    'OWNER    ← hub disconnected',
    'OPERATOR ← acknowledged, stored as #11',
    'OWNER    ✓ received exactly the missed entries, in order: 9, 10, 11',
  ],
  [
    'The operator ends the session',
    'ROBOT    ← session COMPLETED',
    'OWNER    ← robot:status AVAILABLE',
    'OWNER    ✓ received entries 1 to 12 over the hub, each once, in order',
    'OPERATOR ✓ received entries 1 to 12 over the hub, each once, in order',
    'client_charge_cents      50',
    'operator_earnings_cents  –',
  ],
  [
    'The robot goes offline',
    'OWNER    ← robot:status OFFLINE',
    'robot closes its socket → owner sees OFFLINE',
  ],
]

test('runs the main scenario, shows what every side sees, and ends by itself', async () => {
  const env = { DATABASE_URL: database.url, DEMO: 'true', DATA_DIR: dataDir }
  const { code, output, steps } = await start([], env).done

  expect(code, output).toBe(0)
  expectSteps(steps, scenario)
  expect(output).toContain('Every side saw what it should.')
  expect(output).not.toContain('\u001b')
  expect(output).toMatch(/Done in [\d.]+ s/)
})

test('an interrupted demo ends cleanly, with a message and exit code 1', async () => {
  const own = await createTestDatabase()
  try {
    const { child, done } = start([], { DATABASE_URL: own.url, DEMO: 'true', DATA_DIR: dataDir })
    child.stdout.once('data', () => child.kill('SIGINT'))
    const { code, output } = await done
    expect(output).toContain('✗ The demo failed.')
    expect(output).toContain('The demo received SIGINT.')
    expect(code).toBe(1)
  } finally {
    await own.drop()
  }
})

test('uses a running Wheelhouse, and deletes its robot at the end', async () => {
  const own = await createTestDatabase()
  const env = {
    DATABASE_URL: own.url,
    DATA_DIR: dataDir,
    ...freePorts,
    DEMO: 'true',
  }
  const running = await startRoles(loadConfig(env), createLog({ level: 'silent', pretty: false }), {
    accounts: demoAccounts,
  })
  try {
    const { keys } = await seedDemo(running.platform)
    const onboarded = async (key: string) => {
      const headers = { Authorization: `Bearer ${key}` }
      const response = await fetch(`${running.baseUrl}/api/auth/profile`, { headers })
      return ((await response.json()) as { onboarded: boolean }).onboarded
    }
    expect(await Promise.all([keys.owner, keys.operator, keys.admin].map(onboarded))).toEqual([
      true,
      true,
      true,
    ])
    const url = ['--url', running.baseUrl]
    const robots = async () => {
      const headers = { Authorization: `Bearer ${keys.owner}` }
      const response = await fetch(`${running.baseUrl}/api/client/robots`, { headers })
      return ((await response.json()) as { name: string }[]).map((robot) => robot.name).sort()
    }

    const result = await start(url, { OWNER: keys.owner, OPERATOR: keys.operator }).done
    expect(result.code, result.output).toBe(0)
    expect(await robots()).toEqual(['Arva', 'Bolt', 'Ronja'])

    const refused = await start(url, { OWNER: keys.owner, OPERATOR: keys.owner }).done
    expect(refused.code).toBe(1)
    expect(refused.output).toContain(
      '✗ The demo failed. In step 1: GET /api/operator/certifications answered 403',
    )
  } finally {
    await running.stop()
    await own.drop()
  }
})

test('describes errors of its arguments', async () => {
  const keys = { OWNER: 'a', OPERATOR: 'b' }
  const runs = await Promise.all([
    start(['--url', 'http://127.0.0.1:1'], keys).done,
    start(['--url', 'https://hub.example'], keys).done,
    start(['--url', 'http://127.0.0.1:1'], { OWNER: '', OPERATOR: '' }).done,
    start(['--speed', '2']).done,
  ])
  expect(runs.map((run) => run.code)).toEqual([1, 1, 1, 1])
  const expectedErrors = [
    'http://127.0.0.1:1 did not answer GET',
    'must be an http:// URL',
    'Set OWNER and',
    '--speed',
  ]
  for (const [index, run] of runs.entries()) expect(run.output).toContain(expectedErrors[index])
})
