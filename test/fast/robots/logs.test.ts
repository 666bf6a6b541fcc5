import { ObserverLink, OperatorLink, RobotLink, ticketsOf } from '@wheelhouse/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRobotLogJobs, EVENT_INTERVAL_MS } from '../../../src/modules/robots/robot-log.worker.ts'
import { connectTo } from '../../support/database/sql.ts'
import type { TestRobot } from '../../support/gateway/frame-socket.ts'
import { startReceiver } from '../../support/network/webhook-receiver.ts'
import { openSessionFixture, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let aheadMs = 0
beforeAll(async () => {
  world = await createWorld({
    env: { WEBHOOK_ALLOW_LOOPBACK: 'true' },
    now: () => new Date(Date.now() + aheadMs),
  })
})
afterAll(() => world[Symbol.asyncDispose]())

interface Line {
  readonly seq: number
  readonly level: string
  readonly message: string
  readonly dropped: number
}

async function connectedRobot() {
  const owner = await world.client()
  await owner.get('/api/events') // stores events from now on
  const robot = await world.robot(owner)
  const path = `/api/client/robots/${robot.id}`
  const logs = async (query = ''): Promise<Line[]> => (await owner.get(`${path}/logs${query}`)).body.logs
  return { owner, robot, path, logs, link: (await world.connect(robot)).beat() }
}

const sendLog = (link: TestRobot, level: unknown, message: unknown) =>
  link.send({ type: 'log', level, message })

/** Waits until the gateway has read all frames sent before. */
async function hasRead(link: TestRobot): Promise<void> {
  const seq = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER)
  link.send({ type: 'heartbeat', seq })
  for (;;) if ((await link.next('heartbeat_ack')).seq === seq) return
}

const eventsOf = async (user: TestUser, type: string) =>
  (await user.get(`/api/events?types=${type}`)).body.events.map((event: { data: unknown }) => event.data)

describe('GET /api/client/robots/{id}/logs', () => {
  test('lists the log lines of a robot, newest first, for its owner only', async () => {
    const { robot, path, logs, link } = await connectedRobot()
    const before = Date.now()
    for (const level of ['debug', 'info', 'warn', 'error']) sendLog(link, level, `a ${level} line`)
    await waitFor(async () => expect(await logs()).toHaveLength(4))
    const [newest, ...older] = await logs()
    expect(newest).toEqual({
      seq: 4,
      level: 'error',
      message: 'a error line',
      dropped: 0,
      at: expect.any(String),
    })
    expect(older.map(({ seq, level }) => [seq, level])).toEqual([
      [3, 'warn'],
      [2, 'info'],
      [1, 'debug'],
    ])
    const at = Date.parse((newest as unknown as { at: string }).at)
    expect(at).toBeGreaterThanOrEqual(before - 1_000)
    const [unrelatedUser, operator] = [await world.client(), await world.operator()]
    expect((await unrelatedUser.get(`${path}/logs`)).status).toBe(404)
    expect((await operator.get(`${path}/logs`)).status).toBe(403)
    expect((await unrelatedUser.get(`/api/client/robots/${robot.id}x/logs`)).status).toBe(400)
  })

  test('filters by lowest level, and pages in both directions', async () => {
    const { path, owner, logs, link } = await connectedRobot()
    for (let n = 1; n <= 10; n++) sendLog(link, n % 2 ? 'info' : 'error', `line ${n}`)
    await waitFor(async () => expect(await logs()).toHaveLength(10))
    const numbers = async (query: string) => (await logs(query)).map(({ seq }) => seq)
    expect(await numbers('?level=warn')).toEqual([10, 8, 6, 4, 2])
    expect(await numbers('?limit=3')).toEqual([10, 9, 8])
    expect(await numbers('?before=8&limit=3')).toEqual([7, 6, 5])
    expect(await numbers('?after=7&limit=2')).toEqual([8, 9])
    expect(await numbers('?after=10')).toEqual([])
    expect(await numbers('?after=3&before=6')).toEqual([4, 5])
    for (const query of ['?level=loud', '?before=x', '?before=-1', '?limit=201', '?page=1']) {
      expect((await owner.get(`${path}/logs${query}`)).status, query).toBe(400)
    }
  })
})

