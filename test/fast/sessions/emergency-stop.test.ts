import { RobotLink } from '@wheelhouse/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectTo } from '../../support/database/sql.ts'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { hasRead } from '../../support/world/episodes.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import type { Reply, TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld({ bus: 'redis' })
})
afterAll(() => world[Symbol.asyncDispose]())

const times = (count: number) => Array.from({ length: count }, (_, index) => index)
const count = (replies: readonly Reply[], status: number) =>
  replies.filter((reply) => reply.status === status).length
const typesOf = (entries: readonly { type: string }[]) => entries.map(({ type }) => type)
/** Returns the frames that a robot received, without heartbeat acknowledgements and repeated stops. */
const notified = (link: TestRobot) =>
  link.frames
    .filter(({ type }) => type !== 'heartbeat_ack')
    .filter((frame, index, all) => {
      const since = all.slice(0, index).findLastIndex(({ type }) => type === 'stop_cleared')
      return !(frame.latched && all.slice(since + 1, index).some(({ latched }) => latched))
    })
const latched = (reason: string) => ({ type: 'stop', reason, latched: true })
const unlatched = (reason: string) => ({ type: 'stop', reason, latched: false })
/** Returns a stop without `may_clear`, which depends on the viewer. */
const shared = ({ may_clear: _, ...stop }: Record<string, unknown>) => stop
const stop = (fixture: SessionFixture, user: TestUser, reason?: string) =>
  fixture.performAction(user, 'emergency_stop', reason)
const clear = (fixture: SessionFixture, user: TestUser, reason?: string) =>
  fixture.performAction(user, 'clear_stop', reason)

/** Returns the audit entries of a session, oldest first. */
async function audited(fixture: SessionFixture) {
  const admin = await world.admin()
  const { entries } = (await admin.get(`/api/admin/audit?subject_id=${fixture.id}`)).body
  return entries
    .map(({ action, actor_id, data }: Record<string, unknown>) => ({ action, actor_id, data }))
    .reverse()
}
/** Reconnects the robot of a fixture. Returns the stop in its welcome. */
async function reconnect(fixture: SessionFixture, gatewayUrl = world.gatewayUrl) {
  const link = new TestRobot(`${gatewayUrl}/robots/${fixture.robot.id}/control`, fixture.robot.token)
  const welcome = await link.next('welcome')
  return { link: link.beat(), welcome }
}

