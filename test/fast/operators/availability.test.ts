import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectTo } from '../../support/database/sql.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const AVAILABILITY = '/api/operator/availability'
const MINUTE_MS = 60_000

/** A Wednesday at noon in Berlin. The test controls the schedule's clock; presence uses the database clock. */
let clockMs = Date.parse('2026-07-01T10:00:00Z')
let world: World
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(clockMs) })
})
afterAll(() => world[Symbol.asyncDispose]())

const read = async (operator: TestUser) => {
  const { status, body } = await operator.get(AVAILABILITY)
  expect(status).toBe(200)
  return body
}
const schedule = async (operator: TestUser, start: string, end: string) => {
  const week = { timezone: 'Europe/Berlin', slots: [{ weekday: 3, start, end }] }
  expect((await operator.post('/api/operator/schedule', week)).status).toBe(200)
}
const seen = (operator: TestUser) =>
  world.platform.core.db
    .selectFrom('user_presence')
    .selectAll()
    .where('user_id', '=', operator.id)
    .executeTakeFirst()
/** Moves the last presence sign of an operator into the past. */
const agePresence = async (operator: TestUser, seconds: number) => {
  await using sql = await connectTo(world.database.url)
  await sql.query(`update user_presence set seen_at = now() - $2 * interval '1 second' where user_id = $1`, [
    operator.id,
    seconds,
  ])
}

describe('GET /api/operator/availability: returns', () => {
  test('no_schedule before the operator saves a schedule, with or without presence', async () => {
    const operator = await world.operator()
    const expected = {
      available: false,
      reason: 'no_schedule',
      next_available_at: null,
      open_session_id: null,
    }
    expect(await read(operator)).toEqual(expected)
    await operator.hub()
    await waitFor(async () => expect(await seen(operator)).toBeDefined())
    expect(await read(operator)).toEqual(expected)
    await operator.post('/api/operator/schedule', { timezone: 'UTC', slots: [] })
    expect(await read(operator)).toEqual(expected)
  })

  test('outside_schedule and the next opening, with or without presence', async () => {
    const operator = await world.operator()
    await schedule(operator, '13:30', '17:00')
    const expected = {
      available: false,
      reason: 'outside_schedule',
      open_session_id: null,
      next_available_at: '2026-07-01T11:30:00.000Z',
    }
    expect(await read(operator)).toEqual(expected)
    await operator.hub()
    await waitFor(async () => expect(await seen(operator)).toBeDefined())
    expect(await read(operator)).toEqual(expected)

    await schedule(operator, '09:00', '12:00')
    expect(await read(operator)).toMatchObject({ next_available_at: '2026-07-08T07:00:00.000Z' })
  })

  test('offline inside the schedule without a hub connection, and available with a connection', async () => {
    const operator = await world.operator()
    await schedule(operator, '09:00', '17:00')
    expect(await read(operator)).toEqual({
      available: false,
      reason: 'offline',
      next_available_at: null,
      open_session_id: null,
    })
    await operator.hub()
    await waitFor(async () =>
      expect(await read(operator)).toEqual({
        available: true,
        reason: null,
        next_available_at: null,
        open_session_id: null,
      }),
    )
  })

  test('in_session during an open session, paused or active, inside and outside the schedule', async () => {
    const [client, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(client)
    ;(await world.connect(robot)).beat()
    const { sessionId } = (await operator.post('/api/sessions', { robotId: robot.id })).body
    const inSession = { available: false, reason: 'in_session', open_session_id: sessionId }
    expect(await read(operator)).toEqual({ ...inSession, next_available_at: null })

    await schedule(operator, '09:00', '17:00')
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'pause' })
    expect(await read(operator)).toEqual({ ...inSession, next_available_at: null })

    await schedule(operator, '18:00', '19:00')
    expect(await read(operator)).toEqual({ ...inSession, next_available_at: '2026-07-01T16:00:00.000Z' })

    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    expect(await read(operator)).toMatchObject({ reason: 'outside_schedule', open_session_id: null })
  })

  test('outside_schedule before a slot opens and after it closes', async () => {
    const operator = await world.operator()
    await operator.hub()
    await waitFor(async () => expect(await seen(operator)).toBeDefined())
    await schedule(operator, '12:10', '12:20')
    const reasons: (string | null)[] = []
    for (const minutes of [9, 1, 9, 1]) {
      clockMs += minutes * MINUTE_MS
      reasons.push((await read(operator)).reason)
    }
    clockMs -= 20 * MINUTE_MS
    expect(reasons).toEqual(['outside_schedule', null, null, 'outside_schedule'])
  })
})

describe('presence', () => {
  test('lasts 15 seconds on the database clock', async () => {
    const operator = await world.operator()
    await schedule(operator, '09:00', '17:00')
    await world.platform.identity.userPresence.markSeen([operator.id]) // as a hub process does before it dies
    // Repeated, because the database's clock runs between the two statements.
    await waitFor(async () => {
      await agePresence(operator, 14)
      expect(await read(operator)).toMatchObject({ available: true, reason: null })
    })
    await agePresence(operator, 15)
    expect(await read(operator)).toMatchObject({ available: false, reason: 'offline' })
  })

  test('is renewed while the connection lasts', async () => {
    const operator = await world.operator()
    await schedule(operator, '09:00', '17:00')
    await operator.hub()
    await waitFor(async () => expect(await read(operator)).toMatchObject({ available: true }))
    // Repeated, because the hub's own round may come between the two statements.
    await waitFor(async () => {
      await agePresence(operator, 60)
      expect(await read(operator)).toMatchObject({ available: false })
    })
    world.platform.core.guards.hub.runRound('timer:user-presence')
    await waitFor(async () => expect(await read(operator)).toMatchObject({ available: true }))
  })

  test('is recorded for every operator that connects concurrently', async () => {
    const users = await Promise.all(Array.from({ length: 20 }, () => world.operator()))
    await Promise.all(users.map((user) => user.hub()))
    await waitFor(async () => {
      const rows = await Promise.all(users.map(seen))
      expect(rows.filter(Boolean)).toHaveLength(20)
    })
  })

  test('of an unknown user is skipped', async () => {
    const user = await world.newUser()
    await world.platform.identity.userPresence.markSeen([crypto.randomUUID(), user.id])
    expect(await seen(user)).toMatchObject({ user_id: user.id })
  })
})
