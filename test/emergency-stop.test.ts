import { RobotLink } from '@wheelhouse/sdk'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openScene, type Scene } from './support/cast.ts'
import { hasRead } from './support/episodes.ts'
import { TestRobot } from './support/frame-socket.ts'
import type { Person, Reply } from './support/person.ts'
import { connectTo } from './support/sql.ts'
import { createTcpProxy } from './support/tcp-proxy.ts'
import { createWorld, type World } from './support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld({ bus: 'redis' })
})
afterAll(() => world[Symbol.asyncDispose]())

const times = (count: number) => Array.from({ length: count }, (_, index) => index)
const count = (replies: readonly Reply[], status: number) =>
  replies.filter((reply) => reply.status === status).length
const typesOf = (entries: readonly { type: string }[]) => entries.map(({ type }) => type)
/** What a robot was told, answers to heartbeats and repetitions of a stop aside. */
const told = (link: TestRobot) =>
  link.frames
    .filter(({ type }) => type !== 'heartbeat_ack')
    .filter((frame, index, all) => {
      const since = all.slice(0, index).findLastIndex(({ type }) => type === 'stop_cleared')
      return !(frame.latched && all.slice(since + 1, index).some(({ latched }) => latched))
    })
const latched = (reason: string) => ({ type: 'stop', reason, latched: true })
const unlatched = (reason: string) => ({ type: 'stop', reason, latched: false })
const stop = (scene: Scene, person: Person, reason?: string) => scene.act(person, 'emergency_stop', reason)
const clear = (scene: Scene, person: Person, reason?: string) => scene.act(person, 'clear_stop', reason)

/** What the audit log says of a session, oldest first. */
async function audited(scene: Scene) {
  const admin = await world.admin()
  const { entries } = (await admin.get(`/api/admin/audit?subject_id=${scene.id}`)).body
  return entries
    .map(({ action, actor_id, data }: Record<string, unknown>) => ({ action, actor_id, data }))
    .reverse()
}
/** A new connection of the robot of a scene; answers with the stop of its welcome. */
async function reconnect(scene: Scene, gatewayUrl = world.gatewayUrl) {
  const link = new TestRobot(`${gatewayUrl}/robots/${scene.robot.id}/control`, scene.robot.token)
  const welcome = await link.next('welcome')
  return { link: link.beat(), welcome }
}