describe('PATCH /api/sessions/{id}: emergency_stop', () => {
  test.each(['operator', 'client', 'admin'] as const)(
    'by the %s pauses, latches and notifies both sides',
    async (who) => {
      const fixture = await openSessionFixture(world)
      const user = who === 'admin' ? await world.admin() : fixture[who]
      const reply = await stop(fixture, user, 'a person in the way')

      expect(reply.status).toBe(200)
      expect(reply.body).toMatchObject({
        status: 'PAUSED',
        pause_reason: 'emergency_stop',
        control: {
          connected: true,
          stop: {
            reason: 'a person in the way',
            at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
            by: user.id,
          },
        },
      })
      const seen = (await fixture.read(fixture.operator)).control
      expect(shared(seen.stop)).toEqual(shared(reply.body.control.stop))
      const entries = await fixture.log()
      expect(typesOf(entries)).toEqual(['session.started', 'session.stopped'])
      expect(entries[1]).toMatchObject({
        seq: 2,
        data: { status: 'PAUSED', actor_id: user.id, reason: 'a person in the way' },
      })
      for (const side of [fixture.client, fixture.operator]) {
        expect(await fixture.notificationsOf(side)).toMatchObject([
          { type: 'session.stopped', data: { session_id: fixture.id, reason: 'a person in the way' } },
        ])
      }
      // The session's log is sufficient for stops of the participants; a stop by an admin is audited.
      const performAction = {
        action: 'session.stopped',
        actor_id: user.id,
        data: { reason: 'a person in the way' },
      }
      expect(await audited(fixture)).toEqual(who === 'admin' ? [performAction] : [])
    },
  )

  test('returns 404 to all other users', async () => {
    const fixture = await openSessionFixture(world)
    for (const user of [await world.client(), await world.operator(), await world.newUser()]) {
      expect(await stop(fixture, user)).toMatchObject({ status: 404, body: { error: 'Session not found' } })
    }
    expect(await fixture.read()).toMatchObject({ status: 'ACTIVE', control: { stop: null } })
  })

  test('works without a reason and with an empty one', async () => {
    for (const reason of [undefined, '', '  ']) {
      const fixture = await openSessionFixture(world)
      expect((await stop(fixture, fixture.client, reason)).body.control.stop.reason).toBe('emergency_stop')
      expect(await fixture.link.next('stop')).toEqual(latched('emergency_stop'))
    }
  })

  test('succeeds under a latched stop and does not change its reason', async () => {
    const fixture = await openSessionFixture(world)
    const first = (await stop(fixture, fixture.client, 'first')).body
    const second = await stop(fixture, fixture.operator, 'second')
    expect(second.status).toBe(200)
    expect(shared(second.body.control.stop)).toEqual(shared(first.control.stop))
    expect(typesOf(await fixture.log())).toEqual(['session.started', 'session.stopped'])
    expect(await fixture.notificationsOf(fixture.operator)).toHaveLength(1)
  })

  test('latches in a PAUSED session, whose pause continues unchanged', async () => {
    const fixture = await openSessionFixture(world)
    await fixture.performAction(fixture.client, 'pause', 'lunch')
    const reply = await stop(fixture, fixture.operator, 'smoke')
    expect(reply.body).toMatchObject({
      status: 'PAUSED',
      pause_reason: 'lunch',
      control: { stop: { reason: 'smoke' } },
    })
    expect(typesOf(await fixture.log())).toEqual(['session.started', 'session.paused', 'session.stopped'])
  })

  test('works while the robot is offline, and applies when it reconnects', async () => {
    const fixture = await openSessionFixture(world)
    await fixture.link.close()
    await expect.poll(async () => (await fixture.read()).status).toBe('PAUSED')
    const reply = await stop(fixture, fixture.client, 'stay where you are')
    expect(reply).toMatchObject({ status: 200, body: { control: { connected: false } } })
    const { link, welcome } = await reconnect(fixture)
    expect(welcome).toMatchObject({
      session: { session_id: fixture.id, status: 'PAUSED' },
      stop: { reason: 'stay where you are', latched: true },
    })
    await expect.poll(async () => (await fixture.read()).control.connected).toBe(true)
    await link.close()
  })

  test('is rejected only when the session is not open', async () => {
    const fixture = await openSessionFixture(world)
    await fixture.performAction(fixture.operator, 'end')
    for (const user of [fixture.client, fixture.operator, await world.admin()]) {
      expect(await stop(fixture, user)).toMatchObject({
        status: 409,
        body: { error: expect.stringContaining('active or paused') },
      })
    }
    expect(typesOf(await fixture.log())).toEqual(['session.started', 'session.ended'])
  })
})

