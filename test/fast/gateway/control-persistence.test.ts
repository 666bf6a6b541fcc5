import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RobotStop } from '../../../src/core/events/bus.ts'
import { createPresenceStore, type PresenceStore } from '../../../src/modules/presence/presence.store.ts'
import type {
  ControlPersistence,
  LatencyIncrement,
} from '../../../src/modules/sessions/control/control-persistence.service.ts'
import {
  BUCKET_COUNT,
  bucketOf,
  upperBoundMs,
} from '../../../src/modules/sessions/latency/latency-histogram.ts'
import { connectTo } from '../../support/database/sql.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let driving: ControlPersistence
let store: PresenceStore
let clockMs = Date.now()
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(clockMs) })
  driving = world.platform.sessions.controlPersistence
  store = createPresenceStore({ databaseUrl: world.database.url, poolSize: 1 })
})
/** Returns a function that opens a session, each with the users and the robot of the one before, which it ends. */
function inTurn(): () => Promise<SessionFixture> {
  let latest: SessionFixture | undefined
  return async () => {
    await latest?.performAction(latest.client, 'end')
    latest = await openSessionFixture(world, { of: latest })
    return latest
  }
}
const open = inTurn()
const openReference = inTurn()
afterAll(async () => {
  await store.close()
  await world[Symbol.asyncDispose]()
})

const times = (count: number) => Array.from({ length: count }, (_, index) => index)
const typesOf = (entries: readonly { type: string }[]) => entries.map(({ type }) => type)
const by = (fixture: SessionFixture, user: TestUser) => ({ sessionId: fixture.id, userId: user.id })
const ended = async (fixture: SessionFixture) =>
  expect((await fixture.performAction(fixture.client, 'end')).status).toBe(200)
/** Returns the result of a gateway's lookup of the robot. */
const seenByGateway = async (fixture: SessionFixture) => (await store.linkStates([fixture.robot.id]))[0]

async function audited(fixture: SessionFixture) {
  const { entries } = (await (await world.admin()).get(`/api/admin/audit?subject_id=${fixture.id}`)).body
  return entries.map(({ action, actor_id, data }: Record<string, unknown>) => ({ action, actor_id, data }))
}

/** Returns the log, after checking that its numbers start at 1 without a gap. */
async function gaplessLog(fixture: SessionFixture) {
  const entries = await fixture.log()
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
  return entries
}

/** Records the recorded stops that gateways receive from now on. */
function listenToStops() {
  const received: RobotStop[] = []
  const stop = world.platform.core.bus.subscribe('robot.stop', (message) => {
    if (message.eventSeq !== null) received.push(message)
  })
  return { received, [Symbol.dispose]: stop }
}