describe('PATCH /api/sessions/{id}: emergency_stop', () => {
  test.each(['operator', 'client', 'admin'] as const)(
    'by the %s pauses, latches and tells both',
    async (who) => {
      const scene = await openScene(world)
      const person = who === 'admin' ? await world.admin() : scene[who]
      const reply = await stop(scene, person, 'somebody in the way')

      expect(reply.status).toBe(200)
      expect(reply.body).toMatchObject({
        ...{ status: 'PAUSED', pause_reason: 'emergency_stop' },
        control: {
          connected: true,
          stop: {
            reason: 'somebody in the way',
            at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
            by: person.id,
          },
        },
      })
      expect(await scene.read(scene.operator)).toMatchObject({ control: reply.body.control })
      const entries = await scene.log()
      expect(typesOf(entries)).toEqual(['session.started', 'session.stopped'])
      expect(entries[1]).toMatchObject({
        seq: 2,
        data: { status: 'PAUSED', actor_id: person.id, reason: 'somebody in the way' },
      })
      for (const side of [scene.client, scene.operator]) {
        expect(await scene.told(side)).toMatchObject([
          { type: 'session.stopped', data: { session_id: scene.id, reason: 'somebody in the way' } },
        ])
      }
      // The parties' own stops stand in the session's log; somebody else's is a privileged act.
      const act = {
        action: 'session.stopped',
        actor_id: person.id,
        data: { reason: 'somebody in the way' },
      }
      expect(await audited(scene)).toEqual(who === 'admin' ? [act] : [])
    },
  )

  test('is for nobody else: 404', async () => {
    const scene = await openScene(world)
    for (const person of [await world.client(), await world.operator(), await world.somebody()]) {
      expect(await stop(scene, person)).toMatchObject({ status: 404, body: { error: 'Session not found' } })
    }
    expect(await scene.read()).toMatchObject({ status: 'ACTIVE', control: { stop: null } })
  })

  test('without a reason, or with an empty one, is still one', async () => {
    for (const reason of [undefined, '', '  ']) {
      const scene = await openScene(world)
      expect((await stop(scene, scene.client, reason)).body.control.stop.reason).toBe('emergency_stop')
      expect(await scene.link.next('stop')).toEqual(latched('emergency_stop'))
    }
  })

  test('upon a stop is fine and changes nothing: the first one stands', async () => {
    const scene = await openScene(world)
    const first = (await stop(scene, scene.client, 'first')).body
    const second = await stop(scene, scene.operator, 'second')
    expect(second.status).toBe(200)
    expect(second.body.control).toEqual(first.control)
    expect(typesOf(await scene.log())).toEqual(['session.started', 'session.stopped'])
    expect(await scene.told(scene.operator)).toHaveLength(1)
  })

  test('latches a session that is PAUSED already, and its pause goes on as it was', async () => {
    const scene = await openScene(world)
    await scene.act(scene.client, 'pause', 'lunch')
    const reply = await stop(scene, scene.operator, 'smoke')
    expect(reply.body).toMatchObject({
      ...{ status: 'PAUSED', pause_reason: 'lunch', control: { stop: { reason: 'smoke' } } },
    })
    expect(typesOf(await scene.log())).toEqual(['session.started', 'session.paused', 'session.stopped'])
  })

  test('works while the robot is away, and awaits it', async () => {
    const scene = await openScene(world)
    await scene.link.close()
    await expect.poll(async () => (await scene.read()).status, { timeout: 10_000 }).toBe('PAUSED')
    const reply = await stop(scene, scene.client, 'stay where you are')
    expect(reply).toMatchObject({ status: 200, body: { control: { connected: false } } })
    const { link, welcome } = await reconnect(scene)
    expect(welcome).toMatchObject({
      session: { session_id: scene.id, status: 'PAUSED' },
      stop: { reason: 'stay where you are', latched: true },
    })
    await expect.poll(async () => (await scene.read()).control.connected, { timeout: 10_000 }).toBe(true)
    await link.close()
  })

  test('is refused only when the session is not open', async () => {
    const scene = await openScene(world)
    await scene.act(scene.operator, 'end')
    for (const person of [scene.client, scene.operator, await world.admin()]) {
      expect(await stop(scene, person)).toMatchObject({
        ...{ status: 409, body: { error: expect.stringContaining('ACTIVE or PAUSED') } },
      })
    }
    expect(typesOf(await scene.log())).toEqual(['session.started', 'session.ended'])
  })
})

