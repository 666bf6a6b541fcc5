import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPresenceStore } from '../../../src/modules/presence/presence.store.ts'
import { createSweep } from '../../../src/modules/presence/presence-sweep.ts'
import { createSchedule } from '../../../src/modules/sessions/lifecycle/session-schedule.ts'
import { explore } from '../../support/runner/explore.ts'
import { createSilentGateway } from '../../support/world/billing.ts'
import {
  actions,
  createModel,
  GRACE_MS,
  MINUTE_MS,
  type Model,
  owners,
  type Session,
  users,
  type Who,
} from '../../support/world/session-model.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** A run compares everything after each step: it computes for 0.5 s. */
const COSTS = 5

type Weighted = [weight: number, arbitrary: fc.Arbitrary<unknown>]
const mostly = (...choices: Weighted[]) =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))

/** The actor of a step: mostly a participant of the session, so that most steps succeed; otherwise any user. */
const as = mostly([6, fc.constant('operator')], [4, fc.constant('client')], [2, fc.constantFrom(...users)])
const operator = mostly([8, fc.constantFrom('alice', 'both')], [1, fc.constantFrom(...users)])
const robot = fc.nat({ max: owners.length - 1 })
/** Index of a session, counted from the newest. */
const session = mostly([5, fc.constant(0)], [1, fc.nat({ max: 3 })])
const action = mostly(
  [4, fc.constantFrom('pause', 'resume', 'resume', 'emergency_stop', 'clear_stop')],
  [2, fc.constantFrom(...actions)],
)
const jumpMs = mostly(
  [5, fc.integer({ min: 1, max: 3 * MINUTE_MS })],
  [3, fc.constantFrom(MINUTE_MS, GRACE_MS + 1, 16 * MINUTE_MS)],
  [1, fc.integer({ min: -30_000, max: 0 })],
)
const kind = <T extends string>(name: T) => fc.constant(name)
const step = mostly(
  [3, fc.record({ do: kind('start'), as: operator, robot })],
  [2, fc.record({ do: kind('schedule'), as: operator, robot, minutes: fc.integer({ min: 1, max: 90 }) })],
  [12, fc.record({ do: kind('perform_action'), as, session, action })],
  [2, fc.record({ do: kind('extend'), as, session, minutes: fc.integer({ min: 1, max: 480 }) })],
  [2, fc.record({ do: kind('rate'), as, session, stars: fc.integer({ min: 1, max: 5 }) })],
  [
    1,
    fc.record({
      do: kind('plan'),
      as: fc.constantFrom('admin', 'admin', 'alice'),
      client: fc.constantFrom(...owners),
      plan: fc.constantFrom('standard', 'fleet'),
    }),
  ],
  [
    3,
    fc.record({
      do: kind('lose'),
      robot,
      notified: fc.boolean(),
      silentMs: fc.integer({ min: 0, max: 90_000 }),
    }),
  ],
  [3, fc.record({ do: kind('connect'), robot })],
  [6, fc.record({ do: kind('jump'), ms: jumpMs })],
  [4, fc.record({ do: kind('tick') })],
)
// biome-ignore lint/suspicious/noExplicitAny: a union of ten small records, discriminated by `do`
type Step = any

let clockMs = Date.parse('2026-05-10T12:00:00Z')

async function createFixture(world: World) {
  const {
    core: { db, log },
    sessions: { starts, lifecycle, presence: sessionPresence },
  } = world.platform
  const now = () => new Date(clockMs)
  const gateway = await createSilentGateway(world, () => clockMs)
  const store = createPresenceStore({ databaseUrl: world.database.url, poolSize: 1 })
  const sweep = createSweep({
    store,
    sessions: sessionPresence,
    lifecycle,
    log,
    now,
    robotGraceMs: GRACE_MS,
    nodeTimeoutMs: 3_600_000,
    handoverMs: 3_600_000,
    monotonicMs: () => performance.now(),
  })
  const schedule = createSchedule({ db, starts, lifecycle, now, log })
  const actors: Record<Who, TestUser> = {
    owner: await world.client(),
    both: await world.client(),
    alice: await world.operator(),
    admin: await world.admin(),
  }
  await actors.both.post('/api/auth/profile', { role: 'operator' })
  const robots: string[] = []
  for (const owner of owners) robots.push((await world.robot(actors[owner])).id)
  for (const id of robots) await gateway.connect(id)
  return {
    world,
    db,
    gateway,
    actors,
    robots,
    async tick() {
      await sweep.run()
      await schedule.run()
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await store.close()
    },
  }
}
type Fixture = Awaited<ReturnType<typeof createFixture>>