describe('a stop that is requested at the gateway', () => {
  test.each(['operator', 'client', 'admin'] as const)(
    'by the %s has the same effect as PATCH emergency_stop',
    async (who) => {
      const [fixture, reference] = [await open(), await openReference()]
      const user = who === 'admin' ? await world.admin() : fixture[who]
      const seq = await driving.recordStop(by(fixture, user), 'smoke')
      await reference.performAction(who === 'admin' ? user : reference[who], 'emergency_stop', 'smoke')

      expect(seq).toBe(2)
      const session = await fixture.read()
      expect(session).toMatchObject({
        status: 'PAUSED',
        pause_reason: 'emergency_stop',
        control: { connected: true, stop: { reason: 'smoke', by: user.id } },
      })
      expect((await gaplessLog(fixture))[1]).toMatchObject({
        type: 'session.stopped',
        seq,
        data: { status: 'PAUSED', actor_id: user.id, reason: 'smoke' },
      })
      for (const side of ['client', 'operator'] as const) {
        const notified = await fixture.notificationsOf(fixture[side])
        expect(notified).toMatchObject([{ type: 'session.stopped', data: { reason: 'smoke' } }])
        expect(typesOf(notified)).toEqual(typesOf(await reference.notificationsOf(reference[side])))
      }
      const audit = await audited(fixture)
      expect(audit).toEqual([{ action: 'session.stopped', actor_id: user.id, data: { reason: 'smoke' } }])
      expect(audit).toHaveLength((await audited(reference)).length)
    },
  )

  test('several times at once is one stop, and all requests get its number', async () => {
    const fixture = await open()
    const users = [fixture.client, await world.admin(), fixture.client]
    const answers = await Promise.all(
      times(20).map((index) =>
        driving.recordStop(by(fixture, users[index % 3] as TestUser), `reason ${index}`),
      ),
    )
    expect(new Set(answers)).toEqual(new Set([2]))
    const entries = await gaplessLog(fixture)
    expect(typesOf(entries)).toEqual(['session.started', 'session.stopped'])
    expect((await fixture.read()).control.stop.reason).toBe(entries[1]?.data.reason)
    expect(await fixture.notificationsOf(fixture.client)).toHaveLength(1)
  })

  test('while a stop is in force changes nothing and returns the present number', async () => {
    const fixture = await open()
    await fixture.performAction(fixture.client, 'emergency_stop', 'first')
    await fixture.operator.post(`${fixture.path}/messages`, { body: 'What is it?' })
    const before = await fixture.read()
    expect(await driving.recordStop(by(fixture, fixture.operator), 'second')).toBe(3)
    expect(await fixture.read()).toEqual(before)
    expect(await gaplessLog(fixture)).toHaveLength(3)
    expect((await seenByGateway(fixture))?.session).toMatchObject({ eventSeq: 3, stopReason: 'first' })
  })

  test('is refused if the session is not open, or if the user is not a participant', async () => {
    const fixture = await open()
    const unrelatedUsers = [await world.client(), await world.operator(), await world.newUser()]
    for (const { id } of [...unrelatedUsers, { id: randomUUID() }]) {
      expect(await driving.recordStop({ sessionId: fixture.id, userId: id }, 'mine')).toBe('over')
    }
    expect(await driving.recordStop({ sessionId: randomUUID(), userId: fixture.client.id }, 'x')).toBe('over')
    expect((await fixture.read()).status).toBe('ACTIVE')

    await ended(fixture)
    expect(await driving.recordStop(by(fixture, fixture.client), 'late')).toBe('over')
    const scheduledFor = new Date(clockMs + 3_600_000).toISOString()
    const planned = await fixture.operator.post('/api/sessions', { robotId: fixture.robot.id, scheduledFor })
    const early = { sessionId: planned.body.sessionId as string, userId: fixture.operator.id }
    expect(await driving.recordStop(early, 'early')).toBe('over')
    expect(typesOf(await gaplessLog(fixture))).toEqual(['session.started', 'session.ended'])
  })

  test.each([
    ['none', undefined, 'emergency_stop'],
    ['an empty one', ' \t', 'emergency_stop'],
    ['one that PostgreSQL does not accept', 'a\0b\ud800', 'ab\ufffd'],
    ['only characters that PostgreSQL does not accept', '\0\0', 'emergency_stop'],
    [
      'one that is truncated in the middle of a character',
      `${'x'.repeat(499)}🦾`,
      `${'x'.repeat(499)}\ufffd`,
    ],
    ['a very long one', 'é'.repeat(60_000), 'é'.repeat(500)],
  ])('is recorded for any reason: %s', async (_name, reason, stored) => {
    const fixture = await open()
    expect(await driving.recordStop(by(fixture, fixture.operator), reason)).toBe(2)
    expect((await fixture.read()).control.stop.reason).toBe(stored)
    expect((await fixture.log())[1]?.data.reason).toBe(stored)
  })
})

