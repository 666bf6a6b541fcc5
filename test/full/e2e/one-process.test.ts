import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { startWheelhouse } from '../../support/processes/processes.ts'

const run = promisify(execFile)

let dataDir: string
let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-e2e-'))
})
afterAll(async () => {
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

/** Creates a listener on a port, like that of another program. */
async function takenPort() {
  const server = createServer()
  const port = await new Promise<number>((resolve, reject) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (typeof address === 'object' && address) resolve(address.port)
      else reject(new Error('The listener has no port.'))
    })
  })
  return {
    port: String(port),
    [Symbol.asyncDispose]: () => new Promise<void>((done) => void server.close(() => done())),
  }
}

/** Returns the commands in the welcome text, in order. */
const printedCommands = (lines: readonly string[]) =>
  lines.map((line) => line.trim()).filter((line) => /^(export API|curl |SESSION=)/.test(line))

describe('all roles in one process, with only a data folder', () => {
  test('it serves, the printed commands run the main scenario, Ctrl-C ends it, and the next start has its data', async () => {
    // A busy machine sends the heartbeats of the robots late.
    const env = { DATA_DIR: dataDir, HEARTBEAT_TIMEOUT_MS: '60000' }
    let commands: string[]
    let session: string
    {
      await using app = startWheelhouse(env)
      const { baseUrl } = await app.serving()
      await app.line((text) => text.includes('Ctrl-C stops Wheelhouse'))
      expect(await (await fetch(`${baseUrl}/api/health`)).json()).toMatchObject({ status: 'ok', db: 'ok' })

      commands = printedCommands(app.lines)
      expect(commands).toHaveLength(6)
      const { stdout } = await run('bash', [
        '-euo',
        'pipefail',
        '-c',
        `${commands.join('\necho\n')}\necho\necho $SESSION`,
      ])
      const [, robots, , message, events, ended, id] = stdout
        .split('\n')
        .filter((line, index) => index < 6 || line !== '')
      session = id ?? ''
      expect(robots).toContain('"status":"AVAILABLE"')
      expect(JSON.parse(message ?? '')).toMatchObject({
        session_id: session,
        body: 'Hello, I have your robot.',
      })
      const types = (JSON.parse(events ?? '').events as { type: string }[]).map(({ type }) => type)
      expect(types).toEqual(['session.started', 'chat.message'])
      expect(JSON.parse(ended ?? '')).toMatchObject({ id: session, status: 'COMPLETED', end_reason: 'ended' })

      expect(await app.end('SIGINT'), app.output()).toEqual({ code: 0, signal: null })
      expect(app.errorOutput).toBe('')
    }
    await using again = startWheelhouse(env)
    const { baseUrl } = await again.serving()
    await again.line((text) => text.includes('Ctrl-C stops Wheelhouse'))
    const keys = (lines: string[]) => /OWNER=(\S+) OPERATOR=(\S+)/.exec(lines[0] ?? '')?.slice(1)
    const [owner] = keys(commands) as [string]
    expect(keys(printedCommands(again.lines))).toEqual(keys(commands))
    const reply = await fetch(`${baseUrl}/api/sessions/${session}`, {
      headers: { Authorization: `Bearer ${owner}` },
    })
    expect(await reply.json()).toMatchObject({ id: session, status: 'COMPLETED' })

    // The gateway's port is in use now; another process must not share it silently.
    const { gatewayUrl } = JSON.parse(await again.line((text) => text.includes('"Wheelhouse is serving"')))
    await using second = startWheelhouse({
      GATEWAY_PORT: new URL(gatewayUrl).port,
      DATABASE_URL: database.url,
      SECRET_KEY: 'a key for tests only, at least 32 characters',
      DATA_DIR: dataDir,
      DEMO: 'false',
    })
    const outcome = await Promise.race([
      second.serving().then(() => 'serves on the same port'),
      second.exited,
    ])
    expect(outcome).toEqual({ code: 1, signal: null })
    expect(second.errorOutput).toContain(new URL(gatewayUrl).port)

    expect(await again.end('SIGTERM'), again.output()).toEqual({ code: 0, signal: null })
  })
})

describe('an impossible start ends with code 1 and a reason', () => {
  test.each(['PORT', 'GATEWAY_PORT', 'RECORDER_PORT', 'WORKER_PORT'])('%s is in use', async (name) => {
    await using taken = await takenPort()
    await using app = startWheelhouse({
      [name]: taken.port,
      DATABASE_URL: database.url,
      SECRET_KEY: 'a key for tests only, at least 32 characters',
      DATA_DIR: dataDir,
      DEMO: 'false',
    })
    expect(await app.exited).toEqual({ code: 1, signal: null })
    expect(app.errorOutput).toContain('did not start')
    expect(app.errorOutput).toContain(taken.port)
    expect(app.errorOutput).toContain(`The address is in use. Stop the other program or set ${name}.`)
    expect(app.errorOutput).not.toMatch(/^\s+at /m) // a message, not a stack trace
  })

  test('the environment is invalid: every problem is listed at once', async () => {
    await using app = startWheelhouse({
      PORT: 'http',
      LOG_LEVEL: 'loud',
      DEADMAN_MS: 'never',
      DATA_DIR: dataDir,
    })
    expect(await app.exited).toEqual({ code: 1, signal: null })
    for (const name of ['PORT', 'LOG_LEVEL', 'DEADMAN_MS']) expect(app.errorOutput).toContain(name)
    expect(app.errorOutput).not.toMatch(/^\s+at /m)
  })

  test('some roles without shared stores: the error names both, with the reason', async () => {
    await using app = startWheelhouse({ ROLES: 'gateway', DATA_DIR: dataDir })
    expect(await app.exited).toEqual({ code: 1, signal: null })
    expect(app.errorOutput).toMatch(/DATABASE_URL is required .*every process must share one PostgreSQL/)
    expect(app.errorOutput).toMatch(/REDIS_URL is required .*Redis carries/)
  })

  test('no database answers at DATABASE_URL', async () => {
    await using unused = await takenPort()
    const { port } = unused
    await unused[Symbol.asyncDispose]()
    await using app = startWheelhouse({
      DATABASE_URL: `postgres://unknown@127.0.0.1:${port}/nothing`,
      DATA_DIR: dataDir,
    })
    expect(await app.exited).toEqual({ code: 1, signal: null })
    expect(app.errorOutput).toContain('did not start')
    expect(app.errorOutput).toContain(`127.0.0.1:${port}`)
  })
})