describe('PATCH /api/sessions/{id}: while a stop is latched', () => {
  test('resume is refused, until it was cleared; clearing alone moves nothing and is audited', async () => {
    const scene = await openScene(world)
    const stopped = (await stop(scene, scene.client, 'cable')).body.control.stop
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await scene.act(scene.operator, 'resume')).toMatchObject({
        ...{ status: 409, body: { error: expect.stringContaining('stop is in force') } },
      })
    }
    const cleared = await clear(scene, scene.operator, 'cable moved')
    expect(cleared).toMatchObject({
      ...{ status: 200, body: { status: 'PAUSED', control: { connected: true, stop: null } } },
    })
    expect(await audited(scene)).toEqual([
      {
        ...{ action: 'session.stop_cleared', actor_id: scene.operator.id },
        data: {
          ...{ stop_reason: 'cable', stop_at: stopped.at, stop_by_id: scene.client.id },
          reason: 'cable moved',
        },
      },
    ])
    expect(await scene.act(scene.operator, 'resume')).toMatchObject({ status: 200 })
    const entries = await scene.log()
    expect(typesOf(entries)).toEqual([
      ...['session.started', 'session.stopped', 'session.stop_cleared', 'session.resumed'],
    ])
    expect(entries[2]?.data).toEqual({
      ...{ status: 'PAUSED', actor_id: scene.operator.id, reason: 'cable moved' },
    })
    for (const side of [scene.client, scene.operator]) {
      expect(typesOf(await scene.told(side)).slice(0, 2)).toEqual(['session.stopped', 'session.stop_cleared'])
    }
  })

  test('operator and client may clear it, also the other one’s; an admin may not', async () => {
    for (const who of ['operator', 'client'] as const) {
      const scene = await openScene(world)
      await stop(scene, scene[who === 'client' ? 'operator' : 'client'])
      expect(await clear(scene, await world.admin())).toMatchObject({ status: 403 })
      expect(await clear(scene, await world.operator())).toMatchObject({ status: 404 })
      expect(await clear(scene, scene[who])).toMatchObject({ status: 200 })
      expect(await clear(scene, scene[who])).toMatchObject({
        ...{ status: 409, body: { error: expect.stringContaining('No stop') } },
      })
    }
  })

  test('the paused time runs on, and neither stop nor clearing begins it anew', async () => {
    let clockMs = Date.now()
    await using slow = await createWorld({ now: () => new Date(clockMs) })
    const scene = await openScene(slow)
    await scene.act(scene.client, 'pause')
    clockMs += 10_000
    await stop(scene, scene.client)
    clockMs += 10_000
    await clear(scene, scene.client)
    clockMs += 10_000
    expect((await scene.act(scene.operator, 'resume')).body.paused_seconds).toBe(30)
    clockMs += 5_000
    await stop(scene, scene.operator)
    clockMs += 7_000
    expect((await scene.act(scene.operator, 'end')).body.paused_seconds).toBe(37)
  })

  test('the session may end; then no stop is in force, and the next session begins without one', async () => {
    const scene = await openScene(world)
    await stop(scene, scene.client, 'enough')
    const ended = await scene.act(scene.client, 'end')
    expect(ended).toMatchObject({ status: 200, body: { status: 'COMPLETED', control: { stop: null } } })
    const next = await scene.operator.post('/api/sessions', { robotId: scene.robot.id })
    expect(next.status).toBe(201)
    await vi.waitFor(() => expect(told(scene.link)).toHaveLength(7), 10_000)
    expect(told(scene.link)).toMatchObject([
      { type: 'session', session_id: scene.id, status: 'ACTIVE' },
      latched('enough'),
      { type: 'session', session_id: scene.id, status: 'PAUSED' },
      { type: 'session', session_id: scene.id, status: 'COMPLETED' },
      { type: 'stop_cleared' },
      unlatched('session_over'),
      { type: 'session', session_id: next.body.sessionId, status: 'ACTIVE' },
    ])
    expect((await scene.operator.get(`/api/sessions/${next.body.sessionId}`)).body.control.stop).toBe(null)
  })

  test('the database lets the session be nothing but PAUSED', async () => {
    const scene = await openScene(world)
    await stop(scene, scene.client)
    await using database = await connectTo(world.database.url)
    const set = (change: string) => database.query(`update sessions set ${change} where id = $1`, [scene.id])
    await expect(set(`status = 'ACTIVE', active_until = null`)).rejects.toMatchObject({
      constraint: 'sessions_stop_pauses',
    })
    await expect(set('stop_reason = null')).rejects.toMatchObject({ constraint: 'sessions_stop_reason' })
  })
})