describe('PATCH /api/sessions/{id}: while a stop is latched', () => {
  test('resume is rejected until the stop is cleared; clearing does not resume and is audited', async () => {
    const fixture = await openSessionFixture(world)
    const stopped = (await stop(fixture, fixture.client, 'cable')).body.control.stop
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await fixture.performAction(fixture.operator, 'resume')).toMatchObject({
        status: 409,
        body: { error: expect.stringContaining('stop is latched') },
      })
    }
    const cleared = await clear(fixture, fixture.client, 'cable moved')
    expect(cleared).toMatchObject({
      status: 200,
      body: { status: 'PAUSED', control: { connected: true, stop: null } },
    })
    expect(await audited(fixture)).toEqual([
      {
        action: 'session.stop_cleared',
        actor_id: fixture.client.id,
        data: {
          stop_reason: 'cable',
          stop_at: stopped.at,
          stop_by_id: fixture.client.id,
          stop_by_role: 'client',
          reason: 'cable moved',
        },
      },
    ])
    expect(await fixture.performAction(fixture.operator, 'resume')).toMatchObject({ status: 200 })
    const entries = await fixture.log()
    expect(typesOf(entries)).toEqual([
      'session.started',
      'session.stopped',
      'session.stop_cleared',
      'session.resumed',
    ])
    expect(entries[2]?.data).toEqual({
      status: 'PAUSED',
      actor_id: fixture.client.id,
      reason: 'cable moved',
    })
    for (const side of [fixture.client, fixture.operator]) {
      expect(typesOf(await fixture.notificationsOf(side)).slice(0, 2)).toEqual([
        'session.stopped',
        'session.stop_cleared',
      ])
    }
  })

  test('a stop of the operator can be cleared by operator, client or admin', async () => {
    for (const who of ['operator', 'client', 'admin'] as const) {
      const fixture = await openSessionFixture(world)
      const user = who === 'admin' ? await world.admin() : fixture[who]
      await stop(fixture, fixture.operator)
      expect(await clear(fixture, await world.operator())).toMatchObject({ status: 404 })
      expect(await clear(fixture, user)).toMatchObject({ status: 200 })
      expect(await clear(fixture, user)).toMatchObject({
        status: 409,
        body: { error: expect.stringContaining('no latched stop') },
      })
    }
  })

  test('the paused time continues, and neither stop nor clear restarts it', async () => {
    let clockMs = Date.now()
    await using slow = await createWorld({ now: () => new Date(clockMs) })
    const fixture = await openSessionFixture(slow)
    await fixture.performAction(fixture.client, 'pause')
    clockMs += 10_000
    await stop(fixture, fixture.client)
    clockMs += 10_000
    await clear(fixture, fixture.client)
    clockMs += 10_000
    expect((await fixture.performAction(fixture.operator, 'resume')).body.paused_seconds).toBe(30)
    clockMs += 5_000
    await stop(fixture, fixture.operator)
    clockMs += 7_000
    expect((await fixture.performAction(fixture.operator, 'end')).body.paused_seconds).toBe(37)
  })

  test('the session may end, which clears the stop; the next session starts without one', async () => {
    const fixture = await openSessionFixture(world)
    await stop(fixture, fixture.client, 'enough')
    const ended = await fixture.performAction(fixture.client, 'end')
    expect(ended).toMatchObject({ status: 200, body: { status: 'COMPLETED', control: { stop: null } } })
    const next = await fixture.operator.post('/api/sessions', { robotId: fixture.robot.id })
    expect(next.status).toBe(201)
    await waitFor(() => expect(notified(fixture.link)).toHaveLength(7))
    expect(notified(fixture.link)).toMatchObject([
      { type: 'session', session_id: fixture.id, status: 'ACTIVE' },
      latched('enough'),
      { type: 'session', session_id: fixture.id, status: 'PAUSED' },
      { type: 'session', session_id: fixture.id, status: 'COMPLETED' },
      { type: 'stop_cleared' },
      unlatched('session_over'),
      { type: 'session', session_id: next.body.sessionId, status: 'ACTIVE' },
    ])
    expect((await fixture.operator.get(`/api/sessions/${next.body.sessionId}`)).body.control.stop).toBe(null)
  })

  test('the database rejects any status but PAUSED', async () => {
    const fixture = await openSessionFixture(world)
    await stop(fixture, fixture.client)
    await using database = await connectTo(world.database.url)
    const set = (change: string) =>
      database.query(`update sessions set ${change} where id = $1`, [fixture.id])
    await expect(set(`status = 'ACTIVE', active_until = null`)).rejects.toMatchObject({
      constraint: 'sessions_stop_pauses',
    })
    await expect(set('stop_reason = null')).rejects.toMatchObject({ constraint: 'sessions_stop_reason' })
  })
})

describe('over the hub', () => {
  test('operator, client and admin stop, client and admin clear; all observers see it', async () => {
    const fixture = await openSessionFixture(world)
    const admin = await world.admin()
    const sockets = await Promise.all([fixture.operator, fixture.client, admin].map((user) => user.hub()))
    const [operator, client, observer] = sockets as [
      (typeof sockets)[0],
      (typeof sockets)[0],
      (typeof sockets)[0],
    ]
    for (const socket of sockets) {
      const { session } = await socket.send('session:watch', { session_id: fixture.id })
      expect(session.control).toEqual({
        connected: true,
        operator_joined: false,
        operator_gone_since: null,
        stop: null,
      })
    }
    const send = (socket: typeof operator, action: string) =>
      socket.send('session:action', { session_id: fixture.id, action, reason: 'test' })

    let seq = 1
    for (const socket of sockets) {
      expect(await send(socket, 'emergency_stop')).toMatchObject({
        ok: true,
        session: { status: 'PAUSED', control: { stop: { reason: 'test' } } },
      })
      seq++
      for (const each of sockets) await each.saw('session:event', { type: 'session.stopped', seq })
      expect(await send(operator, 'resume')).toMatchObject({ ok: false, status: 409 })
      if (socket !== operator) {
        expect(await send(operator, 'clear_stop')).toMatchObject({ ok: false, status: 403 })
      }
      const clearer = socket === client ? observer : client
      expect(await send(clearer, 'clear_stop')).toMatchObject({ ok: true, session: { status: 'PAUSED' } })
      seq++
      for (const each of sockets) await each.saw('session:event', { type: 'session.stop_cleared', seq })
    }
    await operator.saw('notification', { type: 'session.stopped' })
    await client.saw('notification', { type: 'session.stop_cleared' })
    const unrelatedUser = await (await world.client()).hub()
    expect(await send(unrelatedUser, 'emergency_stop')).toMatchObject({ ok: false, status: 404 })
  })
})