describe('a log frame', () => {
  test('is sanitized, not rejected: a long text is truncated, an unknown level becomes info', async () => {
    const { logs, link } = await connectedRobot()
    sendLog(link, 'loud', 'unknown level')
    sendLog(link, undefined, 'no level')
    sendLog(link, { toString: 1, valueOf: 1 }, 'no text at all')
    sendLog(link, '__proto__', 'no own name')
    sendLog(link, 'WARNING', 'another name')
    sendLog(link, 'fatal', 'another name')
    sendLog(link, 'error', 'x'.repeat(5_000))
    sendLog(link, 'info', 'nul \0 and half a pair \ud83d')
    await hasRead(link)
    expect(link.frames).toEqual([])
    await waitFor(async () => expect(await logs()).toHaveLength(8))
    expect((await logs()).map(({ level, message }) => [level, message]).reverse()).toEqual([
      ['info', 'unknown level'],
      ['info', 'no level'],
      ['info', 'no text at all'],
      ['info', 'no own name'],
      ['warn', 'another name'],
      ['error', 'another name'],
      ['error', 'x'.repeat(4_000)],
      ['info', 'nul \u{fffd} and half a pair \u{fffd}'],
    ])
  })

  test('without a text is answered with an error, and the robot stays connected after any number of them', async () => {
    const { logs, link } = await connectedRobot()
    for (let n = 0; n < 20; n++) sendLog(link, 'error', n % 2 ? { deep: true } : undefined)
    await hasRead(link)
    expect(link.frames.filter(({ type }) => type === 'error')).toHaveLength(20)
    expect(await logs()).toEqual([])
  })

  test('reaches the operator and observers of the session immediately', async () => {
    const fixture = await openSessionFixture(world)
    const operator = await world.drive(fixture.operator, fixture.id)
    const observer = await world.drive(fixture.client, fixture.id, 'watch')
    await Promise.all([operator.state(), observer.state()])
    sendLog(fixture.link, 'warn', 'wheel 2 slips')
    for (const participant of [operator, observer]) {
      expect(await participant.next('log')).toEqual({
        type: 'log',
        level: 'warn',
        message: 'wheel 2 slips',
        dropped: 0,
        at: expect.any(Number),
      })
    }
  })
})

describe('bounds', () => {
  test('a robot that logs too fast stays connected; a line contains the number of dropped lines', async () => {
    const { logs, link } = await connectedRobot()
    const sent = 700
    for (let n = 0; n < sent; n++) sendLog(link, 'info', `line ${n}`)
    await hasRead(link)
    await waitFor(async () => {
      const lines = await logs('?limit=200')
      const dropped = lines.reduce((sum, line) => sum + line.dropped, 0)
      expect(dropped + lines.filter((line) => line.dropped === 0).length).toBe(sent)
    })
    const markers = (await logs('?level=error')).filter(({ dropped }) => dropped > 0)
    expect(markers.length).toBeGreaterThan(0)
    expect(markers[0]).toMatchObject({ level: 'warn', message: `${markers[0]?.dropped} log lines dropped` })
    const metrics = await (await fetch(`${world.baseUrl}/metrics`)).text()
    expect(metrics).toMatch(/^wheelhouse_robot_log_lines_total [1-9]/m)
    expect(metrics).toMatch(/^wheelhouse_robot_log_lines_dropped_total [1-9]/m)
  })

  test('observers also see that lines were dropped', async () => {
    const fixture = await openSessionFixture(world)
    const observer = await world.drive(fixture.client, fixture.id, 'watch')
    await observer.state()
    for (let n = 0; n < 300; n++) sendLog(fixture.link, 'info', `line ${n}`)
    await waitFor(() => {
      const marker = observer.frames.find((frame) => frame.type === 'log' && Number(frame.dropped) > 0)
      expect(marker).toMatchObject({ level: 'warn' })
    })
  })

  test('lines wait in order while the database is unreachable', async () => {
    const { logs, link } = await connectedRobot()
    const client = await connectTo(world.database.url)
    await client.query('begin')
    await client.query('lock table robot_logs in access exclusive mode')
    for (let n = 0; n < 50; n++) sendLog(link, 'info', `line ${n}`)
    await hasRead(link)
    await client.end()
    await waitFor(async () => expect(await logs()).toHaveLength(50))
    expect((await logs()).map(({ message }) => message).reverse()).toEqual(
      Array.from({ length: 50 }, (_, n) => `line ${n}`),
    )
  })

  test('the worker removes lines beyond the retention time and beyond the bounds of a robot', async () => {
    const { robot, logs, link } = await connectedRobot()
    for (let n = 1; n <= 30; n++) sendLog(link, 'info', 'ä'.repeat(100))
    await waitFor(async () => expect(await logs()).toHaveLength(30))
    const jobs = (bounds: { linesPerRobot?: number; bytesPerRobot?: number }, days = 7) =>
      createRobotLogJobs({ ...world.platform.core, now: () => new Date(), keptDays: days, bounds })
    const numbers = async () => (await logs()).map(({ seq }) => seq)

    await jobs({}).clean()
    expect(await numbers()).toHaveLength(30)
    await jobs({ linesPerRobot: 20 }).clean()
    expect((await numbers()).at(-1)).toBe(11)
    await jobs({ bytesPerRobot: 1_000 }).clean() // 200 bytes each
    expect(await numbers()).toEqual([30, 29, 28, 27, 26])

    await using database = await connectTo(world.database.url)
    await database.query('update robot_logs set at = at - $2::interval where robot_id = $1 and seq < 29', [
      robot.id,
      '8 days',
    ])
    await jobs({}).clean()
    expect(await numbers()).toEqual([30, 29])
    const kept = await database.query('select bytes::int from robot_log_streams where robot_id = $1', [
      robot.id,
    ])
    expect(kept.rows).toEqual([{ bytes: 400 }])
  })
})