describe('the gateway', () => {
  test('receives every stop with its number, also a repeated one, but no refused one', async () => {
    const fixture = await open()
    using stops = listenToStops()
    const stop = {
      sessionId: fixture.id,
      userId: fixture.client.id,
      reason: 'smoke',
      byRole: 'client',
      byOwner: true,
    }
    const received = (...seqs: number[]) =>
      waitFor(() => expect(stops.received).toEqual(seqs.map((eventSeq) => ({ ...stop, eventSeq }))))

    await fixture.performAction(fixture.client, 'emergency_stop', 'smoke')
    await received(2)
    await fixture.performAction(fixture.operator, 'emergency_stop', 'fire')
    await received(2, 2)
    await fixture.performAction(fixture.client, 'clear_stop')
    await driving.recordStop(by(fixture, fixture.client), 'smoke')
    await received(2, 2, 4)
    await ended(fixture)
    expect(await fixture.performAction(fixture.client, 'emergency_stop')).toMatchObject({ status: 409 })
    await driving.recordStop(by(fixture, fixture.client), 'smoke')
    const next = await open()
    await next.performAction(next.client, 'emergency_stop')
    await waitFor(() => expect(stops.received.at(-1)?.sessionId).toBe(next.id))
    expect(stops.received.filter(({ sessionId }) => sessionId === fixture.id)).toHaveLength(3)
  })

  test('receives a stop after its commit', async () => {
    const fixture = await open()
    const found: Promise<unknown>[] = []
    const unsubscribe = world.platform.core.bus.subscribe('robot.stop', ({ eventSeq }) => {
      if (eventSeq !== null) found.push(seenByGateway(fixture))
    })
    await fixture.performAction(fixture.client, 'emergency_stop', 'smoke')
    await waitFor(() => expect(found).toHaveLength(1))
    unsubscribe()
    expect(await found[0]).toMatchObject({ session: { stopReason: 'smoke', eventSeq: 2 } })
  })

  test('reads the operator, the number of the log and the latency limit with the robot', async () => {
    const fixture = await openSessionFixture(world)
    const session = {
      id: fixture.id,
      status: 'ACTIVE',
      operatorId: fixture.operator.id,
      operatorName: fixture.operator.name,
      eventSeq: 1,
      driven: false,
      operatorGone: false,
      latencyLimitMs: 10_000,
      latencyBudgetMs: null,
      videoLimitMs: 700,
      stopReason: null,
    }
    const { platform } = world
    const { node_id } = await platform.core.db
      .selectFrom('robot_presence')
      .select('node_id')
      .where('robot_id', '=', fixture.robot.id)
      .executeTakeFirstOrThrow()
    expect(await seenByGateway(fixture)).toMatchObject({ connected: true, nodeId: node_id, session })

    const changed: string[] = []
    const unsubscribe = platform.core.bus.subscribe('robots.changed', ({ robotIds }) =>
      changed.push(...robotIds),
    )
    const marked = async () =>
      (await store.changedWithin(node_id as string, 60_000)).includes(fixture.robot.id)
    await platform.core.db
      .updateTable('robots')
      .set({ link_changed_at: new Date(0) })
      .where('id', '=', fixture.robot.id)
      .execute()
    expect(await marked()).toBe(false)
    await fixture.client.patch(`/api/client/robots/${fixture.robot.id}`, {
      latency_limit_ms: 150,
      latency_budget_ms: 120,
      video_limit_ms: null,
    })
    await waitFor(() => expect(changed).toContain(fixture.robot.id))
    unsubscribe()
    expect(await marked(), 'also by polling').toBe(true)
    expect((await seenByGateway(fixture))?.session).toMatchObject({
      ...session,
      latencyLimitMs: 150,
      latencyBudgetMs: 120,
      videoLimitMs: null,
    })

    const [connected] = await store.connect(node_id as string, [
      { robotId: fixture.robot.id, tokenVersion: 1, atMs: Date.now() },
    ])
    expect(connected?.session).toMatchObject({
      ...session,
      latencyLimitMs: 150,
      latencyBudgetMs: 120,
      videoLimitMs: null,
    })
    await ended(fixture)
    await fixture.link.closed // the test's connection is newer than its own
    await store.disconnect([
      { robotId: fixture.robot.id, epoch: connected!.epoch, lastSignMs: Date.now(), lastHeartbeatMs: 0 },
    ])
  })
})

describe('an operator who is lost', () => {
  test('pauses the session, which notifies both sides and ends the billing', async () => {
    const fixture = await open()
    clockMs += 30_000
    expect(await driving.operatorLost(fixture.id)).toBe(true)
    expect(await fixture.read()).toMatchObject({ status: 'PAUSED', pause_reason: 'operator_lost' })
    const entry = (await gaplessLog(fixture))[1]
    expect(entry).toMatchObject({ type: 'session.paused', seq: 2 })
    expect(entry?.data).toEqual({ status: 'PAUSED', reason: 'operator_lost' })
    for (const side of [fixture.client, fixture.operator]) {
      expect(await fixture.notificationsOf(side)).toMatchObject([
        { type: 'session.paused', data: { session_id: fixture.id, reason: 'operator_lost' } },
      ])
    }
    clockMs += 600_000
    const { body } = await fixture.performAction(fixture.client, 'end')
    expect(body).toMatchObject({ paused_seconds: 600, client_charge_cents: 50 })
  })

  test('changes nothing if the session is not ACTIVE', async () => {
    const fixture = await open()
    await fixture.performAction(fixture.operator, 'pause', 'coffee')
    expect(await driving.operatorLost(fixture.id)).toBe(false)
    expect(await fixture.read()).toMatchObject({ status: 'PAUSED', pause_reason: 'coffee' })
    await ended(fixture)
    expect(await driving.operatorLost(fixture.id)).toBe(false)
    expect(await driving.operatorLost(randomUUID())).toBe(false)
    expect(typesOf(await gaplessLog(fixture))).toEqual(['session.started', 'session.paused', 'session.ended'])
  })

  test('may return: the operator resumes as after any pause', async () => {
    const fixture = await open()
    expect(await driving.operatorLost(fixture.id)).toBe(true)
    expect(await fixture.performAction(fixture.operator, 'resume')).toMatchObject({ status: 200 })
    expect(await driving.operatorLost(fixture.id)).toBe(true)
    expect(typesOf(await gaplessLog(fixture))).toEqual([
      'session.started',
      'session.paused',
      'session.resumed',
      'session.paused',
    ])
  })

  test('and pauses and resumptions at the same time: they alternate in the log', async () => {
    const fixture = await open()
    let [paused, resumed] = [0, 0]
    for (let round = 0; round < 8; round++) {
      await Promise.all(
        times(9).map(async (index) => {
          if (index % 3 === 0) {
            if (await driving.operatorLost(fixture.id)) paused++
            return
          }
          const action = index % 3 === 1 ? 'resume' : 'pause'
          const { status } = await fixture.performAction(fixture.operator, action)
          expect([200, 409]).toContain(status)
          if (status === 409) return
          if (action === 'resume') resumed++
          else paused++
        }),
      )
    }
    const entries = typesOf((await gaplessLog(fixture)).slice(1))
    expect(entries).toEqual(
      times(paused + resumed).map((n) => (n % 2 ? 'session.resumed' : 'session.paused')),
    )
    expect(entries.filter((type) => type === 'session.resumed')).toHaveLength(resumed)
    expect(resumed).toBeGreaterThan(0)
    expect((await fixture.read()).status).toBe(paused > resumed ? 'PAUSED' : 'ACTIVE')
  })
})