describe('the robot', () => {
  test('receives the stop first, then the clear, and remains halted until the session resumes', async () => {
    const fixture = await openSessionFixture(world)
    const session = (status: string) => ({ type: 'session', session_id: fixture.id, status })
    const expected: unknown[] = [session('ACTIVE')]
    const saw = () => waitFor(() => expect(notified(fixture.link)).toMatchObject(expected))
    await saw()

    await stop(fixture, fixture.client, 'smoke')
    expected.push(latched('smoke'), session('PAUSED'))
    await saw()

    await clear(fixture, fixture.client)
    expected.push({ type: 'stop_cleared' }, unlatched('session_paused'))
    await saw()

    await fixture.performAction(fixture.operator, 'resume')
    expected.push(session('ACTIVE'))
    await saw()
    expect(notified(fixture.link)).toHaveLength(expected.length)
  })

  test('may echo the longest possible reason after it has halted', async () => {
    const fixture = await openSessionFixture(world)
    const reason = 'é'.repeat(500)
    await stop(fixture, fixture.client, reason)
    expect(await fixture.link.next('stop')).toEqual(latched(reason))
    fixture.link.send({ type: 'stopped', reason })
    fixture.link.send({ type: 'heartbeat', seq: 987_654 })
    while ((await fixture.link.next('heartbeat_ack')).seq !== 987_654);
    expect(typesOf(fixture.link.frames)).not.toContain('error')
    expect(await stop(fixture, fixture.client, `${reason}é`)).toMatchObject({ status: 400 })
  })

  test('that reconnects receives the stop in every welcome until it is cleared', async () => {
    const fixture = await openSessionFixture(world)
    await stop(fixture, fixture.operator, 'held')
    for (let time = 0; time < 3; time++) {
      const { welcome } = await reconnect(fixture)
      expect(welcome).toMatchObject({
        session: { session_id: fixture.id, status: 'PAUSED' },
        stop: { reason: 'held', latched: true },
      })
    }
    await clear(fixture, fixture.operator)
    const { link, welcome } = await reconnect(fixture)
    expect(welcome).toMatchObject({ session: { status: 'PAUSED' }, stop: null })
    await link.close()
  })

  test('receives the stop at another gateway after its gateway was restarted', async () => {
    const before = await world.addNode('gateway')
    const fixture = await openSessionFixture(world)
    const { link } = await reconnect(fixture, before.gatewayUrl)
    await stop(fixture, fixture.client, 'across restarts')
    expect(await link.next('stop')).toEqual(latched('across restarts'))

    await before.stop()
    expect(await link.closed).toBe(4503)
    const after = await world.addNode('gateway')
    const back = await reconnect(fixture, after.gatewayUrl)
    expect(back.welcome.stop).toEqual({ reason: 'across restarts', latched: true })
    expect(await fixture.performAction(fixture.operator, 'resume')).toMatchObject({ status: 409 })

    await clear(fixture, fixture.client)
    await back.link.next('stop_cleared')
    await expect.poll(async () => (await fixture.read()).control.connected).toBe(true)
    expect(await fixture.performAction(fixture.operator, 'resume')).toMatchObject({ status: 200 })
    await back.link.close()
  })

  test('that was offline while the stop was cleared, or while its session ended, receives no stop', async () => {
    for (const action of ['clear_stop', 'end']) {
      const fixture = await openSessionFixture(world)
      await stop(fixture, fixture.client)
      await fixture.link.next('stop')
      await fixture.link.close()
      await fixture.performAction(fixture.client, action)
      const { link, welcome } = await reconnect(fixture)
      expect(welcome.stop).toBe(null)
      await link.close()
    }
  })

  test('of the sdk retains the stop across a lost connection, and drops it after the clear', async () => {
    await using network = await createTcpProxy(world.gatewayUrl)
    const fixture = await openSessionFixture(world)
    const link = new RobotLink({
      url: new URL(`/robots/${fixture.robot.id}/control`, network.url).href,
      token: fixture.robot.token,
      reconnect: { baseMs: 10, maxMs: 50 },
    })
    const first = await link.connect()
    await stop(fixture, fixture.client, 'sdk')
    const predicate = () => waitFor(() => expect(link.stop).toEqual({ reason: 'sdk', latched: true }))
    await predicate()
    network.cut()
    await waitFor(() => expect(link.state).not.toBe('online'))
    network.restore()
    await waitFor(() => expect(link.epoch).toBe(first.epoch + 1))
    await predicate()

    await clear(fixture, fixture.client)
    const pausedOnly = { reason: 'session_paused', latched: false }
    await waitFor(() => expect(link.stop).toEqual(pausedOnly))
    await link.close()
  })
})

