import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { entriesOf } from '../../support/cli/cli-world.ts'
import { cli } from '../../support/cli/in-process.ts'
import {
  type CliUser,
  CTRL_C,
  createCliUser,
  ENTER,
  endCommands,
  openTerminal,
} from '../../support/cli/terminal.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

afterAll(endCommands)

let world: World
let owner: TestUser
let operator: TestUser
let admin: TestUser
/** The users at the command line. */
let users: Record<'owner' | 'operator' | 'admin', CliUser>
beforeAll(async () => {
  // The robots send no heartbeats here, and processes are slow.
  world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '120000' } })
  owner = await world.client()
  operator = await world.operator()
  admin = await world.admin()
  const userOf = async (testUser: TestUser) =>
    await createCliUser({ WHEELHOUSE_URL: world.baseUrl, WHEELHOUSE_API_KEY: (await testUser.key()).key })
  users = { owner: await userOf(owner), operator: await userOf(operator), admin: await userOf(admin) }
})
afterAll(async () => await world[Symbol.asyncDispose]())

/** Runs a command that must succeed. @returns its JSON output */
async function json(user: CliUser, ...args: string[]) {
  const done = await cli(user, [...args, '--json'])
  expect(done.code, done.stderr).toBe(0)
  return done.json
}

/** Starts a session of a new operator on a connected robot. */
async function openSession() {
  const driver = await world.operator()
  const robot = await world.robot(owner)
  const connection = await world.connect(robot)
  await waitFor(async () => {
    const { body } = await owner.get(`/api/client/robots/${robot.id}`)
    expect(body.status).toBe('AVAILABLE')
  })
  const { key } = await driver.key()
  const user = await createCliUser({ WHEELHOUSE_URL: world.baseUrl, WHEELHOUSE_API_KEY: key })
  const { sessionId } = await json(user, 'sessions', 'start', robot.id)
  return { driver, user, robot, sessionId: sessionId as string, connection }
}

describe.concurrent('robots', () => {
  test('are registered, and update changes only the given settings', async ({ onTestFinished }) => {
    const user = users.owner
    const options = ['--tag', 'arm', '--tag', 'berlin', '--notes', 'New gripper', '--require-certification']
    const named = ['Loading dock', '--type', 'so-101', '--hardware-id', 'dock-1']
    const made = await json(user, 'robots', 'register', ...named, ...options)
    expect(made).toMatchObject({ name: 'Loading dock', tags: ['arm', 'berlin'], require_certification: true })
    expect(made.robot_token).toMatch(new RegExp(`^${made.id}\\.1\\.`))
    const changes = [
      '--name',
      'Dock 1',
      '--notes',
      '',
      '--no-require-certification',
      '--latency-limit',
      '300',
      '--latency-budget',
      '150',
      '--video-limit',
      '900',
    ]
    expect(await json(user, 'robots', 'update', 'loading DOCK', ...changes)).toMatchObject({
      name: 'Dock 1',
      notes: null,
      require_certification: false,
      latency_limit_ms: 300,
      latency_budget_ms: 150,
      video_limit_ms: 900,
      tags: ['arm', 'berlin'],
    })
    const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-schema-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'schema.json')
    const schema = { type: 'object', properties: { lamp: { type: 'boolean' } } }
    await writeFile(file, JSON.stringify(schema))
    const declared = ['robots', 'update', made.id, '--strict-control', '--control-schema']
    expect(await json(user, ...declared, file)).toMatchObject({
      control_schema: schema,
      strict_control: true,
    })
    expect(await json(user, ...declared, '')).toMatchObject({ control_schema: null })
    const telemetry = ['robots', 'update', made.id, '--telemetry-schema']
    expect(await json(user, ...telemetry, file)).toMatchObject({ telemetry_schema: schema })
    expect(await json(user, ...telemetry, '')).toMatchObject({ telemetry_schema: null })
    const unreadable = await cli(user, [...declared, `${file}.missing`])
    expect(unreadable).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be read') })
    expect((await cli(user, ['robots', 'update', made.id])).code).toBe(2)
    const unasked = await cli(user, ['robots', 'remove', 'Dock 1'])
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
    const none = await cli(user, ['robots', 'remove', 'Dock 2', '-y'])
    expect(none).toMatchObject({ code: 4, stderr: expect.stringContaining('See: wheelhouse robots list') })
  })

  test.each([
    ['no', `n${ENTER}`],
    ['Ctrl-C', CTRL_C],
  ])('are not removed after the answer %s', async (_, keys) => {
    const { id } = await world.robot(owner)
    const screen = openTerminal(users.owner, ['robots', 'remove', id])
    await screen.shows('[y/N]')
    screen.type(keys)
    expect((await screen.ended).code).toBe(130)
    expect((await owner.get(`/api/client/robots/${id}`)).status).toBe(200)
  })

  test('with the same name need an id', async () => {
    await world.robot(owner, { name: 'Twin' })
    await world.robot(owner, { name: 'Twin' })
    expect(await cli(users.owner, ['robots', 'show', 'Twin'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('matches several'),
    })
  })

  test('are available to operators, not to their owners', async () => {
    expect((await cli(users.owner, ['robots', 'available'])).code).toBe(7)
  })
})