describe('over the hub', () => {
  test('operator, client and admin stop; operator and client clear; all who watch see it', async () => {
    const scene = await openScene(world)
    const admin = await world.admin()
    const sockets = await Promise.all([scene.operator, scene.client, admin].map((person) => person.hub()))
    const [operator, client, watcher] = sockets as [
      (typeof sockets)[0],
      (typeof sockets)[0],
      (typeof sockets)[0],
    ]
    for (const socket of sockets) {
      const { session } = await socket.send('session:watch', { session_id: scene.id })
      expect(session.control).toEqual({ connected: true, operator_joined: false, stop: null })
    }
    const send = (socket: typeof operator, action: string) =>
      socket.send('session:action', { session_id: scene.id, action, reason: 'test' })

    let seq = 1
    for (const socket of sockets) {
      expect(await send(socket, 'emergency_stop')).toMatchObject({
        ...{ ok: true, session: { status: 'PAUSED', control: { stop: { reason: 'test' } } } },
      })
      seq++
      for (const each of sockets) await each.saw('session:event', { type: 'session.stopped', seq })
      expect(await send(operator, 'resume')).toMatchObject({ ok: false, status: 409 })
      expect(await send(watcher, 'clear_stop')).toMatchObject({ ok: false, status: 403 })
      expect(await send(client, 'clear_stop')).toMatchObject({ ok: true, session: { status: 'PAUSED' } })
      seq++
      for (const each of sockets) await each.saw('session:event', { type: 'session.stop_cleared', seq })
    }
    await operator.saw('notification', { type: 'session.stopped' })
    await client.saw('notification', { type: 'session.stop_cleared' })
    const stranger = await (await world.client()).hub()
    expect(await send(stranger, 'emergency_stop')).toMatchObject({ ok: false, status: 404 })
  })
})

describe('the robot', () => {
  test('hears the stop first, then its clearing, and stands until it is resumed', async () => {
    const scene = await openScene(world)
    const session = (status: string) => ({ type: 'session', session_id: scene.id, status })
    const expected: unknown[] = [session('ACTIVE')]
    const saw = () => vi.waitFor(() => expect(told(scene.link)).toMatchObject(expected), 10_000)
    await saw()

    await stop(scene, scene.client, 'smoke')
    expected.push(latched('smoke'), session('PAUSED'))
    await saw()

    await clear(scene, scene.client)
    expected.push({ type: 'stop_cleared' }, unlatched('session_paused'))
    await saw()

    await scene.act(scene.operator, 'resume')
    expected.push(session('ACTIVE'))
    await saw()
    expect(told(scene.link)).toHaveLength(expected.length)
  })

  test('may echo the longest reason there is when it stands', async () => {
    const scene = await openScene(world)
    const reason = 'é'.repeat(500)
    await stop(scene, scene.client, reason)
    expect(await scene.link.next('stop')).toEqual(latched(reason))
    scene.link.send({ type: 'stopped', reason })
    scene.link.send({ type: 'heartbeat', seq: 987_654 })
    while ((await scene.link.next('heartbeat_ack')).seq !== 987_654);
    expect(typesOf(scene.link.frames)).not.toContain('error')
    expect(await stop(scene, scene.client, `${reason}é`)).toMatchObject({ status: 400 })
  })

  test('that connects again finds the stop in every welcome until it is cleared', async () => {
    const scene = await openScene(world)
    await stop(scene, scene.operator, 'held')
    for (let time = 0; time < 3; time++) {
      const { welcome } = await reconnect(scene)
      expect(welcome).toMatchObject({
        session: { session_id: scene.id, status: 'PAUSED' },
        stop: { reason: 'held', latched: true },
      })
    }
    await clear(scene, scene.operator)
    const { link, welcome } = await reconnect(scene)
    expect(welcome).toMatchObject({ session: { status: 'PAUSED' }, stop: null })
    await link.close()
  })

  test('finds the stop at another gateway after its own was restarted', async () => {
    const before = await world.addNode('gateway')
    const scene = await openScene(world)
    const { link } = await reconnect(scene, before.gatewayUrl)
    await stop(scene, scene.client, 'across restarts')
    expect(await link.next('stop')).toEqual(latched('across restarts'))

    await before.stop()
    expect(await link.closed).toBe(4503)
    const after = await world.addNode('gateway')
    const back = await reconnect(scene, after.gatewayUrl)
    expect(back.welcome.stop).toEqual({ reason: 'across restarts', latched: true })
    expect(await scene.act(scene.operator, 'resume')).toMatchObject({ status: 409 })

    await clear(scene, scene.client)
    await back.link.next('stop_cleared')
    await expect.poll(async () => (await scene.read()).control.connected, { timeout: 10_000 }).toBe(true)
    expect(await scene.act(scene.operator, 'resume')).toMatchObject({ status: 200 })
    await back.link.close()
  })

  test('that was away while the stop was cleared, or its session ended, finds none', async () => {
    for (const action of ['clear_stop', 'end']) {
      const scene = await openScene(world)
      await stop(scene, scene.client)
      await scene.link.next('stop')
      await scene.link.close()
      await scene.act(scene.client, action)
      const { link, welcome } = await reconnect(scene)
      expect(welcome.stop).toBe(null)
      await link.close()
    }
  })

  test('of the sdk holds the stop across a lost connection, and drops it once cleared', async () => {
    await using network = await createTcpProxy(world.gatewayUrl)
    const scene = await openScene(world)
    const link = new RobotLink({
      url: new URL(`/robots/${scene.robot.id}/control`, network.url).href,
      token: scene.robot.token,
      reconnect: { baseMs: 10, maxMs: 50 },
    })
    const first = await link.connect()
    await stop(scene, scene.client, 'sdk')
    const holds = () => vi.waitFor(() => expect(link.stop).toEqual({ reason: 'sdk', latched: true }), 10_000)
    await holds()
    network.cut()
    await vi.waitFor(() => expect(link.state).not.toBe('online'), 10_000)
    network.heal()
    await vi.waitFor(() => expect(link.epoch).toBe(first.epoch + 1), 10_000)
    await holds()

    await clear(scene, scene.client)
    const pausedOnly = { reason: 'session_paused', latched: false }
    await vi.waitFor(() => expect(link.stop).toEqual(pausedOnly), 10_000)
    await link.close()
  })
})

