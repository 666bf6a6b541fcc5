import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { isDatabaseAway } from '../src/core/errors/errors.ts'
import type { RobotStop } from '../src/core/events/bus.ts'
import { createPresenceStore, type PresenceStore } from '../src/modules/presence/presence.store.ts'
import type { Driving, LatencyStretch } from '../src/modules/sessions/control/driving.service.ts'
import { BUCKET_COUNT, bucketOf, upperBoundMs } from '../src/modules/sessions/control/latency-histogram.ts'
import { openScene, type Scene } from './support/cast.ts'
import { createTestDatabase } from './support/database.ts'
import type { Person } from './support/person.ts'
import { connectTo } from './support/sql.ts'
import { createTcpProxy } from './support/tcp-proxy.ts'
import { createWorld, type World } from './support/world.ts'

let world: World
let driving: Driving
let store: PresenceStore
let clockMs = Date.now()
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(clockMs) })
  driving = world.platform.driving
  store = createPresenceStore({ databaseUrl: world.database.url, poolSize: 1 })
})
afterAll(async () => {
  await store.close()
  await world[Symbol.asyncDispose]()
})

const times = (count: number) => Array.from({ length: count }, (_, index) => index)
const typesOf = (entries: readonly { type: string }[]) => entries.map(({ type }) => type)
const by = (scene: Scene, person: Person) => ({ sessionId: scene.id, userId: person.id })
const ended = async (scene: Scene) => expect((await scene.act(scene.client, 'end')).status).toBe(200)
/** What a gateway finds when it looks the robot up. */
const seenByGateway = async (scene: Scene) => (await store.linkStates([scene.robot.id]))[0]

async function audited(scene: Scene) {
  const { entries } = (await (await world.admin()).get(`/api/admin/audit?subject_id=${scene.id}`)).body
  return entries.map(({ action, actor_id, data }: Record<string, unknown>) => ({ action, actor_id, data }))
}

/** Numbers from 1 without a gap, whatever came together. */
async function gaplessLog(scene: Scene) {
  const entries = await scene.log()
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
  return entries
}

/** What gateways hear of stops from now on. */
function listenToStops() {
  const heard: RobotStop[] = []
  const stop = world.platform.bus.subscribe('robot.stop', (message) => heard.push(message))
  return { heard, [Symbol.dispose]: stop }
}

