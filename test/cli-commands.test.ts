import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Person } from './support/person.ts'
import { type CliUser, CTRL_C, cli, createCliUser, ENTER, openTerminal } from './support/terminal.ts'
import { createWorld, type World } from './support/world.ts'

// Every step is a process of its own, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 90_000 })

let world: World
let owner: Person
let operator: Person
let admin: Person
/** The same people at the command line. */
let users: Record<'owner' | 'operator' | 'admin', CliUser>
beforeAll(async () => {
  // Nobody beats for the robots here, and processes take their time.
  world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '120000' } })
  owner = await world.client()
  operator = await world.operator()
  admin = await world.admin()
  const userOf = async (person: Person) =>
    await createCliUser({ WHEELHOUSE_URL: world.baseUrl, WHEELHOUSE_API_KEY: (await person.key()).key })
  users = { owner: await userOf(owner), operator: await userOf(operator), admin: await userOf(admin) }
})
afterAll(async () => await world[Symbol.asyncDispose]())

/** A command that must succeed: what it prints as JSON. */
async function json(user: CliUser, ...args: string[]) {
  const done = await cli(user, [...args, '--json'])
  expect(done.code, done.stderr).toBe(0)
  return done.json
}

/** A session of an operator of its own on a robot that is connected. */
async function openSession() {
  const driver = await world.operator()
  const robot = await world.robot(owner)
  const connection = await world.connect(robot)
  await vi.waitFor(async () => {
    const { body } = await owner.get(`/api/client/robots/${robot.id}`)
    expect(body.status).toBe('AVAILABLE')
  })
  const { key } = await driver.key()
  const user = await createCliUser({ WHEELHOUSE_URL: world.baseUrl, WHEELHOUSE_API_KEY: key })
  const { sessionId } = await json(user, 'sessions', 'start', robot.id)
  return { driver, user, robot, sessionId: sessionId as string, connection }
}