describe('events', () => {
  test('errors raise an event and reach webhooks; lines below the level do not', async () => {
    const { owner, robot, link } = await connectedRobot()
    await using receiver = await startReceiver()
    const hook = await owner.post('/api/webhooks', { url: receiver.url, types: ['robot.log'] })
    expect(hook.status).toBe(201)
    sendLog(link, 'warn', 'nothing much')
    sendLog(link, 'error', 'motor 3 is hot')
    await waitFor(async () => expect(await eventsOf(owner, 'robot.log')).toHaveLength(1))
    const data = {
      robot_id: robot.id,
      robot_name: expect.any(String),
      level: 'error',
      message: 'motor 3 is hot',
      lines: 1,
      since: expect.any(String),
    }
    expect(await eventsOf(owner, 'robot.log')).toEqual([data])
    await waitFor(() => expect(receiver.received).toHaveLength(1))
    expect(receiver.received[0]?.event).toMatchObject({ type: 'robot.log', data })
    expect((await owner.delete(`/api/webhooks/${hook.body.id}`)).status).toBe(204)
  })

  test('a robot that constantly logs errors raises one event a minute, with the number of lines', async () => {
    const { owner, robot, logs, link } = await connectedRobot()
    sendLog(link, 'error', 'first')
    await waitFor(async () => expect(await eventsOf(owner, 'robot.log')).toHaveLength(1))
    for (let n = 0; n < 40; n++) sendLog(link, 'error', `more ${n}`)
    await waitFor(async () => expect(await logs()).toHaveLength(41))
    await world.platform.robots.robotLogJobs.publishEvents()
    const pending = await world.platform.core.db
      .selectFrom('robot_log_streams')
      .select('event_lines')
      .where('robot_id', '=', robot.id)
      .executeTakeFirst()
    expect(pending).toEqual({ event_lines: 40 })
    aheadMs += EVENT_INTERVAL_MS
    await waitFor(async () => expect(await eventsOf(owner, 'robot.log')).toHaveLength(2))
    expect((await eventsOf(owner, 'robot.log'))[1]).toMatchObject({ lines: 40, message: 'more 0' })
  })

  test('the owner sets the level of each robot; the event shows the most severe line', async () => {
    const { owner, path, logs, link } = await connectedRobot()
    expect((await owner.get(path)).body.log_event_level).toBe('error')
    const set = (level: string) => owner.patch(path, { log_event_level: level })
    expect((await set('debug')).status).toBe(400)
    expect((await set('off')).body.log_event_level).toBe('off')
    sendLog(link, 'error', 'while off')
    await waitFor(async () => expect(await logs()).toHaveLength(1))
    expect((await set('warn')).body.log_event_level).toBe('warn')
    // One statement claims both lines, or the second waits for the next run: at most one event a minute in both cases.
    for (const level of ['info', 'warn', 'warn', 'error', 'error'])
      sendLog(link, level, `${level} while warn`)
    await waitFor(async () => expect(await logs()).toHaveLength(6))
    await waitFor(async () => expect(await eventsOf(owner, 'robot.log')).not.toEqual([]))
    aheadMs += EVENT_INTERVAL_MS
    await waitFor(async () => {
      const events: { lines: number; message: string }[] = await eventsOf(owner, 'robot.log')
      expect(events.reduce((sum, { lines }) => sum + lines, 0)).toBe(4)
      expect(events.map(({ message }) => message)).toContain('error while warn')
    })
  })
})

test('a session or a removal of the robot does not block its log', async () => {
  const { owner, path, link, robot, logs } = await connectedRobot()
  const operator = await world.operator()
  const sessionId = await start(operator, robot.id)
  sendLog(link, 'info', 'in session')
  await waitFor(async () => expect(await logs()).toHaveLength(1))
  await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
  expect((await owner.delete(path)).status).toBe(204)
  expect((await owner.get(`${path}/logs`)).status).toBe(404)
})

test('the links of the sdk send and receive log lines and the charge', async () => {
  const [owner, pilot] = [await world.client(), await world.operator()]
  const { id, token } = await world.robot(owner)
  const url = `${world.gatewayUrl}/robots/${id}/control`
  const robot = new RobotLink({ url, token, heartbeat: () => ({ battery: 0.7 }) })
  await robot.connect()
  const sessionId = await start(pilot, id)
  const receivedEvents: string[] = []
  const options = (user: TestUser, part: 'control' | 'watch') => ({
    getTicket: ticketsOf({ baseUrl: world.baseUrl, token: user.token, sessionId, part }),
    onLog: ({ level, message }: { level: string; message: string }) =>
      void receivedEvents.push(`${part} ${level} ${message}`),
  })
  const links = [new OperatorLink(options(pilot, 'control')), new ObserverLink(options(owner, 'watch'))]
  for (const link of links) await link.connect()
  await waitFor(() => {
    for (const link of links) expect(link.battery?.battery).toBe(0.7)
  })
  expect(robot.log('warn', 'wheel 2 slips')).toBe(true)
  await waitFor(() => {
    expect(receivedEvents.toSorted()).toEqual(['control warn wheel 2 slips', 'watch warn wheel 2 slips'])
  })
  for (const link of [...links, robot]) await link.close()
})