describe('a stop that was pressed at the gateway', () => {
  test.each(['operator', 'client', 'admin'] as const)(
    'by the %s is what PATCH emergency_stop makes of it',
    async (who) => {
      const [scene, like] = [await openScene(world), await openScene(world)]
      const person = who === 'admin' ? await world.admin() : scene[who]
      const seq = await driving.recordStop(by(scene, person), 'smoke')
      await like.act(who === 'admin' ? person : like[who], 'emergency_stop', 'smoke')

      expect(seq).toBe(2)
      const session = await scene.read()
      expect(session).toMatchObject({
        ...{ status: 'PAUSED', pause_reason: 'emergency_stop' },
        control: { connected: true, stop: { reason: 'smoke', by: person.id } },
      })
      expect((await gaplessLog(scene))[1]).toMatchObject({
        ...{ type: 'session.stopped', seq, data: { status: 'PAUSED', actor_id: person.id, reason: 'smoke' } },
      })
      for (const side of ['client', 'operator'] as const) {
        const told = await scene.told(scene[side])
        expect(told).toMatchObject([{ type: 'session.stopped', data: { reason: 'smoke' } }])
        expect(typesOf(told)).toEqual(typesOf(await like.told(like[side])))
      }
      const audit = await audited(scene)
      expect(audit).toEqual(
        who === 'admin'
          ? [{ action: 'session.stopped', actor_id: person.id, data: { reason: 'smoke' } }]
          : [],
      )
      expect(audit).toHaveLength((await audited(like)).length)
      for (const one of [scene, like]) await ended(one)
    },
  )

  test('several times at once is one stop, and all get its number', async () => {
    const scene = await openScene(world)
    const people = [scene.client, await world.admin(), scene.client]
    const answers = await Promise.all(
      times(20).map((index) => driving.recordStop(by(scene, people[index % 3] as Person), `reason ${index}`)),
    )
    expect(new Set(answers)).toEqual(new Set([2]))
    const entries = await gaplessLog(scene)
    expect(typesOf(entries)).toEqual(['session.started', 'session.stopped'])
    expect((await scene.read()).control.stop.reason).toBe(entries[1]?.data.reason)
    expect(await scene.told(scene.client)).toHaveLength(1)
    await ended(scene)
  })

  test('upon a stop changes nothing and answers the present number', async () => {
    const scene = await openScene(world)
    await scene.act(scene.client, 'emergency_stop', 'first')
    await scene.operator.post(`${scene.path}/messages`, { body: 'What is it?' })
    const before = await scene.read()
    expect(await driving.recordStop(by(scene, scene.operator), 'second')).toBe(3)
    expect(await scene.read()).toEqual(before)
    expect(await gaplessLog(scene)).toHaveLength(3)
    expect((await seenByGateway(scene))?.session).toMatchObject({ eventSeq: 3, stopReason: 'first' })
    await ended(scene)
  })

  test('is over when the session is not open, or the user has no part in it', async () => {
    const scene = await openScene(world)
    const strangers = [await world.client(), await world.operator(), await world.somebody()]
    for (const { id } of [...strangers, { id: randomUUID() }]) {
      expect(await driving.recordStop({ sessionId: scene.id, userId: id }, 'mine')).toBe('over')
    }
    expect(await driving.recordStop({ sessionId: randomUUID(), userId: scene.client.id }, 'x')).toBe('over')
    expect((await scene.read()).status).toBe('ACTIVE')

    await ended(scene)
    expect(await driving.recordStop(by(scene, scene.client), 'late')).toBe('over')
    const scheduledFor = new Date(clockMs + 3_600_000).toISOString()
    const planned = await scene.operator.post('/api/sessions', { robotId: scene.robot.id, scheduledFor })
    const early = { sessionId: planned.body.sessionId as string, userId: scene.operator.id }
    expect(await driving.recordStop(early, 'early')).toBe('over')
    expect(typesOf(await gaplessLog(scene))).toEqual(['session.started', 'session.ended'])
  })

  test.each([
    ['none', undefined, 'emergency_stop'],
    ['an empty one', ' \t', 'emergency_stop'],
    ['one that PostgreSQL does not take', 'a\0b\ud800', 'ab\ufffd'],
    ['nothing but that', '\0\0', 'emergency_stop'],
    ['one that is cut in the middle of a character', `${'x'.repeat(499)}🦾`, `${'x'.repeat(499)}\ufffd`],
    ['a very long one', 'é'.repeat(60_000), 'é'.repeat(500)],
  ])('is recorded whatever the reason: %s', async (_what, given, kept) => {
    const scene = await openScene(world)
    expect(await driving.recordStop(by(scene, scene.operator), given)).toBe(2)
    expect((await scene.read()).control.stop.reason).toBe(kept)
    expect((await scene.log())[1]?.data.reason).toBe(kept)
    await ended(scene)
  })

  test('and an end at the same time: the session ends, and the stop was before or is over', async () => {
    for (let round = 0; round < 10; round++) {
      const scene = await openScene(world)
      const [answer] = await Promise.all([
        driving.recordStop(by(scene, scene.client), 'race'),
        scene.act(scene.operator, 'end'),
      ])
      expect(await scene.read()).toMatchObject({ status: 'COMPLETED', control: { stop: null } })
      const stopped = answer === 'over' ? [] : ['session.stopped']
      expect(typesOf(await gaplessLog(scene))).toEqual(['session.started', ...stopped, 'session.ended'])
      await scene.link.close()
    }
  })

  test('throws while the database is away', async () => {
    const database = await createTestDatabase()
    const proxy = await createTcpProxy(database.url)
    try {
      await using behind = await createWorld({ env: { DATABASE_URL: proxy.url } })
      const scene = await openScene(behind)
      const stop = () => behind.platform.driving.recordStop(by(scene, scene.client), 'now')
      proxy.cut()
      await expect(stop()).rejects.toSatisfy(isDatabaseAway)
      proxy.heal()
      await vi.waitFor(async () => expect(await stop()).toBe(2), 10_000)
      await scene.act(scene.client, 'end')
      behind.errors.length = 0
    } finally {
      await proxy[Symbol.asyncDispose]()
      await database.drop()
    }
  })
})

