import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMonthlyClose } from '../../../src/modules/billing/invoice-close.ts'
import { DATASET_EXPORTS } from '../../../src/modules/datasets/exports/dataset-export.service.ts'
import { atCommandLine, entriesOf } from '../../support/cli/cli-world.ts'
import { createCoverage } from '../../support/cli/command-coverage.ts'
import { type CliUser, CTRL_C, createCliUser, ENTER, endCommands } from '../../support/cli/terminal.ts'
import { ok, silence, startReceiver, status, verify } from '../../support/network/webhook-receiver.ts'
import { timesAt } from '../../support/recordings/mcap-fixtures.ts'
import { recordEpisodes } from '../../support/recordings/recorded-episodes.ts'
import { startRosbridge } from '../../support/ros/fake-ros.ts'
import { datasetsOf, episodeFrame } from '../../support/world/episodes.ts'
import { addQueue, quietQueue } from '../../support/world/jobs.ts'
import { start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// Runs every command of the program against a platform, once at a terminal and once with --json, in this process unless
// it needs keys, signals or open input. Other files test the details of the commands; this file ensures complete coverage.

afterAll(endCommands)
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/
const CTRL_D = '\x04'

const coverage = createCoverage()
const { shown, json, result, terminal, program } = coverage

let world: World
let owner: TestUser
let user: CliUser
beforeAll(async () => {
  // The robots send no heartbeats here, and processes are slow.
  world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '120000', WEBHOOK_ALLOW_LOOPBACK: 'true' } })
  owner = await world.client()
  user = await atCommandLine(world, owner)
})
afterAll(async () => await world[Symbol.asyncDispose]())

/** Runs a command in a terminal and answers its confirmation with yes. */
async function succeed(who: CliUser, path: string, ...args: string[]): Promise<string> {
  const requests = terminal(who, path, ...args)
  await requests.shows('[y/N]')
  requests.type(`y${ENTER}`)
  return await requests.done()
}