describe.concurrent('robots', () => {
  test('are registered, shown, changed, given another token, and removed', async () => {
    const user = users.owner
    const made = await json(
      ...([
        user,
        'robots',
        'register',
        'Loading dock',
        '--type',
        'so-101',
        '--hardware-id',
        'dock-1',
      ] as const),
      ...(['--tag', 'arm', '--tag', 'berlin', '--notes', 'New gripper', '--require-certification'] as const),
    )
    expect(made).toMatchObject({ name: 'Loading dock', tags: ['arm', 'berlin'], require_certification: true })
    expect(made.robot_token).toMatch(new RegExp(`^${made.id}\\.1\\.`))

    expect(await json(user, 'robots', 'show', 'loading DOCK')).toMatchObject({ id: made.id })
    expect(await json(user, 'robots', 'show', made.id.slice(0, 8))).toMatchObject({ id: made.id })
    const changed = await json(
      ...([user, 'robots', 'update', made.id, '--name', 'Dock 1', '--notes', ''] as const),
      ...(['--no-require-certification', '--latency-limit', '300'] as const),
    )
    expect(changed).toMatchObject({
      ...{ name: 'Dock 1', notes: null, require_certification: false, latency_limit_ms: 300 },
      tags: ['arm', 'berlin'],
    })
    expect((await cli(user, ['robots', 'update', made.id])).code).toBe(2)

    const { robot_token } = await json(user, 'robots', 'rotate-token', made.id, '--yes')
    expect(robot_token).toMatch(new RegExp(`^${made.id}\\.2\\.`))

    const unasked = await cli(user, ['robots', 'remove', 'Dock 1'])
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
    expect(await json(user, 'robots', 'remove', 'Dock 1', '-y')).toEqual({ id: made.id, removed: true })
    expect((await cli(user, ['robots', 'remove', made.id, '-y'])).code).toBe(4)
  })

  test('that are registered in a terminal come with the program that connects them', async () => {
    const screen = openTerminal(users.owner, [
      'robots',
      'register',
      'Tidy',
      '--type',
      't',
      '--hardware-id',
      'tidy',
    ])
    expect((await screen.ended).code).toBe(0)
    expect(screen.shown()).toContain('new RobotLink({')
    expect(screen.shown()).toMatch(/url: 'ws:\/\/[^']+\/robots\/[0-9a-f-]{36}\/control'/)
  })

  test.each([
    ['y', 0, 404],
    ['n', 130, 200],
    [CTRL_C, 130, 200],
  ])('are removed only by who says so: %j', async (key, code, status) => {
    const { id } = await world.robot(owner)
    const screen = openTerminal(users.owner, ['robots', 'remove', id])
    await screen.shows('[y/N]')
    screen.type(key === CTRL_C ? key : `${key}${ENTER}`)
    expect((await screen.ended).code).toBe(code)
    expect((await owner.get(`/api/client/robots/${id}`)).status).toBe(status)
  })

  test('whose id begins alike are not mixed up', async () => {
    await world.robot(owner, { name: 'Twin' })
    await world.robot(owner, { name: 'Twin' })
    expect(await cli(users.owner, ['robots', 'show', 'Twin'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('any of several'),
    })
  })

  test('that may be taken are those of a type one is certified for', async () => {
    expect(await json(users.operator, 'robots', 'available')).toEqual([])
    expect((await cli(users.owner, ['robots', 'available'])).code).toBe(7)
  })
})

describe.concurrent('sessions', () => {
  test('are found, paused and resumed', async () => {
    const { user, sessionId, robot } = await openSession()
    const short = sessionId.slice(0, 8)
    expect(await json(user, 'sessions', 'list', '--status', 'ACTIVE')).toMatchObject([{ id: sessionId }])
    expect(await json(user, 'sessions', 'list', '--robot', robot.id, '--to', '2020-01-01')).toEqual([])
    expect(await json(user, 'sessions', 'show', short)).toMatchObject({ id: sessionId, status: 'ACTIVE' })
    expect(await json(user, 'sessions', 'pause', short, '--reason', 'Lunch')).toMatchObject({
      ...{ status: 'PAUSED', pause_reason: 'Lunch' },
    })
    expect(await json(user, 'sessions', 'resume', short)).toMatchObject({ status: 'ACTIVE' })
  })

  test('are extended, ended and rated, and all of it is in their log', async () => {
    const { user, sessionId } = await openSession()
    expect((await cli(users.owner, ['sessions', 'extend', sessionId, '15'])).stdout).toContain('15')
    expect(await json(user, 'sessions', 'accept', sessionId)).toMatchObject({
      planned_minutes: expect.any(Number),
    })
    expect((await cli(user, ['sessions', 'decline', sessionId])).code).toBe(5)

    expect((await cli(users.owner, ['sessions', 'end', sessionId])).code).toBe(2)
    expect(await json(users.owner, 'sessions', 'end', sessionId, '--yes')).toMatchObject({
      status: 'COMPLETED',
    })
    expect(await json(users.owner, 'sessions', 'rate', sessionId, '5', '--comment', 'Careful')).toMatchObject(
      { rating: 5, rating_comment: 'Careful' },
    )
    expect((await cli(users.owner, ['sessions', 'rate', sessionId, '1'])).code).toBe(5)

    const { stdout } = await cli(user, ['sessions', 'events', sessionId, '--json'])
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
    const later = await cli(user, ['sessions', 'events', sessionId, '--after', `${events.length - 1}`])
    expect(later.stdout.trimEnd().split('\n')).toHaveLength(1)
  })

  test('are planned, begun early, and cancelled', async () => {
    const driver = await world.operator()
    const robot = await world.robot(owner)
    await world.connect(robot)
    const user = await createCliUser({
      WHEELHOUSE_URL: world.baseUrl,
      WHEELHOUSE_API_KEY: (await driver.key()).key,
    })
    const first = await json(user, 'sessions', 'schedule', robot.id, '+2h')
    expect(first.status).toBe('PENDING')
    const { scheduled_for } = await json(user, 'sessions', 'show', first.sessionId)
    expect(Math.abs(Date.parse(scheduled_for) - Date.now() - 7_200_000)).toBeLessThan(600_000)
    expect(await json(user, 'sessions', 'cancel', first.sessionId, '--yes')).toMatchObject({
      status: 'CANCELLED',
    })
    const second = await json(user, 'sessions', 'schedule', robot.id, '+1d')
    expect(await json(user, 'sessions', 'begin', second.sessionId)).toMatchObject({ status: 'ACTIVE' })
    expect((await cli(user, ['sessions', 'start', robot.id])).code).toBe(5)
  })
})

describe.concurrent('stop', () => {
  test('stops the only open session, and it stays so until somebody clears it', async () => {
    const { user, sessionId, connection } = await openSession()
    const done = await cli(user, ['stop', '--reason', 'Somebody is there'])
    expect(done.code, done.stderr).toBe(0)
    expect(done.stdout).toContain(`wheelhouse sessions clear-stop ${sessionId}`)
    expect(await connection.next('stop')).toMatchObject({ latched: true })
    const shown = await json(user, 'sessions', 'show', sessionId)
    expect(shown).toMatchObject({ status: 'PAUSED', control: { stop: { reason: 'Somebody is there' } } })
    expect((await cli(user, ['sessions', 'resume', sessionId])).code).toBe(5)
    expect(await json(user, 'sessions', 'clear-stop', sessionId)).toMatchObject({ control: { stop: null } })
    expect((await cli(user, ['sessions', 'resume', sessionId])).code).toBe(0)
    expect(await json(user, 'sessions', 'stop', sessionId)).toMatchObject({ id: sessionId, status: 'PAUSED' })
  })

  test('of several open sessions wants a name, or all of them', async () => {
    const client = await world.client()
    const drivers = [await world.operator(), await world.operator()]
    for (const driver of drivers) {
      const robot = await world.robot(client)
      await world.connect(robot)
      await vi.waitFor(async () => {
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

  test('without any open session, and of one that is over', async () => {
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
  test('are made, listed and revoked by somebody signed in in person', async () => {
    const person = await world.client()
    const user = await createCliUser({ WHEELHOUSE_URL: world.baseUrl, WHEELHOUSE_API_KEY: person.token })
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
  test('decide on certifications, and find it in the audit log', async () => {
    const { admin: user } = users
    const ask = async (robot_type: string) =>
      (await operator.post('/api/operator/certifications', { robot_type, note: 'Please' })).body.id as string
    const [yes, no] = [await ask('so-101'), await ask('go2')]
    const waiting = await json(user, 'admin', 'certifications', 'list')
    expect(waiting.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining([yes, no]))
    expect(await json(user, 'admin', 'certifications', 'approve', yes)).toMatchObject({ status: 'APPROVED' })
    expect(await json(user, 'admin', 'certifications', 'reject', no.slice(0, 8))).toMatchObject({
      status: 'REJECTED',
    })
    expect((await cli(user, ['admin', 'certifications', 'approve', yes])).code).toBe(5)
    const acts = await json(user, 'admin', 'audit', '--subject', yes, '--limit', '5')
    expect(acts).toMatchObject([{ action: 'certification.approved', subject_id: yes }])
    expect((await cli(users.operator, ['admin', 'certifications', 'list'])).code).toBe(7)
  })

  test('read what people write, and see the platform at a glance', async () => {
    const { admin: user } = users
    await owner.post('/api/robot-request', { email: 'a@b.example', robot_type: 'octopus' })
    expect(await json(user, 'admin', 'robot-requests')).toMatchObject([{ robot_type: 'octopus' }])
    expect(await json(user, 'admin', 'contact-messages')).toEqual([])
    expect(await json(user, 'admin', 'overview')).toMatchObject({ gateways: [{ draining: false }] })
    expect((await cli(user, ['admin', 'overview'])).stdout).toContain('Gateways: 1')
    const given = await json(user, 'admin', 'plan', owner.id)
    expect(given).toEqual({ client_id: owner.id, plan: null })
  })
})

describe.concurrent('what else there is to read', () => {
  test('the health of the platform, without a sign-in', async () => {
    const stranger = await createCliUser({ WHEELHOUSE_URL: world.baseUrl })
    expect(await json(stranger, 'status')).toMatchObject({ server: world.baseUrl, status: 'ok', db: 'ok' })
    expect((await cli(stranger, ['status'])).stdout).toMatch(/Status\s+ok/)
  })

  test('of a client and of an operator', async () => {
    expect(await json(users.owner, 'stats')).toMatchObject({ client: { minutes: expect.any(Number) } })
    expect(await json(users.operator, 'stats')).toMatchObject({ operator: { hours: expect.any(Number) } })
    expect((await cli(users.admin, ['stats'])).code).toBe(7)
    expect(await json(users.owner, 'datasets')).toEqual([])
    expect(await json(users.owner, 'invoices', 'list')).toEqual([])
    expect((await cli(users.owner, ['invoices', 'show', '2026-10'])).code).toBe(4)
    expect(await json(users.operator, 'schedule')).toMatchObject({
      slots: [],
      availability: { available: false },
    })
    expect(await json(users.owner, 'notifications', '--unread', '--limit', '3')).toBeInstanceOf(Array)
    for (const args of [
      ['stats'],
      ['notifications'],
      ['datasets'],
      ['invoices', 'list'],
      ['sessions', 'list'],
    ]) {
      expect((await cli(users.owner, args)).code, args.join(' ')).toBe(0)
    }
    expect((await cli(users.operator, ['schedule'])).stdout).toContain('You cannot take a robot now')
  })
})