/** Performs a step on the platform and on the model. Both must return the same result. */
async function perform(fixture: Fixture, model: Model, step: Step): Promise<void> {
  const { actors, robots, gateway } = fixture
  const item = 'session' in step ? model.sessions.at(-1 - step.session) : undefined
  if ('session' in step && !item) return
  const path = `/api/sessions/${item?.id}`
  const side = { operator: item?.operator, client: item?.client }
  const who = (side[step.as as keyof typeof side] ?? step.as) as Who
  const user = actors[who]
  const agree = (reply: { status: number; body: unknown }, predicted: number) =>
    expect(reply.status, `${JSON.stringify(step)} → ${JSON.stringify(reply.body)}`).toBe(predicted)

  if (step.do === 'start' || step.do === 'schedule') {
    // Sessions must not have equal start times, so that the order of their starts is known.
    const aheadMs = step.minutes * MINUTE_MS + model.sessions.length
    const scheduledForMs = step.do === 'schedule' ? clockMs + aheadMs : null
    const scheduledFor =
      scheduledForMs === null ? {} : { scheduledFor: new Date(scheduledForMs).toISOString() }
    const reply = await user.post('/api/sessions', { robotId: robots[step.robot], ...scheduledFor })
    agree(reply, model.start(who, step.robot, clockMs, scheduledForMs))
    if (reply.status === 201) (model.sessions.at(-1) as Session).id = reply.body.sessionId
  } else if (step.do === 'perform_action') {
    const reply = await user.patch(path, { action: step.action })
    agree(reply, model.performAction(who, item as Session, step.action, clockMs))
  } else if (step.do === 'extend') {
    const reply = await user.post(`${path}/extend`, { additionalMinutes: step.minutes })
    agree(reply, model.extend(who, item as Session, step.minutes, clockMs))
  } else if (step.do === 'rate') {
    const reply = await user.post(`${path}/rate`, { rating: step.stars })
    agree(reply, model.rate(who, item as Session, step.stars))
  } else if (step.do === 'plan') {
    const client = actors[step.client as Who].id
    const reply = await user.post(`/api/admin/clients/${client}/plan`, { plan: step.plan })
    agree(reply, model.plan(who, step.client, step.plan))
  } else if (step.do === 'lose' && model.robots[step.robot]?.connected) {
    const signMs = clockMs - step.silentMs
    if (step.notified) await gateway.lose(robots[step.robot] as string, signMs)
    else await gateway.disconnect(robots[step.robot] as string, signMs)
    model.lose(step.robot, clockMs, signMs, step.notified)
  } else if (step.do === 'connect' && !model.robots[step.robot]?.connected) {
    await gateway.connect(robots[step.robot] as string)
    model.connect(step.robot, clockMs)
  } else if (step.do === 'jump') clockMs += step.ms
  else if (step.do === 'tick') {
    await fixture.tick()
    model.tick(clockMs)
    await release(fixture, model)
  }
}

/** Releases all robots on hold, as their owners. */
async function release({ actors, robots }: Fixture, model: Model): Promise<void> {
  for (const [index, robot] of model.robots.entries()) {
    if (!robot.onHold) continue
    await actors[robot.owner].patch(`/api/client/robots/${robots[index]}`, { on_hold: false })
    robot.onHold = false
  }
}

