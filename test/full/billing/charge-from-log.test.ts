import fc from 'fast-check'
import { expect, test } from 'vitest'
import { actors, createSilentGateway, MINUTE_MS } from '../../support/world/billing.ts'
import { type Entry, openSessionFixture, performAction, start } from '../../support/world/session-fixtures.ts'
import { createWorld } from '../../support/world/world.ts'

/** Computes the billable time from the session log, by the formula of docs/specification.md. */
function billableMs(log: readonly Entry[]): number {
  let activeSince: number | undefined
  let activeMs = 0
  let outageMs = 0
  for (const { at, data } of log) {
    if (data.status === undefined) continue // chat
    const active = data.status === 'ACTIVE'
    const absent = data.reason === 'operator_absent' && data.actor_id === undefined
    if (activeSince !== undefined && !active && !absent) {
      activeMs += Math.max(0, Date.parse(at) - activeSince)
    }
    activeSince = active ? (activeSince ?? Date.parse(at)) : undefined
    outageMs += Math.round(Number(data.outage_seconds ?? 0) * 1_000)
  }
  return activeMs - outageMs
}

const step = fc.record({
  afterMs: fc.oneof(fc.integer({ min: 0, max: 3 * MINUTE_MS }), fc.constantFrom(0, 1, MINUTE_MS)),
  what: fc.constantFrom(
    ...(['pause', 'resume', 'stop', 'clear', 'extend', 'chat'] as const),
    // Independent stages of an outage: the robot falls silent, the gateway notices, the session is notified,
    // the robot reconnects.
    ...(['silent', 'silent', 'disconnect', 'lose', 'lose', 'back', 'back'] as const),
  ),
})

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** Sequences with an outage, which random ones rarely have. */
const outageExamples = [
  ['silent', 'lose'],
  ['silent', 'disconnect', 'lose', 'back', 'resume'],
  ['pause', 'resume', 'silent', 'extend', 'lose'],
] as const