describe('the gateway', () => {
  test('is told of every stop with its number, also of one upon a stop, and never of a refused one', async () => {
    const scene = await openScene(world)
    using stops = listenToStops()
    const stop = {
      ...{ robotId: scene.robot.id, sessionId: scene.id, userId: scene.client.id, reason: 'smoke' },
      ...{ byRole: 'client', byOwner: true },
    }
    const heard = (...seqs: number[]) =>
      vi.waitFor(() => expect(stops.heard).toEqual(seqs.map((eventSeq) => ({ ...stop, eventSeq }))), 10_000)

    await scene.act(scene.client, 'emergency_stop', 'smoke')
    await heard(2)
    await scene.act(scene.operator, 'emergency_stop', 'fire')
    await heard(2, 2)
    await scene.act(scene.client, 'clear_stop')
    await driving.recordStop(by(scene, scene.client), 'smoke')
    await heard(2, 2, 4)
    await ended(scene)
    expect(await scene.act(scene.client, 'emergency_stop')).toMatchObject({ status: 409 })
    await driving.recordStop(by(scene, scene.client), 'smoke')
    const next = await openScene(world)
    await next.act(next.client, 'emergency_stop')
    await vi.waitFor(() => expect(stops.heard.at(-1)?.sessionId).toBe(next.id), 10_000)
    expect(stops.heard.filter(({ sessionId }) => sessionId === scene.id)).toHaveLength(3)
    await ended(next)
  })

  test('is told when the stop is in the database', async () => {
    const scene = await openScene(world)
    const found: Promise<unknown>[] = []
    const unsubscribe = world.platform.bus.subscribe('robot.stop', () => found.push(seenByGateway(scene)))
    await scene.act(scene.client, 'emergency_stop', 'smoke')
    await vi.waitFor(() => expect(found).toHaveLength(1), 10_000)
    unsubscribe()
    expect(await found[0]).toMatchObject({ session: { stopReason: 'smoke', eventSeq: 2 } })
    await ended(scene)
  })

  test('finds with the robot who drives, where the log is, and how late commands may be', async () => {
    const scene = await openScene(world)
    const session = {
      ...{ id: scene.id, status: 'ACTIVE', operatorId: scene.operator.id, operatorName: scene.operator.name },
      ...{ eventSeq: 1, driven: false, latencyLimitMs: 400, stopReason: null },
    }
    const { platform } = world
    const { node_id } = await platform.db
      .selectFrom('robot_presence')
      .select('node_id')
      .where('robot_id', '=', scene.robot.id)
      .executeTakeFirstOrThrow()
    expect(await seenByGateway(scene)).toMatchObject({ connected: true, nodeId: node_id, session })

    const changed: string[] = []
    const unsubscribe = platform.bus.subscribe('robots.changed', ({ robotIds }) => changed.push(...robotIds))
    const marked = async () => (await store.changedWithin(node_id as string, 60_000)).includes(scene.robot.id)
    await platform.db
      .updateTable('robots')
      .set({ link_changed_at: new Date(0) })
      .where('id', '=', scene.robot.id)
      .execute()
    expect(await marked()).toBe(false)
    await scene.client.patch(`/api/client/robots/${scene.robot.id}`, { latency_limit_ms: 150 })
    await vi.waitFor(() => expect(changed).toContain(scene.robot.id), 10_000)
    unsubscribe()
    expect(await marked(), 'also by polling').toBe(true)
    expect((await seenByGateway(scene))?.session).toMatchObject({ ...session, latencyLimitMs: 150 })

    const [connected] = await store.connect(node_id as string, [
      { robotId: scene.robot.id, tokenVersion: 1, atMs: Date.now() },
    ])
    expect(connected?.session).toMatchObject({ ...session, latencyLimitMs: 150 })
    await ended(scene)
    await scene.link.closed // the connection that was made up here is newer than its own
    await store.disconnect([
      { robotId: scene.robot.id, epoch: connected!.epoch, lastSignMs: Date.now(), lastHeartbeatMs: 0 },
    ])
  })
})