describe.concurrent('sessions', () => {
  test('are filtered by status, robot and time', async () => {
    const { user, sessionId, robot } = await openSession()
    const short = robot.id.slice(0, 8)
    expect(await json(users.owner, 'sessions', 'list', '--robot', short)).toMatchObject([{ id: sessionId }])
    expect(await json(user, 'sessions', 'list', '--status', 'ACTIVE', '--from', '-1d')).toHaveLength(1)
    expect(await json(user, 'sessions', 'list', '--robot', robot.id, '--to', '2020-01-01')).toEqual([])
  })

  test('need a confirmation to end, accept one rating, and print their log after a given entry', async () => {
    const { user, sessionId } = await openSession()
    expect((await cli(user, ['sessions', 'decline', sessionId])).code).toBe(5)
    expect((await cli(users.owner, ['sessions', 'end', sessionId])).code).toBe(2)
    const ended = await json(users.owner, 'sessions', 'end', sessionId, '--yes', '--reason', 'Home time')
    expect(ended).toMatchObject({ status: 'COMPLETED', end_reason: 'Home time' })
    const rated = await json(users.owner, 'sessions', 'rate', sessionId, '5', '--comment', 'Careful')
    expect(rated).toMatchObject({ rating: 5, rating_comment: 'Careful' })
    expect((await cli(users.owner, ['sessions', 'rate', sessionId, '1'])).code).toBe(5)
    const later = await cli(user, ['sessions', 'events', sessionId, '--after', '2', '--json'])
    expect(entriesOf(later.stdout).map(({ seq }) => seq)).toEqual([3])
  })

  test('are scheduled for the given time and reserve their robot', async () => {
    const { driver, user, robot, sessionId } = await openSession()
    await driver.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    const planned = await json(user, 'sessions', 'schedule', robot.id, '+2h')
    const { scheduled_for } = await json(user, 'sessions', 'show', planned.sessionId)
    expect(Math.abs(Date.parse(scheduled_for) - Date.now() - 7_200_000)).toBeLessThan(600_000)
    await driver.patch(`/api/sessions/${planned.sessionId}`, { action: 'start' })
    expect((await cli(user, ['sessions', 'start', robot.id])).code).toBe(5)
  })
})