describe('at once', () => {
  test('fifty stops make one, and its reason stands', async () => {
    const scene = await openScene(world)
    const people = [scene.client, scene.operator, await world.admin()]
    const replies = await Promise.all(
      times(50).map((index) => stop(scene, people[index % 3] as Person, `reason ${index}`)),
    )
    expect(count(replies, 200)).toBe(50)
    const entries = await scene.log()
    expect(typesOf(entries)).toEqual(['session.started', 'session.stopped'])
    const { reason, by } = (await scene.read()).control.stop
    expect(entries[1]?.data).toMatchObject({ reason, actor_id: by })
    expect(await scene.told(scene.client)).toHaveLength(1)
  })

  test('stops and ends: the session ends, and no stop is left behind', async () => {
    for (let round = 0; round < 10; round++) {
      const scene = await openScene(world)
      const replies = await Promise.all([
        ...times(4).map(() => stop(scene, scene.client)),
        scene.act(scene.operator, 'end'),
        ...times(4).map(() => stop(scene, scene.operator)),
      ])
      expect(replies[4]?.status).toBe(200)
      for (const { status } of replies) expect([200, 409]).toContain(status)
      expect(await scene.read()).toMatchObject({ status: 'COMPLETED', control: { stop: null } })
      const entries = await scene.log()
      expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
      expect(entries.at(-1)?.type).toBe('session.ended')
      await scene.link.close()
    }
  })

  test('stops, clears and resumes: never ACTIVE under a stop, and the log takes turns', async () => {
    const scene = await openScene(world)
    const actions = ['emergency_stop', 'resume', 'clear_stop', 'resume']
    for (let round = 0; round < 8; round++) {
      const replies = await Promise.all(
        times(12).map((n) => scene.act(scene.operator, actions[n % 4] as string)),
      )
      expect(replies.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
      const { status, control } = await scene.read()
      if (control.stop) expect(status).toBe('PAUSED')
    }
    let stopped = false
    let active = true
    for (const { type } of (await scene.log()).slice(1)) {
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

  test('a clearing that waits its turn behind another press does not take that one away', async () => {
    const scene = await openScene(world)
    await stop(scene, scene.client)
    const sql = await connectTo(world.database.url)
    const waiting = async () => {
      const { rows } = await sql.query<{ count: number }>(
        `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows[0]?.count
    }
    await sql.query('begin')
    await sql.query('select from robots where id = $1 for update', [scene.robot.id])
    const pressing = stop(scene, scene.client)
    await vi.waitFor(async () => expect(await waiting()).toBe(1), 4_000)
    const clearing = clear(scene, scene.operator)
    await vi.waitFor(async () => expect(await waiting()).toBe(2), 4_000)
    const releasedMs = Date.now()
    await sql.query('rollback')
    await sql.end()
    expect((await pressing).status).toBe(200)
    expect(await clearing).toMatchObject({ status: 409, body: { error: expect.stringContaining('again') } })
    expect((await scene.read()).control.stop).not.toBeNull()

    expect((await clear(scene, scene.operator)).status).toBe(200)
    expect((await scene.act(scene.operator, 'resume')).status).toBe(200)
    const [, , cleared, resumed] = await scene.log()
    expect(Date.parse(cleared?.at ?? '')).toBeGreaterThanOrEqual(releasedMs)
    expect(Date.parse(resumed?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(cleared?.at ?? ''))
  })

  test('what waits its turn is logged with the time of its turn', async () => {
    const scene = await openScene(world)
    const sql = await connectTo(world.database.url)
    await sql.query('begin')
    await sql.query('select from robots where id = $1 for update', [scene.robot.id])
    const pausing = scene.act(scene.operator, 'pause')
    await vi.waitFor(async () => {
      const { rows } = await sql.query(`select from pg_locks where not granted`)
      expect(rows.length).toBeGreaterThan(0)
    }, 4_000)
    const releasedMs = Date.now()
    await sql.query('rollback')
    await sql.end()
    expect((await pausing).status).toBe(200)
    const [, paused] = await scene.log()
    expect(Date.parse(paused?.at ?? '')).toBeGreaterThanOrEqual(releasedMs)
  })
})

// Each of them waits for seconds that somebody else counts.
describe.concurrent('in their own time', () => {
  test('a robot is told of a stop again and again, over every connection, until it says that it stands', async () => {
    const scene = await openScene(world)
    await stop(scene, scene.client, 'smoke')
    for (let time = 0; time < 3; time++) expect(await scene.link.next('stop')).toEqual(latched('smoke'))
    const { link, welcome } = await reconnect(scene)
    expect(welcome.stop).toEqual({ reason: 'smoke', latched: true })
    expect(await link.next('stop')).toEqual(latched('smoke'))
    link.send({ type: 'stopped', reason: 'smoke' })
    await hasRead(link)
    link.frames.length = 0
    for (let beats = 0; beats < 13; beats++) await link.next('heartbeat_ack')
    expect(link.frames.filter(({ type }) => type === 'stop')).toEqual([])
    await link.close()
  })

  test('a stop and the loss of the robot: both stand in the log, and the stop is in force', async () => {
    const race = async () => {
      const scene = await openScene(world)
      scene.link.destroy()
      expect(await stop(scene, scene.client, 'race')).toMatchObject({ status: 200 })
      const types = ['robot.lost', 'session.started', 'session.stopped']
      await vi.waitFor(async () => expect(typesOf(await scene.log()).toSorted()).toEqual(types), 10_000)
      expect(await scene.read()).toMatchObject({
        ...{ status: 'PAUSED', control: { connected: false, stop: { reason: 'race' } } },
      })
      await scene.act(scene.client, 'end')
    }
    await Promise.all(times(5).map(race))
  })

  test('a stop waits some seconds at most for a process that froze in the middle of something', async () => {
    const scene = await openScene(world)
    let frozen: Promise<unknown> | undefined
    let thaw = () => {}
    await new Promise<void>((locked) => {
      const holds = new Promise<void>((resolve) => {
        thaw = resolve
      })
      frozen = world.platform.db.transaction().execute(async (trx) => {
        await trx.selectFrom('robots').select('id').where('id', '=', scene.robot.id).forUpdate().execute()
        locked()
        await holds
        await trx.selectFrom('robots').select('id').execute()
      })
    })
    const refused = expect(frozen).rejects.toThrow()
    expect(await stop(scene, scene.client, 'now')).toMatchObject({ status: 200 })
    thaw()
    await refused
    expect(await scene.link.next('stop')).toEqual(latched('now'))
    await scene.act(scene.client, 'end')
  })
})