/** Creates an online robot and an operator who may drive it. */
async function fixture() {
  const [client, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(client, { name: 'Ronja' })
  const link = await world.connect(robot)
  const [asOwner, asOperator] = await Promise.all(
    [client, operator].map((item) => atCommandLine(world, item)),
  )
  return { client, operator, robot, link, asOwner: asOwner as CliUser, asOperator: asOperator as CliUser }
}

/** Lets the database say that a session is recorded now. */
async function recordNow(sessionId: string): Promise<void> {
  await sql`
    with recording as (
      insert into recordings (id, session_id, robot_id, client_id, operator_id, mode, started_at)
      select gen_random_uuid(), id, robot_id, client_id, operator_id, 'control', now() from sessions where id = ${sessionId}
      returning id
    )
    insert into recording_streams (id, recording_id, source, origin_id, node_id, opened_at)
    select gen_random_uuid(), id, 'gateway', gen_random_uuid(), gen_random_uuid(), now() from recording`.execute(
    world.platform.core.db,
  )
}

/** Creates an owner whose robot has a recording with two episodes. */
async function recordedEpisodes() {
  const client = await world.client()
  const robot = await world.robot(client, { name: 'Ronja' })
  const messages = timesAt(10, 3_000).map((atMs) => ({ atMs, data: { linear: 1 } }))
  const stored = await recordEpisodes(
    world,
    client,
    robot.id,
    { startMs: Date.parse('2026-11-20T09:00:00Z'), control: messages, telemetry: messages },
    [
      { fromMs: 0, toMs: 1_000 },
      { fromMs: 1_000, toMs: 2_000, success: false },
    ],
  )
  return { ...stored, client, robot, asOwner: await atCommandLine(world, client) }
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

describe.concurrent('in a terminal and with --json:', () => {
  test('robots', async () => {
    const register = ['--type', 'testbot', '--hardware-id'] as const
    expect(await shown(user, 'robots register', 'Arm', ...register, 'a-1')).toMatch(
      /shown only once[\s\S]*new RobotLink/,
    )
    const made = await json(user, 'robots register', 'Lift', ...register, 'a-2')
    expect(made).toMatchObject({ name: 'Lift', robot_token: expect.any(String) })
    const [listed, table] = await Promise.all([json(user, 'robots list'), shown(user, 'robots list')])
    expect(idsOf(listed)).toContain(made.id)
    expect(table).toMatch(/Lift +testbot +OFFLINE/)
    expect(await json(user, 'robots show', 'lift')).toMatchObject({ id: made.id })
    await json(user, 'robots update', 'Lift', '--tag', 'hall 2')
    expect(idsOf(await json(user, 'robots list', '--tag', 'hall 2'))).toEqual([made.id])
    expect(await shown(user, 'robots list', '--tag', 'hall')).toContain('No matching robots.')
    expect(await shown(user, 'robots show', made.id.slice(0, 8))).toMatch(/Name +Lift/)
    expect(await json(user, 'robots update', 'Lift', '--notes', 'Slow')).toMatchObject({ notes: 'Slow' })
    expect(await shown(user, 'robots update', 'Lift', '--notes', 'Slower')).toMatch(/Notes +Slower/)
    const settings = ['--low-battery', '35', '--log-events', 'warn'] as const
    expect(await json(user, 'robots update', 'Lift', ...settings)).toMatchObject({
      low_battery_threshold: 0.35,
      log_event_level: 'warn',
    })
    expect(await shown(user, 'robots show', 'Lift')).toMatch(/Low battery +below 35 %\s+Log events +warn/)
    const recording = ['--recording', 'video', '--recording-days'] as const
    expect(await json(user, 'robots update', 'Lift', ...recording, '90')).toMatchObject({
      recording: 'video',
      recording_days: 90,
    })
    expect(await shown(user, 'robots show', 'Lift')).toMatch(
      /Recording +control, telemetry and cameras\s+Recordings kept +90 days/,
    )
    expect(await json(user, 'robots update', 'Lift', ...recording, 'none')).toMatchObject({
      recording_days: null,
    })
    const link = await world.connect({ id: made.id, token: made.robot_token })
    link.send({ type: 'heartbeat', battery: 0.5 })
    await waitFor(async () =>
      expect(idsOf(await json(user, 'robots list', '--battery-below', '51'))).toEqual([made.id]),
    )
    expect(await json(user, 'robots list', '--battery-below', '50')).toEqual([])
    for (const level of ['info', 'error']) link.send({ type: 'log', level, message: `an ${level} line` })
    await waitFor(async () => {
      expect(await shown(user, 'robots logs', 'Lift')).toMatch(
        /info +an info line[\s\S]*error +an error line/,
      )
    })
    const logged = await result(user, 'robots logs', ['Lift', '--level', 'warn'])
    expect(entriesOf(logged.stdout)).toMatchObject([{ seq: 2, level: 'error', message: 'an error line' }])
    await waitFor(async () => {
      expect(await shown(user, 'robots show', 'Lift')).toMatch(/Battery +50 %/)
    })
    await link.close()
    const { code } = await json(user, 'robots pairing-code', 'Lift')
    expect(code).toMatch(/^\w{5}-\w{5}$/)
    expect(await shown(user, 'robots pairing-code', 'Lift')).toMatch(
      /Pairing code.*: \w{5}-\w{5}[\s\S]*\/connect\/robot\.mjs[\s\S]*\/phone-robot#code=\w{5}-\w{5}/,
    )
    expect(
      (await json(user, 'robots update', 'Lift', '--operator-notes', 'Mind the step')).operator_notes,
    ).toBe('Mind the step')
    expect(await shown(user, 'robots show', 'Lift')).toMatch(/Notes for operators +Mind the step/)
    const { robot_token } = await json(user, 'robots rotate-token', 'Lift', '--yes')
    expect(robot_token).not.toBe(made.robot_token)
    expect(await succeed(user, 'robots rotate-token', 'Lift')).toContain(`${made.id}.3.`)
    expect(await json(user, 'robots remove', 'Lift', '-y')).toEqual({ id: made.id, removed: true })
    expect(await succeed(user, 'robots remove', 'Arm')).toContain('Arm is removed')
    expect(await json(user, 'robots list', '--status', 'IN_SESSION')).toEqual([])
    expect(await json(user, 'robots list', '--search', 'nothing like it', '--limit', '1')).toEqual([])
  })

  test('certifications, and the robots that they make available', async () => {
    const { operator, robot, asOperator } = await fixture()
    const admin = await atCommandLine(world, await world.admin())
    const ask = async (robot_type: string) =>
      (await operator.post('/api/operator/certifications', { robot_type, note: 'Please' })).body.id as string
    const ids = [await ask('testbot'), await ask('so-101'), await ask('go2'), await ask('spot')]
    const [listed, table] = await Promise.all([
      json(admin, 'admin certifications list'),
      shown(admin, 'admin certifications list'),
    ])
    expect(idsOf(listed)).toEqual(expect.arrayContaining(ids))
    for (const id of ids) expect(table).toContain(id)
    const [first, second, third, fourth] = ids as [string, string, string, string]
    expect(await json(admin, 'admin certifications approve', first)).toMatchObject({ status: 'APPROVED' })
    expect(await shown(admin, 'admin certifications approve', second)).toContain('is certified for so-101')
    const why = ['--reason', 'Not yet'] as const
    expect(await json(admin, 'admin certifications reject', third, ...why)).toMatchObject({
      status: 'REJECTED',
      reason: 'Not yet',
    })
    expect(await shown(admin, 'admin certifications reject', fourth, ...why)).toContain(
      'is not certified for spot',
    )
    expect(await shown(admin, 'admin certifications revoke', second.slice(0, 8), ...why)).toContain(
      'no longer certified for so-101',
    )
    expect(idsOf(await json(asOperator, 'robots available'))).toContain(robot.id)
    expect(await shown(asOperator, 'robots available')).toContain(robot.id)
    expect(await json(admin, 'admin audit', '--subject', first)).toMatchObject([
      { action: 'certification.approved' },
    ])
    expect(await shown(admin, 'admin audit', '--subject', third)).toContain('certification.rejected')
    expect(await json(admin, 'admin certifications revoke', first, ...why)).toMatchObject({
      status: 'REVOKED',
      reason: 'Not yet',
    })
  })

  test('a session from start to end', async () => {
    const { client, operator, robot, asOwner, asOperator } = await fixture()
    const id = UUID.exec(await shown(asOperator, 'sessions start', robot.id))?.[0] as string
    const watching = program(asOwner, 'watch')
    const asked = {
      robot: await json(asOwner, 'sessions list', '--robot', 'Ronja'),
      all: await shown(asOwner, 'sessions list'),
    }
    expect(idsOf(asked.robot)).toEqual([id])
    expect(asked.all).toMatch(new RegExp(`${id} +ACTIVE +Ronja`))
    expect(await json(asOwner, 'sessions show', id.slice(0, 8))).toMatchObject({ id, status: 'ACTIVE' })
    expect(await shown(asOwner, 'sessions show', id)).toMatch(/Status +ACTIVE/)
    expect(await shown(asOperator, 'sessions pause', id, '--reason', 'Lunch')).toMatch(/Status +PAUSED/)
    expect(await shown(asOperator, 'sessions resume', id)).toMatch(/Status +ACTIVE/)
    expect(await json(asOperator, 'sessions pause', id)).toMatchObject({ status: 'PAUSED' })
    expect(await json(asOperator, 'sessions resume', id)).toMatchObject({ status: 'ACTIVE' })

    expect(await shown(asOwner, 'sessions extend', id, '5')).toContain('5')
    expect(await shown(asOperator, 'sessions accept', id)).toMatch(/Planned minutes/)
    expect(await json(asOwner, 'sessions extend', id, '5')).toMatchObject({ message: expect.any(String) })
    expect(await json(asOperator, 'sessions accept', id)).toMatchObject({
      planned_minutes: expect.any(Number),
    })
    const wanted = () => client.post(`/api/sessions/${id}/extend`, { additionalMinutes: 5 })
    await wanted()
    expect(await shown(asOperator, 'sessions decline', id)).toContain(id)
    await wanted()
    expect(await json(asOperator, 'sessions decline', id)).toMatchObject({ id })

    const sendChat = terminal(asOwner, 'chat', id)
    await sendChat.shows('connected')
    sendChat.type(`Mind the vase${ENTER}`)
    await sendChat.shows('✓ sent')
    sendChat.type(CTRL_D)
    await sendChat.done()
    expect(await json(asOwner, 'chat', id, 'And the cat')).toMatchObject({ body: 'And the cat' })

    expect(await succeed(asOwner, 'sessions end', id)).toMatch(/Status +COMPLETED/)
    const watched = entriesOf((await watching.done()).stdout)
    expect(watched.at(-1)).toMatchObject({ type: 'end' })
    expect(await shown(asOwner, 'sessions rate', id, '5')).toMatch(/Rated +5/)
    const log = await result(asOwner, 'sessions events', [id])
    expect(entriesOf(log.stdout).map(({ seq }) => seq)).toEqual(
      entriesOf(log.stdout).map((_, index) => index + 1),
    )
    expect(await shown(asOwner, 'sessions events', id)).toContain('And the cat')

    const { sessionId } = await json(asOperator, 'sessions start', robot.id)
    const screen = terminal(asOwner, 'watch', sessionId)
    await screen.shows(/Ronja .*ACTIVE/)
    screen.type('q')
    await screen.done()
    expect(await json(asOperator, 'sessions end', sessionId, '-y')).toMatchObject({ status: 'COMPLETED' })
    expect(await json(asOwner, 'sessions rate', sessionId, '4')).toMatchObject({ rating: 4 })
    expect(await operator.get('/api/sessions')).toMatchObject({ body: { sessions: [{}, {}] } })
  })

  test('remote stops', async () => {
    const { operator, robot, link, asOwner, asOperator } = await fixture()
    const id = await start(operator, robot.id)
    expect(await shown(asOwner, 'stop', '--reason', 'A cat')).toContain('Stopped Ronja')
    expect(await link.next('stop')).toMatchObject({ latched: true })
    // On a busy machine it also reports that the stop is not recorded yet.
    expect((await result(asOwner, 'stop', ['Ronja'])).json).toMatchObject([{ id, status: 'PAUSED' }])
    expect((await result(asOwner, 'sessions stop', [id])).json).toMatchObject([
      { id, control: { stop: { reason: 'A cat' } } },
    ])
    expect(await shown(asOwner, 'sessions stop', id.slice(0, 8))).toContain('Stopped Ronja')
    expect(await shown(asOperator, 'sessions request-clear', id)).toMatch(/Clearing +requested/)
    const { control } = (await json(asOperator, 'sessions request-clear', id)) as {
      control: { stop: object }
    }
    expect(control.stop).toMatchObject({ clearable_by: 'owner' })
    expect(await shown(asOwner, 'sessions clear-stop', id)).toMatch(/Status +PAUSED/)
    await operator.patch(`/api/sessions/${id}`, { action: 'emergency_stop' })
    expect(await json(asOperator, 'sessions clear-stop', id)).toMatchObject({ control: { stop: null } })
    await operator.patch(`/api/sessions/${id}`, { action: 'end' })
    expect((await result(asOwner, 'stop', ['Ronja'], 4)).stdout).toBe('')
  })

  test('scheduled sessions', async () => {
    const { operator, robot, asOperator } = await fixture()
    const id = UUID.exec(await shown(asOperator, 'sessions schedule', robot.id, '+2h'))?.[0] as string
    expect(await succeed(asOperator, 'sessions cancel', id)).toMatch(/Status +CANCELLED/)
    const { sessionId } = await json(asOperator, 'sessions schedule', robot.id, '+1d')
    expect(await json(asOperator, 'sessions cancel', sessionId, '-y')).toMatchObject({ status: 'CANCELLED' })
    const plan = async () => {
      const scheduledFor = new Date(Date.now() + 3_600_000).toISOString()
      return (await operator.post('/api/sessions', { robotId: robot.id, scheduledFor })).body
        .sessionId as string
    }
    const first = await plan()
    expect(await shown(asOperator, 'sessions begin', first)).toMatch(/Status +ACTIVE/)
    await operator.patch(`/api/sessions/${first}`, { action: 'end' })
    const second = await plan()
    expect(await json(asOperator, 'sessions begin', second)).toMatchObject({ status: 'ACTIVE' })
    await operator.patch(`/api/sessions/${second}`, { action: 'end' })
  })

  test('signing in and out', async () => {
    const { key } = await owner.key()
    const unrelatedUser = await createCliUser()
    const typing = terminal(unrelatedUser, 'login', world.baseUrl, '--api-key')
    await typing.shows('API key: ')
    typing.type(`${key}${ENTER}`)
    const screen = await typing.done()
    expect(screen).toContain('You are signed in')
    expect(screen).not.toContain(key)
    const again = await program(
      unrelatedUser,
      'login',
      [world.baseUrl, '--api-key', '-p', 'second'],
      key,
    ).done()
    expect([again.json, again.stderr]).toMatchObject([{ id: owner.id, profile: 'second' }, ''])
    expect(await json(unrelatedUser, 'whoami')).toMatchObject({ id: owner.id, profile: 'second' })
    expect(await shown(unrelatedUser, 'whoami')).toContain(world.baseUrl)
    expect(await json(unrelatedUser, 'profiles list')).toMatchObject([
      { name: 'default' },
      { name: 'second', current: true },
    ])
    expect(await shown(unrelatedUser, 'profiles list')).toMatch(/\* +second/)
    expect(await json(unrelatedUser, 'profiles use', 'default')).toEqual({
      profile: 'default',
      server: world.baseUrl,
    })
    expect(await shown(unrelatedUser, 'profiles use', 'second')).toContain('is second at')
    expect(await shown(unrelatedUser, 'logout')).toContain('(second)')
    expect(await json(unrelatedUser, 'logout', '--all')).toEqual({
      signed_out: [{ profile: 'default', server: world.baseUrl }],
    })
  })

  test('API keys', async () => {
    const testUser = await world.client()
    const withSessionToken = await createCliUser({
      WHEELHOUSE_URL: world.baseUrl,
      WHEELHOUSE_API_KEY: testUser.token,
    })
    expect(await shown(withSessionToken, 'keys create', 'Night')).toMatch(/svc_live_\w+/)
    const made = await json(withSessionToken, 'keys create', 'Day', '--expires', '+90d')
    expect(made).toMatchObject({ name: 'Day', key: expect.stringMatching(/^svc_live_/) })
    expect(idsOf(await json(withSessionToken, 'keys list'))).toContain(made.id)
    expect(await shown(withSessionToken, 'keys list')).toMatch(/Night/)
    expect(await succeed(withSessionToken, 'keys revoke', 'Night')).toContain('Night is revoked')
    expect(await json(withSessionToken, 'keys revoke', 'Day', '-y')).toEqual({ id: made.id, revoked: true })
  })

  test('read-only commands, with an invoice', async () => {
    const { client, operator, robot, link, asOwner, asOperator } = await fixture()
    const id = await start(operator, robot.id)
    await client.patch(`/api/sessions/${id}`, { action: 'end' })
    link.send(episodeFrame())
    const inTwoMonths = () => new Date(Date.now() + 62 * 24 * 3_600_000)
    await createMonthlyClose({ ...world.platform.core, now: inTwoMonths }).run()
    const invoices = await json(asOwner, 'invoices list')
    expect(invoices).toMatchObject([{ session_count: 1, month: expect.any(String) }])
    const [{ id: invoice, month }] = invoices
    expect(await shown(asOwner, 'invoices list')).toContain(month)
    expect(await json(asOwner, 'invoices show', month)).toMatchObject({
      id: invoice,
      lines: [{ session_id: id }],
    })
    expect(await shown(asOwner, 'invoices show', invoice.slice(0, 8))).toContain(id)
    await waitFor(async () => expect(await datasetsOf(client)).toHaveLength(1))
    expect(await json(asOwner, 'datasets list')).toMatchObject([{ robot_id: robot.id, episode_count: 1 }])
    expect(await shown(asOwner, 'datasets list')).toContain('Ronja')
    expect(await json(asOwner, 'stats')).toMatchObject({ client: { minutes: expect.any(Number) } })
    expect(await shown(asOperator, 'stats')).toContain('As an operator')
    expect(await json(asOperator, 'schedule')).toMatchObject({ slots: [], availability: {} })
    expect(await shown(asOperator, 'schedule')).toContain('Your schedule is empty')
    const { type } = (await json(asOwner, 'notifications', '--limit', '1'))[0]
    expect(await shown(asOwner, 'notifications')).toContain(type)

    const records = await json(asOwner, 'export')
    expect(idsOf(records.sessions)).toEqual([id])
    expect(await shown(asOwner, 'export')).toContain(id)
    const unrelatedUser = await createCliUser({ WHEELHOUSE_URL: world.baseUrl })
    expect(await json(unrelatedUser, 'status')).toMatchObject({ server: world.baseUrl, db: 'ok' })
    expect(await shown(unrelatedUser, 'status')).toMatch(/Status +ok/)
  })

  test('audit', async () => {
    const { asOwner, client } = await fixture()
    const file = join(asOwner.configHome, 'audit.ndjson')
    expect(await json(asOwner, 'audit export', '-o', file)).toEqual({ format: 'ndjson', path: file })
    expect(await shown(asOwner, 'audit export')).toContain(client.id)
    const verdict = await json(asOwner, 'audit verify', file)
    expect(verdict).toMatchObject({ ok: true, deleted: 0 })
    expect(await shown(asOwner, 'audit verify', file, '--head', verdict.head)).toContain(
      `head ${verdict.head}`,
    )
    await writeFile(file, (await readFile(file, 'utf8')).replace('user.role_taken', 'user.role_dropped'))
    expect((await result(asOwner, 'audit verify', [file], 1)).stderr).toContain(
      'row 1: its content has been changed',
    )
  })

  test.each(['robot', 'operator'])('conformance %s', async (subject) => {
    expect(await shown(user, `conformance ${subject}`, '--list')).toContain('protects')
    const rules: { id: string }[] = await json(user, `conformance ${subject}`, '--list')
    expect(idsOf(rules)).toContain('connects')
  })

  test('recordings', async () => {
    const { client, asOwner, recordingId: id, sessionId, operator } = await recordedEpisodes()
    const asOperator = await atCommandLine(world, operator)
    const folder = join(asOwner.configHome, 'files')
    await mkdir(folder)
    expect(await json(asOperator, 'recordings list')).toMatchObject([{ id, session_id: sessionId }])
    expect(idsOf(await json(asOwner, 'recordings list', '--robot', 'Ronja', '--limit', '1'))).toEqual([id])
    expect(await shown(asOwner, 'recordings list')).toMatch(
      new RegExp(`${id} +${sessionId} +READY[\\s\\S]*Your recordings take \\d`),
    )
    expect(await json(asOwner, 'recordings show', sessionId)).toMatchObject({ id, status: 'READY' })
    expect(await json(asOwner, 'recordings show', sessionId.slice(0, 8))).toMatchObject({ id })
    expect(await shown(asOwner, 'recordings show', id.slice(0, 8))).toMatch(
      /Status +READY[\s\S]*Gaps +none[\s\S]*\/telemetry/,
    )
    const file = join(folder, 'a.mcap')
    const { bytes } = await json(asOwner, 'recordings download', sessionId, '-o', file)
    expect(await shown(asOperator, 'recordings download', id, '-o', folder)).toContain('written to')
    const [named = '', ...others] = (await readdir(folder)).filter((name) => name !== 'a.mcap')
    expect([named, others]).toEqual([expect.stringMatching(/^Arm 2026-11-20T.*\.mcap$/), []])
    const content = await readFile(file)
    expect(content).toHaveLength(bytes)
    expect(content.equals(await readFile(join(folder, named)))).toBe(true)
    expect(await json(asOwner, 'recordings downloads', id)).toMatchObject([
      { user_id: operator.id, kind: 'file' },
      { user_id: client.id },
    ])
    expect(await shown(asOwner, 'recordings downloads', id)).toContain(operator.id)

    const share = await json(asOwner, 'recordings share', id, '--hours', '1')
    expect(await shown(asOwner, 'recordings share', sessionId)).toMatch(
      /https?:\/\/\S+\/replay\/[\s\S]*shown only once:/,
    )
    expect(await shown(asOwner, 'recordings shares', id)).toMatch(new RegExp(`${share.id} +valid`))
    expect(await json(asOwner, 'recordings unshare', id, share.id)).toEqual({ id: share.id, revoked: true })
    const other = idsOf(await json(asOwner, 'recordings shares', id)).find((each) => each !== share.id)
    expect(await shown(asOwner, 'recordings unshare', id, `${other}`.slice(0, 8))).toContain('is revoked')
    expect((await result(asOperator, 'recordings delete', [id, '-y'], 4)).stdout).toBe('')
    expect(await succeed(asOwner, 'recordings delete', id)).toContain('is deleted')
    const second = await recordedEpisodes()
    expect(await json(second.asOwner, 'recordings delete', second.sessionId, '-y')).toEqual({
      id: second.recordingId,
      deleted: true,
    })
    expect((await result(asOwner, 'recordings show', [id], 4)).stdout).toBe('')
  })

  test('episodes', async () => {
    const { operator, robot, asOwner, asOperator } = await fixture()
    const session = ['--session', await start(operator, robot.id)] as const
    const started = await json(asOperator, 'episodes start', '--task', 'Pick up the cup')
    expect(started).toMatchObject({ running: { task: 'Pick up the cup' }, episode: null })
    expect((await result(asOwner, 'episodes start', [], 5)).stdout).toBe('')
    expect(await shown(asOwner, 'episodes list')).toContain('An episode runs since')
    expect(await json(asOwner, 'episodes success', ...session)).toMatchObject({
      running: null,
      episode: { task: 'Pick up the cup', success: true, source: 'platform' },
    })
    expect(await shown(asOperator, 'episodes start', '--task', 'Pour')).toContain('"Pour" has started')
    expect(await shown(asOperator, 'episodes success', '--task', 'Pour tea')).toMatch(
      /"Pour tea" ended as a success: [0-9a-f-]{36}/,
    )
    for (const mark of ['failure', 'discard']) {
      await json(asOperator, 'episodes start')
      await json(asOperator, `episodes ${mark}`)
      await json(asOperator, 'episodes start')
      expect(await shown(asOperator, `episodes ${mark}`)).toContain(mark)
    }
    const { running, episodes } = await json(asOwner, 'episodes list', ...session)
    expect([running, episodes.map(({ success }: { success: boolean }) => success)]).toEqual([
      null,
      [true, true, false, false],
    ])
    expect(await shown(asOwner, 'episodes list')).toMatch(/success +Pour tea +platform/)
    expect((await result(asOwner, 'episodes success', [], 5)).stdout).toBe('')
    expect((await result(asOwner, 'episodes keep', [], 5)).stdout).toBe('')
    await recordNow(session[1])
    expect(await shown(asOwner, 'episodes keep', '--seconds', '60', '--task', 'Spill')).toContain(
      '"Spill" is kept',
    )
  })

  test('exports of datasets', async () => {
    const { asOwner, datasetId, episodeIds } = await recordedEpisodes()
    expect(idsOf(await json(asOwner, 'datasets episodes', 'Ronja')).sort()).toEqual(episodeIds.toSorted())
    expect(await shown(asOwner, 'datasets episodes', datasetId.slice(0, 8))).toContain('Pick the cube')

    const rate = ['--fps', '10'] as const
    const options = ['--name', 'cubes', ...rate] as const
    const dice = ['--name', 'dice', ...rate, '--datasets', 'Ronja', '--wait'] as const
    const waiting = program(asOwner, 'datasets export', dice, '')
    const ids = episodeIds.join(',')
    const begun = await shown(asOwner, 'datasets export', ...options, '--episodes', ids)
    expect(begun).toMatch(/Name +cubes[\s\S]*Continue with: wheelhouse datasets export-status/)
    await waitFor(async () => {
      await world.runJobs(DATASET_EXPORTS)
      const exports: { status: string }[] = await json(asOwner, 'datasets exports')
      expect(exports.map(({ status }) => status)).toEqual(['READY', 'READY'])
    })
    const first = (await waiting.done()).json
    expect(first).toMatchObject({ status: 'READY', progress: 1, episodes: 2, error: null })
    expect(await shown(asOwner, 'datasets exports')).toMatch(/cubes +1 +READY +100 %/)
    expect(await json(asOwner, 'datasets export-status', 'cubes')).toMatchObject({ status: 'READY' })
    expect(await shown(asOwner, 'datasets export-status', first.id.slice(0, 8))).toMatch(
      /Status +READY[\s\S]*Files +http\S+\/resolve\/main\//,
    )

    const folder = join(asOwner.configHome, 'cubes')
    const fetched = await json(asOwner, 'datasets download-export', 'cubes', '-o', folder)
    const paths = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) =>
      each.isFile(),
    )
    expect(fetched).toMatchObject({ path: folder, files: paths.length })
    const info = JSON.parse(await readFile(join(folder, 'meta/info.json'), 'utf8'))
    expect(info).toMatchObject({ codebase_version: 'v3.0', total_episodes: 2, fps: 10 })
    // A damaged file is refused, and replaced with --force; a missing one is fetched.
    await writeFile(join(folder, 'meta/info.json'), '{}')
    await rm(join(folder, 'README.md'))
    expect((await result(asOwner, 'datasets download-export', ['cubes', '-o', folder], 1)).stdout).toBe('')
    expect(await shown(asOwner, 'datasets download-export', 'cubes', '-o', folder, '--force')).toContain(
      'files written',
    )
    expect(JSON.parse(await readFile(join(folder, 'meta/info.json'), 'utf8'))).toEqual(info)
    expect(await readdir(folder)).toContain('README.md')

    expect(await json(asOwner, 'datasets delete-export', first.id, '-y')).toEqual({
      id: first.id,
      deleted: true,
    })
    expect(await succeed(asOwner, 'datasets delete-export', 'cubes')).toContain('cubes is deleted')
    const [episode = ''] = episodeIds
    for (const chosen of [[], ['--episodes', episode, '--datasets', 'Ronja']])
      expect((await result(asOwner, 'datasets export', [...options, ...chosen], 2)).stdout).toBe('')
  })

  test('admin commands', async () => {
    const admin = await atCommandLine(world, await world.admin())
    await owner.post('/api/robot-request', { email: 'a@b.example', robot_type: 'octopus' })
    const frameType = {
      name: 'Ada',
      email: 'ada@b.example',
      category: 'Bug Report',
      subject: 'Hello',
      message: 'A word',
    }
    expect((await owner.post('/api/contact', frameType)).status).toBeLessThan(300)
    expect(await json(admin, 'admin overview')).toMatchObject({ gateways: [{ draining: false }] })
    expect(await shown(admin, 'admin overview')).toContain('Gateways: 1')
    expect(await json(admin, 'admin robot-requests')).toMatchObject([{ robot_type: 'octopus' }])
    expect(await shown(admin, 'admin robot-requests')).toContain('octopus')
    expect(await json(admin, 'admin contact-messages')).toMatchObject([{ subject: 'Hello' }])
    expect(await shown(admin, 'admin contact-messages')).toContain('A word')
    expect(await json(admin, 'admin plan', owner.id)).toEqual({ client_id: owner.id, plan: null })
    expect(await shown(admin, 'admin plan', owner.id)).toContain('is on the default plan')
    const operator = await world.operator()
    expect(await shown(admin, 'admin remove-role', operator.id, 'operator')).toContain(
      'no longer has the role operator',
    )
    expect(await shown(admin, 'admin restore-role', operator.id, 'operator')).toContain('an operator again')
    await json(admin, 'admin remove-role', operator.id, 'operator')
    await json(admin, 'admin restore-role', operator.id, 'operator')
    expect((await operator.get('/api/auth/profile')).body.roles).toContain('operator')
  })

  test('users and search', async () => {
    const admin = await atCommandLine(world, await world.admin())
    const user = await world.operator()
    await user.post('/api/auth/profile', { display_name: 'Margaret Hamilton' })
    const found = { id: user.id, roles: ['operator'], suspended_at: null }
    expect(await json(admin, 'admin users list', '--search', 'hamil')).toMatchObject([found])
    expect(await shown(admin, 'admin users list', '--role', 'operator')).toContain('Margaret Hamilton')
    expect(await json(admin, 'search', 'margaret', 'hamilton')).toMatchObject([{ kind: 'user', id: user.id }])
    expect(await shown(admin, 'search', 'margaret')).toMatch(/user +.*Margaret Hamilton/)

    const reason = ['--reason', 'Unsafe driving']
    expect(await shown(admin, 'admin users suspend', user.id, ...reason)).toContain('is suspended')
    expect((await user.get('/api/auth/profile')).status).toBe(403)
    expect(await json(admin, 'admin users list', '--suspended')).toMatchObject([{ id: user.id }])
    expect(await shown(admin, 'admin users restore', user.id)).toContain('no longer suspended')
    expect((await user.get('/api/auth/profile')).status).toBe(200)
    expect(await json(admin, 'admin users suspend', user.id, ...reason)).toMatchObject({ id: user.id })
    expect(await json(admin, 'admin users restore', user.id)).toEqual({ id: user.id })
  })

  test('robot models', async () => {
    const admin = await atCommandLine(world, await world.admin())
    const file = join((admin as CliUser).configHome, 'schema.json')
    const schema = { type: 'object', properties: { lamp: { type: 'boolean' } } }
    await writeFile(file, JSON.stringify(schema))
    expect(await json(admin, 'admin robot-models list')).toContainEqual(
      expect.objectContaining({ id: 'ur5e', manufacturer: 'Universal Robots' }),
    )
    expect(await shown(admin, 'admin robot-models list')).toContain('Universal Robots')
    const both = ['--control-schema', file, '--telemetry-schema', file]
    expect(await json(admin, 'admin robot-models update', 'ur5e', ...both)).toMatchObject({
      control_schema: schema,
      telemetry_schema: schema,
    })
    expect(await json(admin, 'admin robot-models show', 'ur5e')).toMatchObject({ telemetry_schema: schema })
    expect(await shown(admin, 'admin robot-models show', 'ur5e')).toMatch(/Control schema +lamp/)
    const cleared = await shown(admin, 'admin robot-models update', 'ur5e', '--telemetry-schema', '')
    expect(cleared).toMatch(/Control schema +lamp/)
    expect(cleared).toMatch(/Telemetry schema +none/)
  })

  test('notification settings', async () => {
    const user = await atCommandLine(world, await world.operator())
    expect(await shown(user, 'notification-settings show')).toMatch(/money +on +on +on[\s\S]*No quiet hours/)
    expect(await json(user, 'notification-settings set', 'money', 'mail', 'off')).toMatchObject({
      matrix: { money: { in_app: true, mail: false, push: true }, stops: { mail: true } },
    })
    expect(await json(user, 'notification-settings show')).toMatchObject({ quiet_hours: null })
    expect(await shown(user, 'notification-settings set', 'exports', 'push', 'off')).toMatch(
      /money +on +off +on[\s\S]*exports +on +on +off/,
    )
    const hours = ['22:00-07:00', '--days', 'mon,fri', '--time-zone', 'Europe/Berlin', '--hold-safety']
    expect(await json(user, 'notification-settings quiet-hours', ...hours)).toMatchObject({
      quiet_hours: {
        start: '22:00',
        end: '07:00',
        days: [1, 5],
        time_zone: 'Europe/Berlin',
        safety_passes: false,
      },
    })
    expect(await shown(user, 'notification-settings quiet-hours', '23:00-06:00')).toMatch(
      /23:00 to 06:00 \(.+\), beginning every day\. Remote stops and lost robots pass\./,
    )
    expect(await shown(user, 'notification-settings quiet-hours', 'off')).toContain('No quiet hours')
    expect(await json(user, 'notification-settings language', 'de')).toMatchObject({ language: 'de' })
    expect(await shown(user, 'notification-settings language', 'en')).toContain('Language of mails: English.')
  })

  test('background jobs', async () => {
    const admin = await atCommandLine(world, await world.admin())
    const queue = quietQueue({ name: 'broken' })
    let broken = true
    await addQueue(world.platform.core.jobs, queue, async () => {
      if (broken) throw new Error('out of paper')
    })
    for (let n = 0; n < 4; n++)
      await world.platform.core.transact(async (tx) => tx.enqueue({ queue, data: { n } }))
    const failed = () => json(admin, 'admin jobs list', '--queue', 'broken')
    const jobs = await waitFor(async () => {
      const found = await failed()
      expect(found).toHaveLength(4)
      return found
    })
    expect(jobs[0]).toMatchObject({ state: 'failed', error: 'out of paper' })
    expect(await shown(admin, 'admin jobs list', '--state', 'failed')).toContain('out of paper')
    expect(await json(admin, 'admin jobs queues')).toContainEqual(
      expect.objectContaining({ name: 'broken', failed: 4 }),
    )
    expect(await shown(admin, 'admin jobs queues')).toMatch(/broken +4 +0/)
    broken = false
    const [first, second, third, fourth] = idsOf(jobs) as [string, string, string, string]
    expect(await json(admin, 'admin jobs retry', first)).toEqual({ id: first, queue: 'broken' })
    expect(await shown(admin, 'admin jobs retry', second)).toContain('runs now')
    expect(await json(admin, 'admin jobs discard', third)).toEqual({ id: third, queue: 'broken' })
    expect(await shown(admin, 'admin jobs discard', fourth)).toContain('is discarded')
    expect(await failed()).toEqual([])
  })

  test('events', async () => {
    const client = await world.client()
    const asOwner = await atCommandLine(world, client)
    const robot = await world.robot(client)
    await client.get('/api/events') // stores events from now on
    const following = program(asOwner, 'events', ['--follow', '--after', 'oldest', '--type', 'robot.*'])
    const link = await world.connect(robot)
    await following.expectText('"status":"AVAILABLE"')
    await link.close()
    await following.expectText('"status":"OFFLINE"')
    following.signal('SIGINT')
    const receivedEvents = entriesOf((await following.done(130)).stdout)
    expect(receivedEvents).toEqual((await client.get('/api/events?types=robot.*')).body.events)
    expect(await shown(asOwner, 'events', '--after', `${receivedEvents[0].seq}`)).toMatch(
      /robot\.status.*OFFLINE[\s\S]*Continue with/,
    )
  })

  test('webhooks', async () => {
    await using receiver = await startReceiver()
    const asOwner = await atCommandLine(world, await world.client())
    const made = await json(
      asOwner,
      'webhooks create',
      receiver.url,
      '--type',
      'session.*',
      '--description',
      'Board',
    )
    expect(made).toMatchObject({
      url: receiver.url,
      types: ['session.*'],
      secret: expect.stringMatching(/^whsec_/),
    })
    expect(await shown(asOwner, 'webhooks create', `${receiver.url}/2`)).toMatch(/whsec_\S+/)
    expect(idsOf(await json(asOwner, 'webhooks list'))).toContain(made.id)
    expect(await shown(asOwner, 'webhooks list')).toContain(receiver.url)
    const { secret, ...seen } = made
    expect(await json(asOwner, 'webhooks show', made.id.slice(0, 8))).toEqual(seen)
    expect(await shown(asOwner, 'webhooks show', receiver.url)).not.toContain(secret)

    const tested = await json(asOwner, 'webhooks test', made.id)
    expect(tested).toMatchObject({ status: 'DELIVERED', type: 'webhook.test', response_status: 200 })
    expect(verify(secret, receiver.received[0] as never)).toMatchObject({ type: 'webhook.test' })
    receiver.answerWith(status(500))
    const failed = await result(asOwner, 'webhooks test', [made.id], 1)
    expect(failed.json).toMatchObject({ status: 'FAILED', response_status: 500 })
    expect(JSON.parse(failed.stderr)).toMatchObject({
      code: 'refused',
      error: expect.stringContaining('500'),
    })
    receiver.answerWith(silence)
    const waiting = await result(asOwner, 'webhooks test', [made.id, '--wait', '1'], 6)
    expect(waiting.json).toMatchObject({ status: 'PENDING' })
    receiver.answerWith(ok)
    expect(await shown(asOwner, 'webhooks test', `${receiver.url}/2`)).toMatch(/Status +DELIVERED/)

    const list = await json(asOwner, 'webhooks deliveries', made.id)
    expect(idsOf(list).at(-1)).toBe(tested.id)
    expect(await shown(asOwner, 'webhooks deliveries', made.id, '--status', 'DELIVERED')).toContain(tested.id)
    expect(await json(asOwner, 'webhooks delivery', made.id, tested.id.slice(0, 8))).toMatchObject({
      ...tested,
      event: { type: 'webhook.test', data: { webhook_id: made.id } },
    })
    expect(await shown(asOwner, 'webhooks delivery', made.id, tested.id)).toContain('webhook.test')
    expect(await json(asOwner, 'webhooks replay', made.id, '--since', '-2h')).toEqual({ replayed: 0 })
    expect(await shown(asOwner, 'webhooks replay', made.id, tested.id)).toContain(
      'One event is scheduled again',
    )
    expect((await result(asOwner, 'webhooks replay', [made.id], 2)).stdout).toBe('')

    expect(await json(asOwner, 'webhooks update', made.id, '--disable')).toMatchObject({ enabled: false })
    expect((await result(asOwner, 'webhooks test', [made.id], 5)).stdout).toBe('')
    expect(await shown(asOwner, 'webhooks update', made.id, '--enable', '--description', '')).toMatch(
      /State +on/,
    )
    const fresh = await json(asOwner, 'webhooks rotate-secret', made.id, '-y')
    expect(fresh).toMatchObject({ old_secret_until: expect.any(String) })
    const leaked = terminal(asOwner, 'webhooks rotate-secret', made.id, '--drop-old')
    await leaked.shows('[y/N]')
    leaked.type(`y${ENTER}`)
    expect(await leaked.done()).toMatch(/no longer signs[\s\S]*whsec_/)
    expect(await json(asOwner, 'webhooks remove', made.id, '-y')).toEqual({ id: made.id, removed: true })
    expect(await succeed(asOwner, 'webhooks remove', `${receiver.url}/2`)).toContain('is removed')
  })

  test('simulated robots, and driving', async () => {
    const [client, operator] = [await world.client(), await world.operator()]
    const [asOwner, asOperator] = await Promise.all(
      [client, operator].map((item) => atCommandLine(world, item)),
    )
    const folder = join((asOwner as CliUser).configHome, 'files')
    await mkdir(folder)
    const file = join(folder, 'robot.json')
    const given = ['Sim', '--type', 'testbot', '--hardware-id', 'sim-1', '--json']
    const made = await program(asOwner as CliUser, 'robots register', given, '').done()
    await writeFile(file, made.stdout)
    const fleet = program(asOwner as CliUser, 'simulate', ['--token-file', file])
    await fleet.expectText('"link":"online"')
    const robotId = made.json.id

    const byKeys = terminal(asOperator as CliUser, 'drive', robotId)
    await byKeys.shows(/online, session ACTIVE/)
    byKeys.type('q')
    await byKeys.done()
    const byPipe = program(asOperator as CliUser, 'drive', [robotId])
    await byPipe.expectText('"started_here":true')
    byPipe.child.stdin?.end()
    expect(entriesOf((await byPipe.done()).stdout)).toEqual([
      { type: 'session', session_id: expect.any(String), started_here: true },
      { type: 'end', reason: 'end of input' },
    ])
    fleet.signal('SIGINT')
    await fleet.done(130)
    await waitFor(async () =>
      expect((await client.get(`/api/client/robots/${robotId}`)).body.status).toBe('OFFLINE'),
    )
    const screen = terminal(asOwner as CliUser, 'simulate', '--token-file', file)
    await screen.shows(/Sim +online/)
    screen.type(CTRL_C)
    await screen.done(130)
    expect(await readFile(file, 'utf8')).toBe(made.stdout)
  })

  test('robots with ROS', async () => {
    await using ros = await startRosbridge()
    const client = await world.client()
    const owner = await atCommandLine(world, client)
    const given = ['Ros', '--type', 'testbot', '--hardware-id', 'ros-1', '--json']
    const made = await program(owner, 'robots register', given, '').done()
    const env = { CONTROL_URL: made.json.control_url, ROBOT_TOKEN: made.json.robot_token }
    const asRobot = await atCommandLine(world, client, env)
    const file = join(asRobot.configHome, 'robot.yaml')
    const from = ['--from', 'rosbridge', '--url', ros.url, '--out', file]
    expect(await json(asRobot, 'ros init', ...from)).toMatchObject({
      topics: 8,
      files: [file, expect.any(String), expect.any(String)],
    })
    expect((await result(asRobot, 'ros init', from, 2)).stderr).toContain('add --force')
    expect(await shown(asRobot, 'ros init', ...from, '--force')).toContain(`Wrote ${file} for 8 topics`)
    const agent = program(asRobot, 'ros run', [file])
    await agent.expectText('platform: online')
    agent.signal('SIGINT')
    await agent.done(130)
    const screen = terminal(asRobot, 'ros run', file)
    await screen.shows('ROS is connected')
    screen.type(CTRL_C)
    await screen.done(130)
  })

  test('MCP, and completion', async () => {
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'hand', version: '1' } },
    }
    const mcp = program(user, 'mcp')
    mcp.child.stdin?.write(`${JSON.stringify(initialize)}\n`)
    await mcp.expectText('"serverInfo"')
    mcp.child.stdin?.end()
    expect(entriesOf((await mcp.done()).stdout)).toMatchObject([
      { id: 1, result: { protocolVersion: '2025-06-18' } },
    ])
    const typed = terminal(user, 'mcp')
    typed.type(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}${ENTER}`)
    await typed.shows('"result"')
    typed.type(CTRL_C)
    await typed.done(130)

    // It writes to the process, not to the streams of the command.
    expect(await terminal(user, 'complete', 'bash').done()).toContain('wheelhouse complete')
    const script = await program(user, 'complete', ['zsh'], '').done()
    expect(script.stdout).toContain('#compdef wheelhouse')
  })
})

test('the tests run every command', () => {
  expect(coverage.missing()).toEqual([])
})
