import fc from 'fast-check'
import { expect, test } from 'vitest'
import { actors, createSilentGateway, MINUTE_MS } from '../../support/world/billing.ts'
import { type Entry, openSessionFixture, performAction, start } from '../../support/world/session-fixtures.ts'
import { createWorld } from '../../support/world/world.ts'

/** The formula of docs/specification.md, over nothing but the log. */
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
    // The robot falls silent, its gateway notices, its session is told, it is back: each for itself.
    ...(['silent', 'silent', 'disconnect', 'lose', 'lose', 'back', 'back'] as const),
  ),
})

test('whatever happens in a session, its charge follows from its log alone, and both sides see the outage', {
  timeout: 120_000,
}, async () => {
  let clockMs = Date.parse('2026-05-10T12:00:00Z')
  const env = { ROBOT_GRACE_MS: '86400000' } // so that the worker ends nothing by itself
  await using world = await createWorld({ now: () => new Date(clockMs), env })
  await using gateway = await createSilentGateway(world, () => clockMs)
  const { owner, operator, robotId } = await actors(world, gateway)
  // The next story starts on the robot whoever stopped it in this one.
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
      const lost = () => gateway.disconnect(robotId, robot.silentSinceMs ?? clockMs)
      const back = async () => {
        if (!robot.connected) await gateway.connect(robotId)
        Object.assign(robot, { silentSinceMs: undefined, connected: true })
      }
      const doIt = {
        // Most of these are refused at times, which is part of the story.
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
          if (robot.connected) await lost()
          robot.connected = false
        },
        lose: async () => {
          const sign = new Date(robot.silentSinceMs ?? clockMs)
          if (robot.connected) await lost()
          robot.connected = false
          await world.platform.sessions.presence.handleRobotLost(robotId, sign)
        },
        back,
      }
      for (const { afterMs, what } of steps) {
        clockMs += afterMs
        await doIt[what]()
      }
      clockMs += tailMs
      await performAction(operator, id, 'end')
      const log: Entry[] = (await owner.get(`${path}/events?limit=200`)).body.events
      const [client, driver] = [(await owner.get(path)).body, (await operator.get(path)).body]
      const billed = billableMs(log)
      expect(client.client_charge_cents).toBe(Math.ceil(billed / MINUTE_MS) * client.rate_cents_per_minute)
      expect(client.billable_seconds).toBe(Math.ceil(billed / 1_000))
      const row = await world.platform.core.db
        .selectFrom('sessions')
        .select(['active_ms', 'outage_ms'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      expect(row.active_ms - row.outage_ms).toBe(billed)
      for (const view of [client, driver]) expect(view.outage_seconds).toBe(Math.ceil(row.outage_ms / 1_000))
      for (const { type, data } of log) {
        if (type === 'robot.lost') expect(data).toMatchObject({ last_sign_at: expect.any(String) })
      }
      if (row.outage_ms > 0) outages += 1
      await back()
    }),
    { numRuns: 80, endOnFailure: true },
  )
  expect(outages, 'stories with outages').toBeGreaterThan(5)
})

test('the log says when a lost robot gave its last sign of life, and what of it is not billed', async () => {
  await using world = await createWorld({ now: () => new Date(clockMs) })
  let clockMs = Date.parse('2026-05-10T12:00:00Z')
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

test('a real robot that breaks off: its last sign of life is between its connection and its loss', async () => {
  await using world = await createWorld()
  const fixture = await openSessionFixture(world)
  const startedAtMs = Date.now()
  fixture.link.destroy()
  await expect.poll(async () => (await fixture.log()).at(-1)?.type, { timeout: 10_000 }).toBe('robot.lost')
  const { data, at } = (await fixture.log()).at(-1) as Entry
  const sign = Date.parse(String(data.last_sign_at))
  expect(sign).toBeLessThanOrEqual(Date.parse(at))
  expect(sign).toBeGreaterThan(startedAtMs - 10_000)
  expect(Number(data.outage_seconds)).toBeGreaterThanOrEqual(0)
})

test('the time of an operator who did not come is no part of the charge, as the log shows', async () => {
  let clockMs = Date.parse('2026-05-10T12:00:00Z')
  const env = { OPERATOR_JOIN_MS: '120000' }
  await using world = await createWorld({ now: () => new Date(clockMs), env })
  await using gateway = await createSilentGateway(world, () => clockMs)
  const { owner, operator, robotId } = await actors(world, gateway)
  const id = await start(operator, robotId)
  const read = async () => (await owner.get(`/api/sessions/${id}`)).body
  clockMs += 3 * MINUTE_MS
  await expect.poll(async () => (await read()).pause_reason, { timeout: 20_000 }).toBe('operator_absent')
  await performAction(operator, id, 'resume')
  clockMs += 90_000
  await performAction(operator, id, 'end')
  const log: Entry[] = (await owner.get(`/api/sessions/${id}/events`)).body.events
  expect(billableMs(log)).toBe(90_000)
  expect(await read()).toMatchObject({ billable_seconds: 90, client_charge_cents: 100 })
})