describe('an operator who is lost', () => {
  test('pauses the session, both sides are told, and nothing more is billed', async () => {
    const scene = await openScene(world)
    clockMs += 30_000
    expect(await driving.operatorLost(scene.id)).toBe(true)
    expect(await scene.read()).toMatchObject({ status: 'PAUSED', pause_reason: 'operator_lost' })
    const entry = (await gaplessLog(scene))[1]
    expect(entry).toMatchObject({ type: 'session.paused', seq: 2 })
    expect(entry?.data).toEqual({ status: 'PAUSED', reason: 'operator_lost' })
    for (const side of [scene.client, scene.operator]) {
      expect(await scene.told(side)).toMatchObject([
        { type: 'session.paused', data: { session_id: scene.id, reason: 'operator_lost' } },
      ])
    }
    clockMs += 600_000
    const { body } = await scene.act(scene.client, 'end')
    expect(body).toMatchObject({ paused_seconds: 600, client_charge_cents: 50 })
  })

  test('is nothing when the session is not ACTIVE', async () => {
    const scene = await openScene(world)
    await scene.act(scene.operator, 'pause', 'coffee')
    expect(await driving.operatorLost(scene.id)).toBe(false)
    expect(await scene.read()).toMatchObject({ status: 'PAUSED', pause_reason: 'coffee' })
    await ended(scene)
    expect(await driving.operatorLost(scene.id)).toBe(false)
    expect(await driving.operatorLost(randomUUID())).toBe(false)
    expect(typesOf(await gaplessLog(scene))).toEqual(['session.started', 'session.paused', 'session.ended'])
  })

  test('may come back: the operator resumes as after any pause', async () => {
    const scene = await openScene(world)
    expect(await driving.operatorLost(scene.id)).toBe(true)
    expect(await scene.act(scene.operator, 'resume')).toMatchObject({ status: 200 })
    expect(await driving.operatorLost(scene.id)).toBe(true)
    expect(typesOf(await gaplessLog(scene))).toEqual([
      ...['session.started', 'session.paused', 'session.resumed', 'session.paused'],
    ])
    await ended(scene)
  })

  test('and pauses at the same time: one of them is it', async () => {
    for (let round = 0; round < 10; round++) {
      const scene = await openScene(world)
      const [lost, again, ...replies] = await Promise.all([
        driving.operatorLost(scene.id),
        driving.operatorLost(scene.id),
        scene.act(scene.client, 'pause'),
        scene.act(scene.operator, 'pause'),
      ])
      expect(replies.every(({ status }) => status === 200 || status === 409)).toBe(true)
      const paused = [lost, again, ...replies.map(({ status }) => status === 200)].filter(Boolean)
      expect(paused).toHaveLength(1)
      expect(typesOf(await gaplessLog(scene))).toEqual(['session.started', 'session.paused'])
      await ended(scene)
    }
  })

  test('and an end at the same time: the session ends, and was paused before or never', async () => {
    for (let round = 0; round < 10; round++) {
      const scene = await openScene(world)
      const [lost, end] = await Promise.all([
        driving.operatorLost(scene.id),
        scene.act(scene.operator, 'end'),
      ])
      expect(end.status).toBe(200)
      const paused = lost ? ['session.paused'] : []
      expect(typesOf(await gaplessLog(scene))).toEqual(['session.started', ...paused, 'session.ended'])
      await scene.link.close()
    }
  })

  test('and pauses and resumptions at the same time: they take turns in the log', async () => {
    const scene = await openScene(world)
    let [paused, resumed] = [0, 0]
    for (let round = 0; round < 8; round++) {
      await Promise.all(
        times(9).map(async (index) => {
          if (index % 3 === 0) {
            if (await driving.operatorLost(scene.id)) paused++
            return
          }
          const action = index % 3 === 1 ? 'resume' : 'pause'
          const { status } = await scene.act(scene.operator, action)
          expect([200, 409]).toContain(status)
          if (status === 409) return
          if (action === 'resume') resumed++
          else paused++
        }),
      )
    }
    const entries = typesOf((await gaplessLog(scene)).slice(1))
    expect(entries).toEqual(
      times(paused + resumed).map((n) => (n % 2 ? 'session.resumed' : 'session.paused')),
    )
    expect(entries.filter((type) => type === 'session.resumed')).toHaveLength(resumed)
    expect(resumed).toBeGreaterThan(0)
    expect((await scene.read()).status).toBe(paused > resumed ? 'PAUSED' : 'ACTIVE')
    await ended(scene)
  })

  test('and a stop at the same time: the stop is in force', async () => {
    for (let round = 0; round < 10; round++) {
      const scene = await openScene(world)
      await Promise.all([
        driving.operatorLost(scene.id),
        driving.recordStop(by(scene, scene.client), 'race'),
        driving.operatorLost(scene.id),
      ])
      expect(await scene.read()).toMatchObject({ status: 'PAUSED', control: { stop: { reason: 'race' } } })
      const entries = typesOf(await gaplessLog(scene))
      expect(entries.filter((type) => type === 'session.stopped')).toHaveLength(1)
      expect(entries.length).toBeLessThanOrEqual(3)
      await ended(scene)
    }
  })
})

describe('a session that is driven', () => {
  test('is known to every gateway from then on; a second time writes nothing, and nobody is told', async () => {
    const scene = await openScene(world)
    await using database = await connectTo(world.database.url)
    const version = async () =>
      (await database.query('select xmin::text from sessions where id = $1', [scene.id])).rows[0]
    expect(await driving.recordJoin(scene.id)).toBe(1)
    expect((await seenByGateway(scene))?.session).toMatchObject({ driven: true, eventSeq: 1 })
    const marked = await version()
    await Promise.all(times(5).map(() => driving.recordJoin(scene.id)))
    expect(await version()).toEqual(marked)
    await scene.act(scene.operator, 'pause')
    await scene.act(scene.operator, 'resume')
    expect((await seenByGateway(scene))?.session).toMatchObject({ driven: true })
    expect(await driving.recordJoin(scene.id), 'the number of the newest entry').toBe(3)
    expect(await driving.recordJoin(randomUUID())).toBeUndefined()
    await ended(scene)
    expect(await driving.recordJoin(scene.id), 'over').toBeUndefined()
  })
})