/** Asserts that the database matches the model. */
async function compare({ db, robots }: Fixture, model: Model): Promise<void> {
  const ids = model.sessions.map(({ id }) => id)
  const rows = await db
    .selectFrom('sessions')
    .selectAll()
    .where('robot_id', 'in', robots)
    .where('id', 'in', ids.length > 0 ? ids : [crypto.randomUUID()])
    .execute()
  const seen = new Map(rows.map((row) => [row.id, row]))
  for (const item of model.sessions) {
    expect(seen.get(item.id), JSON.stringify(item.log)).toMatchObject({
      status: item.status,
      active_ms: item.activeMs,
      outage_ms: item.outageMs,
      planned_minutes: item.plannedMinutes,
      rating: item.rating,
      end_reason: item.endReason,
      client_charge_cents: item.charge,
      operator_earnings_cents: item.earnings,
      event_seq: item.log.length,
      stop_at: item.stopped ? expect.any(Date) : null,
    })
  }
  const statuses = await db
    .selectFrom('robots')
    .select(['id', 'status', 'on_hold'])
    .where('id', 'in', robots)
    .execute()
  for (const { id, status, on_hold } of statuses) {
    const index = robots.indexOf(id)
    expect({ status, on_hold }).toEqual({
      status: model.robotStatus(index),
      on_hold: model.robots[index]?.onHold,
    })
  }
}

/** Asserts that logs, ledger and notifications match the model, once at the end of a run. */
async function audit({ db, actors }: Fixture, model: Model): Promise<void> {
  for (const item of model.sessions) {
    const { body } = await actors[item.client].get(`/api/sessions/${item.id}/events?limit=200`)
    const events: { seq: number; type: string }[] = body.events
    expect(events.map(({ type }) => type)).toEqual(item.log)
    expect(events.map(({ seq }) => seq)).toEqual(item.log.map((_, index) => index + 1))
    const lines = await db
      .selectFrom('ledger_entries')
      .select(['account', 'amount_cents'])
      .where('session_id', '=', item.id)
      .execute()
    const [charge, earnings] = [item.charge ?? 0, item.earnings ?? 0]
    const expected = [
      { account: 'client_receivable', amount_cents: charge },
      { account: 'operator_pending', amount_cents: -earnings },
      { account: 'platform_revenue', amount_cents: earnings - charge },
    ]
    expect(lines).toEqual(expected.filter((line) => line.amount_cents !== 0))
  }
  const gaps = await db
    .selectFrom('users')
    .leftJoin('notifications', 'notifications.user_id', 'users.id')
    .select(({ fn }) => ['users.id', 'notification_seq', fn.count('notifications.seq').as('count')])
    .groupBy('users.id')
    .execute()
  for (const { notification_seq, count } of gaps) expect(Number(count)).toBe(notification_seq)
}

/** Ends open sessions and reconnects all robots, so that the next run begins with the same state as the first. */
async function cleanUp(fixture: Fixture, model: Model): Promise<void> {
  const { actors, robots, gateway } = fixture
  for (const item of model.sessions) {
    await actors[item.client].patch(`/api/sessions/${item.id}`, { action: 'end' })
    await actors[item.client].patch(`/api/sessions/${item.id}`, { action: 'cancel' })
  }
  await release(fixture, model)
  clockMs += 60 * MINUTE_MS
  for (const [index, robot] of robots.entries()) {
    if (model.robots[index]?.connected) await gateway.disconnect(robot, clockMs)
    await gateway.connect(robot)
  }
  for (const owner of owners) {
    if (model.plans[owner] === 'standard') continue
    await actors.admin.post(`/api/admin/clients/${actors[owner].id}/plan`, { plan: null })
  }
}

// A failure prints its seed and the shortest failing run; `fc.assert(…, { seed, path })` repeats it.
test('any order of actions of users, robots and workers yields the responses, states and charges of the model', async () => {
  const env = { ROLES: 'api,hub,gateway' } // the steps run the worker
  await using world = await createWorld({ now: () => new Date(clockMs), bus: 'redis', env })
  await using fixture = await createFixture(world)
  const scenario = fc.array(step, { minLength: 20, maxLength: 50, size: 'max' })
  await explore(
    fc.asyncProperty(scenario, async (steps) => {
      const model = createModel(clockMs)
      try {
        for (const item of steps) {
          await perform(fixture, model, item)
          await compare(fixture, model)
        }
        await audit(fixture, model)
      } finally {
        await cleanUp(fixture, model)
      }
    }),
    { costs: COSTS },
  )
})