describe('the first operator of a session', () => {
  test('is recorded for every gateway, once', async () => {
    const fixture = await open()
    await using database = await connectTo(world.database.url)
    const version = async () =>
      (await database.query('select xmin::text from sessions where id = $1', [fixture.id])).rows[0]
    expect(await driving.recordJoin(fixture.id)).toBe(1)
    expect((await seenByGateway(fixture))?.session).toMatchObject({ driven: true, eventSeq: 1 })
    const marked = await version()
    await Promise.all(times(5).map(() => driving.recordJoin(fixture.id)))
    expect(await version()).toEqual(marked)
    await fixture.performAction(fixture.operator, 'pause')
    await fixture.performAction(fixture.operator, 'resume')
    expect((await seenByGateway(fixture))?.session).toMatchObject({ driven: true })
    expect(await driving.recordJoin(fixture.id), 'the number of the newest entry').toBe(3)
    expect(await driving.recordJoin(randomUUID())).toBeUndefined()
    await ended(fixture)
    expect(await driving.recordJoin(fixture.id), 'over').toBeUndefined()
  })
})

describe('the latency of a session', () => {
  const interval = (...ages: number[]): LatencyIncrement => {
    const buckets = times(BUCKET_COUNT).map(() => 0)
    for (const age of ages) buckets[bucketOf(age)]! += 1
    const speed = { budgetedMs: 0, scaledMs: 0, limitedMs: 0, pictureLimitedMs: 0, minScale: 1 }
    const video = { buckets: null, maxMs: 0, dropped: 0 }
    return { buckets, maxMs: Math.max(0, ...ages), frames: ages.length, dropped: 0, speed, video }
  }
  const rounded = (ms: number) => Math.round(ms * 10) / 10
  const bound = (ms: number) => rounded(upperBoundMs(bucketOf(ms)))

  test('is null before the first command, and then the same in every response', async () => {
    const fixture = await open()
    expect((await fixture.read()).latency).toBe(null)
    await driving.addLatency(fixture.id, { ...interval(1, 1, 1, 20.04), dropped: 3 })
    const latency = { p50_ms: bound(1), p95_ms: 20, max_ms: 20, frames: 4, dropped: 3 }
    const expected = { ...latency, speed: null, video: null }
    for (const user of [fixture.client, fixture.operator, await world.admin()]) {
      expect((await fixture.read(user)).latency).toEqual(expected)
    }
    expect((await fixture.performAction(fixture.operator, 'pause')).body.latency).toEqual(expected)
    const hub = await fixture.client.hub()
    const watched = await hub.send('session:watch', { session_id: fixture.id })
    expect(watched.session.latency).toEqual(expected)
    expect((await fixture.performAction(fixture.client, 'end')).body.latency).toEqual(expected)
    const [listed] = (await fixture.client.get('/api/sessions')).body.sessions
    expect(listed).not.toHaveProperty('latency')
  })

  test('contains how far it limited the speed, over all increments', async () => {
    const fixture = await open()
    const limited = {
      budgetedMs: 4_000,
      scaledMs: 2_600,
      limitedMs: 2_800,
      pictureLimitedMs: 1_000,
      minScale: 0.35,
    }
    const full = { budgetedMs: 6_000, scaledMs: 6_000, limitedMs: 0, pictureLimitedMs: 0, minScale: 1 }
    await driving.addLatency(fixture.id, {
      ...interval(1),
      speed: { ...limited, budgetedMs: 0, scaledMs: 0 },
    })
    const unknown = { min_scale: null, mean_scale: null, limited_seconds: 3, picture_limited_seconds: 1 }
    expect((await fixture.read()).latency.speed).toEqual(unknown)
    await driving.addLatency(fixture.id, { ...interval(1), speed: limited })
    await driving.addLatency(fixture.id, { ...interval(1), speed: full })
    const speed = { min_scale: 0.35, mean_scale: 0.86, limited_seconds: 6, picture_limited_seconds: 2 }
    expect((await fixture.read(fixture.operator)).latency.speed).toEqual(speed)
  })

  test('contains how old the picture was, over all increments', async () => {
    const fixture = await open()
    const videoOf = (dropped: number, ...ages: number[]) => {
      const { buckets, maxMs } = interval(...ages)
      return { ...interval(1), video: { buckets: ages.length === 0 ? null : buckets, maxMs, dropped } }
    }
    await driving.addLatency(fixture.id, videoOf(0))
    expect((await fixture.read()).latency.video).toBe(null)
    await driving.addLatency(fixture.id, videoOf(3))
    const held = { p50_ms: null, p95_ms: null, max_ms: null, dropped: 3 }
    expect((await fixture.read()).latency.video).toEqual(held)
    await Promise.all(
      [[40], [40, 40], [690], []].map((ages) => driving.addLatency(fixture.id, videoOf(1, ...ages))),
    )
    const video = { p50_ms: bound(40), p95_ms: 690, max_ms: 690, dropped: 7 }
    expect((await fixture.read(fixture.operator)).latency.video).toEqual(video)
  })

  test('adds up concurrent increments in any order, also after the session is over', async () => {
    const fixture = await open()
    const ages = times(40).map((index) => 1.5 ** (index % 20))
    await Promise.all(ages.map((age) => driving.addLatency(fixture.id, { ...interval(age), dropped: 1 })))
    await ended(fixture)
    await driving.addLatency(fixture.id, { ...interval(...ages), dropped: 5 })
    const sorted = [...ages, ...ages].toSorted((a, b) => a - b)
    expect((await fixture.read()).latency).toEqual({
      p50_ms: bound(sorted[39] as number),
      p95_ms: bound(sorted[75] as number),
      max_ms: rounded(1.5 ** 19),
      frames: 80,
      dropped: 45,
      speed: null,
      video: null,
    })
    const { buckets } = await world.platform.core.db
      .selectFrom('session_latency')
      .select('buckets')
      .where('session_id', '=', fixture.id)
      .executeTakeFirstOrThrow()
    expect(buckets).toEqual(interval(...sorted).buckets)
  })

  test('of a session with dropped commands only has no ages', async () => {
    const fixture = await open()
    await driving.addLatency(fixture.id, { ...interval(), dropped: 7 })
    expect((await fixture.read()).latency).toEqual({
      p50_ms: null,
      p95_ms: null,
      max_ms: null,
      frames: 0,
      dropped: 7,
      speed: null,
      video: null,
    })
  })

  test('ignores an unknown session, and refuses a histogram of another size', async () => {
    await driving.addLatency(randomUUID(), interval(1))
    const fixture = await open()
    for (const size of [0, 63, 65]) {
      const odd = { ...interval(1), buckets: times(size) }
      await expect(driving.addLatency(fixture.id, odd)).rejects.toMatchObject({
        constraint: 'session_latency_buckets',
      })
    }
    expect((await fixture.read()).latency).toBe(null)
  })
})

test('endedCredentials returns the revoked, expired and unknown keys', async () => {
  const user = await world.client()
  const [valid, revoked, expired, later] = await Promise.all(times(4).map(() => user.key()))
  await user.delete(`/api/auth/api-keys/${revoked!.id}`)
  const setExpiry = (id: string, at: Date) =>
    world.platform.core.db.updateTable('api_keys').set({ expires_at: at }).where('id', '=', id).execute()
  await setExpiry(expired!.id, new Date(Date.now() - 1_000))
  await setExpiry(later!.id, new Date(Date.now() + 3_600_000))
  const unknown = randomUUID()
  const keys = [valid!.id, revoked!.id, expired!.id, later!.id, unknown]
  expect((await driving.endedCredentials(keys)).toSorted()).toEqual(
    [revoked!.id, expired!.id, unknown].toSorted(),
  )
  expect(await driving.endedCredentials([])).toEqual([])
})
