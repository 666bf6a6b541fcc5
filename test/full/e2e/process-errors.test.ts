import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeCodes } from '@wheelhouse/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { createSecrets } from '../../../src/core/secrets.ts'
import { createRobotTokens } from '../../../src/modules/robots/robot-token.ts'
import { connectTo } from '../../support/database/sql.ts'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import { createEmptyDatabase, query, startWheelhouse } from '../../support/processes/processes.ts'
import { waitFor } from '../../support/world/wait.ts'

/** The lock of the process that migrates the schema. */
const MIGRATION_LOCK = 7_466_301
const SECRET_KEY = 'a key for tests only, at least 32 characters'

async function startFailing() {
  const database = await createEmptyDatabase()
  const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-test-'))
  const wheelhouse = startWheelhouse({
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    SECRET_KEY,
    DEMO: 'false',
    // Longer than the tests take: a robot sends no heartbeats.
    HEARTBEAT_TIMEOUT_MS: '600000',
    NODE_OPTIONS: `--import ${new URL('../../support/processes/failing-process.ts', import.meta.url).href}`,
  })
  onTestFinished(async () => {
    await wheelhouse[Symbol.asyncDispose]()
    await database.drop()
    await rm(dataDir, { recursive: true, force: true })
  })
  const serving = await wheelhouse.serving()
  const [userId, robotId] = [randomUUID(), randomUUID()]
  await query(
    database.url,
    `insert into users (id, issuer, subject, display_name, is_client) values ($1, 'test', 'owner', 'Owner', true)`,
    [userId],
  )
  await query(
    database.url,
    `insert into robots (id, owner_id, name, robot_type, hardware_id) values ($1, $2, 'Robot', 'testbot', 'board')`,
    [robotId, userId],
  )
  await query(database.url, 'insert into robot_presence (robot_id) values ($1) on conflict do nothing', [
    robotId,
  ])
  const token = createRobotTokens(createSecrets(SECRET_KEY)).issue({ robotId, tokenVersion: 1 })
  const robot = new TestRobot(`${serving.gatewayUrl}/robots/${robotId}/control`, token)
  onTestFinished(() => robot.destroy())
  await robot.next('welcome')
  return { wheelhouse, serving, robot }
}

const logged = (text: string) => (line: string) => line.includes('"level":60') && line.includes(text)

test('an unhandled rejection is logged and counted, and the process continues', async () => {
  const { wheelhouse, serving, robot } = await startFailing()
  process.kill(wheelhouse.pid, 'SIGUSR2')
  await wheelhouse.line(logged('injected rejection'))
  await waitFor(async () => {
    const metrics = await (await fetch(`${serving.baseUrl}/metrics`)).text()
    expect(metrics).toContain('wheelhouse_process_unhandled_rejections_total 1')
    expect(metrics).toContain('wheelhouse_process_uncaught_exceptions_total 0')
  })
  robot.send({ type: 'heartbeat', seq: 1 })
  expect((await robot.next('heartbeat_ack')).seq).toBe(1)
  expect(await wheelhouse.end('SIGTERM')).toMatchObject({ code: 0 })
})

test('an uncaught exception ends the process in order, with exit code 1', async () => {
  const { wheelhouse, robot } = await startFailing()
  robot.beat()
  process.kill(wheelhouse.pid, 'SIGHUP')
  await wheelhouse.line(logged('injected exception'))
  expect(await robot.closed).toBe(closeCodes.draining.code)
  expect(await wheelhouse.exited).toEqual({ code: 1, signal: null })
})

test('a start ends when npm is killed: a platform without a terminal would keep its port', async () => {
  const database = await createEmptyDatabase()
  onTestFinished(() => database.drop())
  await using migration = await connectTo(database.url)
  await migration.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
  const env = { DATABASE_URL: database.url, DEMO: 'false', npm_lifecycle_event: 'start' }
  await using npm = startWheelhouse(env, ['sh', '-c', '"$@" & wait', 'sh'])
  await waitFor(async () => {
    const { rows } = await migration.query(
      `select from pg_locks where locktype = 'advisory' and not granted and objid = $1`,
      [MIGRATION_LOCK],
    )
    expect(rows).toHaveLength(1)
  })
  // Settles when the last process with its output has ended.
  expect(await npm.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' })
})