test('the session log determines the charge, and both participants see the outage', async () => {
  let clockMs = Date.parse('2026-05-10T12:00:00Z')
  const env = { ROBOT_GRACE_MS: '86400000' } // the worker ends no session during the test
  await using world = await createWorld({ now: () => new Date(clockMs), env })
  await using gateway = await createSilentGateway(world, () => clockMs)
  const { owner, operator, robotId } = await actors(world, gateway)
  // The next run starts on the same robot. It must not depend on which user stopped the robot in this run.
  await owner.patch(`/api/client/robots/${robotId}`, { stop_clear: 'anyone' })
  let outages = 0
  const scenario = fc.tuple(
    fc.array(step, { minLength: 1, maxLength: 14 }),
    fc.integer({ min: 0, max: 3 * MINUTE_MS }),
  )
  await fc.assert(
    fc.asyncProperty(scenario, async ([steps, tailMs]) => {
      const id = await start(operator, robotId)
      const path = `/api/sessions/${id}`
      const robot = { silentSinceMs: undefined as number | undefined, connected: true }
      const disconnect = () => gateway.disconnect(robotId, robot.silentSinceMs ?? clockMs)
      const reconnect = async () => {
        if (!robot.connected) await gateway.connect(robotId)
        Object.assign(robot, { silentSinceMs: undefined, connected: true })
      }
      const execute = {
        // The platform rejects some of these, depending on the state. The property covers that.
        pause: () => operator.patch(path, { action: 'pause' }),
        resume: () => operator.patch(path, { action: 'resume' }),
        stop: () => owner.patch(path, { action: 'emergency_stop' }),
        clear: () => owner.patch(path, { action: 'clear_stop' }),
        extend: () => owner.post(`${path}/extend`, { additionalMinutes: 5 }),
        chat: () => owner.post(`${path}/messages`, { body: 'hello' }),
        silent: async () => {
          robot.silentSinceMs ??= clockMs
        },
        disconnect: async () => {
          if (robot.connected) await disconnect()
          robot.connected = false
        },
        lose: async () => {
          const sign = new Date(robot.silentSinceMs ?? clockMs)
          if (robot.connected) await disconnect()
          robot.connected = false
          await world.platform.sessions.presence.handleRobotLost(robotId, sign)
        },
        back: reconnect,
      }
      for (const { afterMs, what } of steps) {
        clockMs += afterMs
        await execute[what]()
      }
      clockMs += tailMs
      await performAction(operator, id, 'end')
      const log: Entry[] = (await owner.get(`${path}/events?limit=200`)).body.events
      const [clientView, operatorView] = [(await owner.get(path)).body, (await operator.get(path)).body]
      const billed = billableMs(log)
      expect(clientView.client_charge_cents).toBe(
        Math.ceil(billed / MINUTE_MS) * clientView.rate_cents_per_minute,
      )
      expect(clientView.billable_seconds).toBe(Math.ceil(billed / 1_000))
      const row = await world.platform.core.db
        .selectFrom('sessions')
        .select(['active_ms', 'outage_ms'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      expect(row.active_ms - row.outage_ms).toBe(billed)
      for (const view of [clientView, operatorView])
        expect(view.outage_seconds).toBe(Math.ceil(row.outage_ms / 1_000))
      for (const { type, data } of log) {
        if (type === 'robot.lost') expect(data).toMatchObject({ last_sign_at: expect.any(String) })
      }
      if (row.outage_ms > 0) outages += 1
      await reconnect()
    }),
    {
      numRuns: 40,
      endOnFailure: true,
      examples: outageExamples.map((steps): [[Step[], number]] => [
        [steps.map((what) => ({ afterMs: 20_000, what })), MINUTE_MS],
      ]),
    },
  )
  expect(outages, 'runs with outages').toBeGreaterThan(2)
})

test('the log records the last sign of life of a lost robot and the unbilled outage', async () => {
  let clockMs = Date.parse('2026-05-10T12:00:00Z')
  await using world = await createWorld({ now: () => new Date(clockMs) })
  await using gateway = await createSilentGateway(world, () => clockMs)
  const { owner, operator, robotId } = await actors(world, gateway)
  const id = await start(operator, robotId)
  clockMs += 3 * MINUTE_MS
  const lastSignMs = clockMs
  clockMs += 12_345
  await gateway.lose(robotId, lastSignMs)
  const log = (await owner.get(`/api/sessions/${id}/events`)).body.events
  expect(log.at(-1)).toMatchObject({
    type: 'robot.lost',
    at: new Date(clockMs).toISOString(),
    data: {
      status: 'PAUSED',
      reason: 'robot_lost',
      last_sign_at: new Date(lastSignMs).toISOString(),
      outage_seconds: 12.345,
    },
  })
  const [notification] = (await operator.get('/api/notifications')).body.notifications
  expect(notification).toMatchObject({ type: 'robot.lost', data: { outage_seconds: 12.345 } })
  expect((await operator.get(`/api/sessions/${id}`)).body).toMatchObject({ outage_seconds: 13 })
  expect((await owner.get(`/api/sessions/${id}`)).body).toMatchObject({ outage_seconds: 13 })
  await performAction(operator, id, 'end')
  expect((await owner.get(`/api/sessions/${id}`)).body).toMatchObject({ client_charge_cents: 150 })
})

test('a disconnected robot has its last sign of life between its connection and its loss', async () => {
  await using world = await createWorld()
  const fixture = await openSessionFixture(world)
  const startedAtMs = Date.now()
  fixture.link.destroy()
  await expect.poll(async () => (await fixture.log()).at(-1)?.type).toBe('robot.lost')
  const { data, at } = (await fixture.log()).at(-1) as Entry
  const sign = Date.parse(String(data.last_sign_at))
  expect(sign).toBeLessThanOrEqual(Date.parse(at))
  expect(sign).toBeGreaterThan(startedAtMs - 10_000)
  expect(Number(data.outage_seconds)).toBeGreaterThanOrEqual(0)
})

test('the charge excludes the time in which the operator is absent, and the log shows it', async () => {
  let clockMs = Date.parse('2026-05-10T12:00:00Z')
  const env = { OPERATOR_JOIN_MS: '120000' }
  await using world = await createWorld({ now: () => new Date(clockMs), env })
  await using gateway = await createSilentGateway(world, () => clockMs)
  const { owner, operator, robotId } = await actors(world, gateway)
  const id = await start(operator, robotId)
  const read = async () => (await owner.get(`/api/sessions/${id}`)).body
  clockMs += 3 * MINUTE_MS
  await expect.poll(async () => (await read()).pause_reason).toBe('operator_absent')
  await performAction(operator, id, 'resume')
  clockMs += 90_000
  await performAction(operator, id, 'end')
  const log: Entry[] = (await owner.get(`/api/sessions/${id}/events`)).body.events
  expect(billableMs(log)).toBe(90_000)
  expect(await read()).toMatchObject({ billable_seconds: 90, client_charge_cents: 100 })
})