describe.concurrent('stop', () => {
  test('stops the only open session until a participant clears the stop', async () => {
    const { user, sessionId, connection } = await openSession()
    const done = await cli(user, ['stop', '--reason', 'Person in the way'])
    expect(done.code, done.stderr).toBe(0)
    expect(done.stdout).toContain(`wheelhouse sessions clear-stop ${sessionId}`)
    expect(await connection.next('stop')).toMatchObject({ latched: true })
    const shown = await json(user, 'sessions', 'show', sessionId)
    expect(shown).toMatchObject({ status: 'PAUSED', control: { stop: { reason: 'Person in the way' } } })
    expect((await cli(user, ['sessions', 'resume', sessionId])).code).toBe(5)
  })

  test('needs a session or --all when several are open', async () => {
    const client = await world.client()
    const drivers = [await world.operator(), await world.operator()]
    for (const driver of drivers) {
      const robot = await world.robot(client)
      await world.connect(robot)
      await waitFor(async () => {
        expect((await driver.post('/api/sessions', { robotId: robot.id })).status).toBe(201)
      })
    }
    const user = await createCliUser({
      WHEELHOUSE_URL: world.baseUrl,
      WHEELHOUSE_API_KEY: (await client.key()).key,
    })
    expect(await cli(user, ['stop'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--all') })
    const stopped = await json(user, 'stop', '--all')
    expect(stopped.map(({ status }: { status: string }) => status)).toEqual(['PAUSED', 'PAUSED'])
  })

  test('fails without an open session and for one that is over', async () => {
    const client = await world.client()
    const user = await createCliUser({
      WHEELHOUSE_URL: world.baseUrl,
      WHEELHOUSE_API_KEY: (await client.key()).key,
    })
    expect(await cli(user, ['stop'])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('no open session'),
    })
    const { user: driver, sessionId } = await openSession()
    await cli(driver, ['sessions', 'end', sessionId, '-y'])
    expect((await cli(driver, ['stop', sessionId])).code).toBe(5)
  })
})

describe.concurrent('API keys', () => {
  test('are created, listed and revoked after a browser sign-in', async () => {
    const testUser = await world.client()
    const user = await createCliUser({ WHEELHOUSE_URL: world.baseUrl, WHEELHOUSE_API_KEY: testUser.token })
    const { code, stdout } = await cli(user, ['keys', 'create', 'Night shift', '--expires', '+90d'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^svc_live_\w+\n$/)
    const [listed] = await json(user, 'keys', 'list')
    expect(listed).toMatchObject({ name: 'Night shift', last4: stdout.trim().slice(-4) })
    const bearer = { ...user, env: { ...user.env, WHEELHOUSE_API_KEY: stdout.trim() } }
    expect((await cli(bearer, ['whoami'])).code).toBe(0)
    expect((await cli(bearer, ['keys', 'list'])).code).toBe(7)
    expect(await json(user, 'keys', 'revoke', 'night shift', '-y')).toEqual({ id: listed.id, revoked: true })
    expect((await cli(bearer, ['whoami'])).code).toBe(3)
    expect(await json(user, 'keys', 'list')).toEqual([])
    expect(await json(user, 'keys', 'list', '--all')).toHaveLength(1)
  })
})

describe.concurrent('admins', () => {
  test('decide on certifications, and the audit log shows the decisions', async () => {
    const { admin: user } = users
    const ask = async (robot_type: string) =>
      (await operator.post('/api/operator/certifications', { robot_type, note: 'Please' })).body.id as string
    const [yes, no] = [await ask('so-101'), await ask('go2')]
    expect(await json(user, 'admin', 'certifications', 'approve', yes)).toMatchObject({ status: 'APPROVED' })
    const reject = ['admin', 'certifications', 'reject', no.slice(0, 8), '--reason', 'No proof']
    expect(await json(user, ...reject)).toMatchObject({ status: 'REJECTED', reason: 'No proof' })
    expect((await cli(user, ['admin', 'certifications', 'approve', yes])).code).toBe(5)
    const actions = await json(user, 'admin', 'audit', '--subject', yes, '--limit', '5')
    expect(actions).toMatchObject([{ action: 'certification.approved', subject_id: yes }])
    expect((await cli(users.operator, ['admin', 'certifications', 'list'])).code).toBe(7)
  })
})

test('a user who is neither client nor operator has no statistics', async () => {
  expect((await cli(users.admin, ['stats'])).code).toBe(7)
  expect((await cli(users.owner, ['invoices', 'show', '2026-10'])).code).toBe(4)
})