describe('the latency of a session', () => {
  const stretch = (...ages: number[]): LatencyStretch => {
    const buckets = times(BUCKET_COUNT).map(() => 0)
    for (const age of ages) buckets[bucketOf(age)]! += 1
    return { buckets, maxMs: Math.max(0, ...ages), frames: ages.length, dropped: 0 }
  }
  const rounded = (ms: number) => Math.round(ms * 10) / 10
  const bound = (ms: number) => rounded(upperBoundMs(bucketOf(ms)))

  test('is null until it was driven, and then the same in every answer about it', async () => {
    const scene = await openScene(world)
    expect((await scene.read()).latency).toBe(null)
    await driving.addLatency(scene.id, { ...stretch(1, 1, 1, 20.04), dropped: 3 })
    const expected = { p50_ms: bound(1), p95_ms: 20, max_ms: 20, frames: 4, dropped: 3 }
    for (const person of [scene.client, scene.operator, await world.admin()]) {
      expect((await scene.read(person)).latency).toEqual(expected)
    }
    expect((await scene.act(scene.operator, 'pause')).body.latency).toEqual(expected)
    const hub = await scene.client.hub()
    const watched = await hub.send('session:watch', { session_id: scene.id })
    expect(watched.session.latency).toEqual(expected)
    expect((await scene.act(scene.client, 'end')).body.latency).toEqual(expected)
    const [listed] = (await scene.client.get('/api/sessions')).body.sessions
    expect(listed).not.toHaveProperty('latency')
  })

  test('adds up whoever adds to it, at once and in any order, also when the session is over', async () => {
    const scene = await openScene(world)
    const ages = times(40).map((index) => 1.5 ** (index % 20))
    await Promise.all(ages.map((age) => driving.addLatency(scene.id, { ...stretch(age), dropped: 1 })))
    await ended(scene)
    await driving.addLatency(scene.id, { ...stretch(...ages), dropped: 5 })
    const sorted = [...ages, ...ages].toSorted((one, other) => one - other)
    expect((await scene.read()).latency).toEqual({
      ...{ p50_ms: bound(sorted[39] as number), p95_ms: bound(sorted[75] as number) },
      ...{ max_ms: rounded(1.5 ** 19), frames: 80, dropped: 45 },
    })
    const { buckets } = await world.platform.db
      .selectFrom('session_latency')
      .select('buckets')
      .where('session_id', '=', scene.id)
      .executeTakeFirstOrThrow()
    expect(buckets).toEqual(stretch(...sorted).buckets)
  })

  test('of a session whose every command was dropped says so, and claims no ages', async () => {
    const scene = await openScene(world)
    await driving.addLatency(scene.id, { ...stretch(), dropped: 7 })
    expect((await scene.read()).latency).toEqual({
      ...{ p50_ms: null, p95_ms: null, max_ms: null, frames: 0, dropped: 7 },
    })
    await ended(scene)
  })

  test('of a session that there is not is nothing, and a histogram of another size is refused', async () => {
    await driving.addLatency(randomUUID(), stretch(1))
    const scene = await openScene(world)
    for (const size of [0, 63, 65]) {
      const odd = { ...stretch(1), buckets: times(size) }
      await expect(driving.addLatency(scene.id, odd)).rejects.toMatchObject({
        constraint: 'session_latency_buckets',
      })
    }
    expect((await scene.read()).latency).toBe(null)
    await ended(scene)
  })
})

test('keys that do not work any more are told from those that do', async () => {
  const person = await world.client()
  const [good, revoked, expired, later] = await Promise.all(times(4).map(() => person.key()))
  await person.delete(`/api/auth/api-keys/${revoked!.id}`)
  const setExpiry = (id: string, at: Date) =>
    world.platform.db.updateTable('api_keys').set({ expires_at: at }).where('id', '=', id).execute()
  await setExpiry(expired!.id, new Date(Date.now() - 1_000))
  await setExpiry(later!.id, new Date(Date.now() + 3_600_000))
  const unknown = randomUUID()
  const asked = [good!.id, revoked!.id, expired!.id, later!.id, unknown]
  expect((await driving.endedKeys(asked)).toSorted()).toEqual([revoked!.id, expired!.id, unknown].toSorted())
  expect(await driving.endedKeys([])).toEqual([])
})