describe('concurrently', () => {
  test('many stops latch once, with the reason of the first', async () => {
    const fixture = await openSessionFixture(world)
    const users = [fixture.client, fixture.operator, await world.admin()]
    const replies = await Promise.all(
      times(25).map((index) => stop(fixture, users[index % 3] as TestUser, `reason ${index}`)),
    )
    expect(count(replies, 200)).toBe(25)
    const entries = await fixture.log()
    const { reason, by, by_role } = (await fixture.read()).control.stop
    // The first stop of the owner or an admin after the operator's is logged too: it revokes the operator's right to clear it.
    const stops = by_role === 'operator' ? 2 : 1
    expect(typesOf(entries)).toEqual(['session.started', ...times(stops).map(() => 'session.stopped')])
    expect(entries[1]?.data).toMatchObject({ reason, actor_id: by })
    expect(await fixture.notificationsOf(fixture.client)).toHaveLength(stops)
  })

  test('stops and ends: the session ends, and no stop remains', async () => {
    for (let round = 0; round < 10; round++) {
      const fixture = await openSessionFixture(world)
      const replies = await Promise.all([
        ...times(4).map(() => stop(fixture, fixture.client)),
        fixture.performAction(fixture.operator, 'end'),
        ...times(4).map(() => stop(fixture, fixture.operator)),
      ])
      expect(replies[4]?.status).toBe(200)
      for (const { status } of replies) expect([200, 409]).toContain(status)
      expect(await fixture.read()).toMatchObject({ status: 'COMPLETED', control: { stop: null } })
      const entries = await fixture.log()
      expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
      expect(entries.at(-1)?.type).toBe('session.ended')
      await fixture.link.close()
    }
  })

  test('stops, clears and resumes: never ACTIVE under a stop, and the log alternates', async () => {
    const fixture = await openSessionFixture(world)
    const actions = ['emergency_stop', 'resume', 'clear_stop', 'resume']
    for (let round = 0; round < 8; round++) {
      const replies = await Promise.all(
        times(12).map((n) => fixture.performAction(fixture.operator, actions[n % 4] as string)),
      )
      expect(replies.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
      const { status, control } = await fixture.read()
      if (control.stop) expect(status).toBe('PAUSED')
    }
    let stopped = false
    let active = true
    for (const { type } of (await fixture.log()).slice(1)) {
      if (type === 'session.stopped') {
        expect(stopped, 'a stop upon a stop makes no entry').toBe(false)
        stopped = true
        active = false
      } else if (type === 'session.stop_cleared') {
        expect(stopped).toBe(true)
        stopped = false
      } else {
        expect(type).toBe('session.resumed')
        expect({ stopped, active }).toEqual({ stopped: false, active: false })
        active = true
      }
    }
  })

  test('a clear that waits behind another stop request does not clear that one', async () => {
    const fixture = await openSessionFixture(world)
    await stop(fixture, fixture.client)
    const sql = await connectTo(world.database.url)
    const waiting = async () => {
      const { rows } = await sql.query<{ count: number }>(
        `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows[0]?.count
    }
    await sql.query('begin')
    await sql.query('select from robots where id = $1 for update', [fixture.robot.id])
    const pressing = stop(fixture, fixture.client)
    await waitFor(async () => expect(await waiting()).toBe(1))
    const clearing = clear(fixture, fixture.operator)
    await waitFor(async () => expect(await waiting()).toBe(2))
    const releasedMs = Date.now()
    await sql.query('rollback')
    await sql.end()
    expect((await pressing).status).toBe(200)
    expect(await clearing).toMatchObject({ status: 409, body: { error: expect.stringContaining('again') } })
    expect((await fixture.read()).control.stop).not.toBeNull()

    expect((await clear(fixture, fixture.client)).status).toBe(200)
    expect((await fixture.performAction(fixture.operator, 'resume')).status).toBe(200)
    const [, , cleared, resumed] = await fixture.log()
    expect(Date.parse(cleared?.at ?? '')).toBeGreaterThanOrEqual(releasedMs)
    expect(Date.parse(resumed?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(cleared?.at ?? ''))
  })

  test('an action that waits for a lock is logged with the time after the wait', async () => {
    const fixture = await openSessionFixture(world)
    const sql = await connectTo(world.database.url)
    await sql.query('begin')
    await sql.query('select from robots where id = $1 for update', [fixture.robot.id])
    const pausing = fixture.performAction(fixture.operator, 'pause')
    await waitFor(async () => {
      const { rows } = await sql.query(`select from pg_locks where not granted`)
      expect(rows.length).toBeGreaterThan(0)
    })
    const releasedMs = Date.now()
    await sql.query('rollback')
    await sql.end()
    expect((await pausing).status).toBe(200)
    const [, paused] = await fixture.log()
    expect(Date.parse(paused?.at ?? '')).toBeGreaterThanOrEqual(releasedMs)
  })
})

// Each of these tests waits for seconds that other processes measure.
describe.concurrent('with other processes', () => {
  test('the gateway repeats a stop over every connection until the robot confirms that it has halted', async () => {
    const fixture = await openSessionFixture(world)
    await stop(fixture, fixture.client, 'smoke')
    for (let time = 0; time < 3; time++) expect(await fixture.link.next('stop')).toEqual(latched('smoke'))
    const { link, welcome } = await reconnect(fixture)
    expect(welcome.stop).toEqual({ reason: 'smoke', latched: true })
    expect(await link.next('stop')).toEqual(latched('smoke'))
    link.send({ type: 'stopped', reason: 'smoke' })
    await hasRead(link)
    link.frames.length = 0
    for (let count = 0; count < 13; count++) await link.next('heartbeat_ack')
    expect(link.frames.filter(({ type }) => type === 'stop')).toEqual([])
    await link.close()
  })

  test('a stop and the loss of the robot are both in the log, and the stop is latched', async () => {
    const race = async () => {
      const fixture = await openSessionFixture(world)
      fixture.link.destroy()
      expect(await stop(fixture, fixture.client, 'race')).toMatchObject({ status: 200 })
      const types = ['robot.lost', 'session.started', 'session.stopped']
      await waitFor(async () => expect(typesOf(await fixture.log()).toSorted()).toEqual(types))
      expect(await fixture.read()).toMatchObject({
        status: 'PAUSED',
        control: { connected: false, stop: { reason: 'race' } },
      })
      await fixture.performAction(fixture.client, 'end')
    }
    await Promise.all(times(5).map(race))
  })

  test('a stop waits at most some seconds for a process that froze inside a transaction', async () => {
    const fixture = await openSessionFixture(world)
    let frozen: Promise<unknown> | undefined
    let thaw = () => {}
    await new Promise<void>((locked) => {
      const predicate = new Promise<void>((resolve) => {
        thaw = resolve
      })
      frozen = world.platform.core.db.transaction().execute(async (trx) => {
        await trx.selectFrom('robots').select('id').where('id', '=', fixture.robot.id).forUpdate().execute()
        locked()
        await predicate
        await trx.selectFrom('robots').select('id').execute()
      })
    })
    const refused = expect(frozen).rejects.toThrow()
    expect(await stop(fixture, fixture.client, 'now')).toMatchObject({ status: 200 })
    thaw()
    await refused
    expect(await fixture.link.next('stop')).toEqual(latched('now'))
    await fixture.performAction(fixture.client, 'end')
  })
})
