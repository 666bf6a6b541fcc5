import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Reply, TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const SESSIONS = '/api/sessions'
const MINUTE_MS = 60_000

let world: World
let clockMs = Math.ceil(Date.now() / (60 * MINUTE_MS)) * 60 * MINUTE_MS
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(clockMs) })
})
afterAll(() => world[Symbol.asyncDispose]())

const at = (minutes: number) => new Date(clockMs + minutes * MINUTE_MS).toISOString()
/** Formats a time like the error messages. */
const utc = (minutes: number) => at(minutes).slice(0, 16).replace('T', ' ')
const read = async (user: TestUser, id: string) => (await user.get(`${SESSIONS}/${id}`)).body
const statusOf = async (user: TestUser, id: string) => (await read(user, id)).status as string
const performAction = (user: TestUser, id: string, action: string) =>
  user.patch(`${SESSIONS}/${id}`, { action })

async function robotOf(owner: TestUser) {
  const robot = await world.robot(owner)
  ;(await world.connect(robot)).beat()
  return robot
}
async function participants() {
  const [owner, operator, other] = [await world.client(), await world.operator(), await world.operator()]
  return { owner, operator, other, robot: await robotOf(owner) }
}
const book = (operator: TestUser, robot: { id: string }, minutesAhead: number, plannedMinutes?: number) =>
  operator.post(SESSIONS, {
    robotId: robot.id,
    scheduledFor: at(minutesAhead),
    ...(plannedMinutes !== undefined && { plannedMinutes }),
  })
const booked = (reply: Reply): string => {
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 201 })
  return reply.body.sessionId
}
/** Resolves after the worker has handled all sessions due at the current time of the clock. */
async function workerRound(): Promise<void> {
  const { operator, robot } = await participants()
  const id = booked(await book(operator, robot, 1))
  clockMs += MINUTE_MS
  await expect.poll(() => statusOf(operator, id)).toBe('ACTIVE')
  await performAction(operator, id, 'end')
}

describe('a planned length', () => {
  test('defaults to 60 minutes, and gives the session a planned end', async () => {
    const { operator, robot } = await participants()
    const id = booked(await book(operator, robot, 60))
    expect(await read(operator, id)).toMatchObject({ planned_minutes: 60, planned_end: at(120) })
    const short = booked(await book(operator, robot, 120, 15))
    expect(await read(operator, short)).toMatchObject({ planned_minutes: 15, planned_end: at(135) })
  })

  test.each([0, -1, 1.5, 1_441, '60', null])(
    'of %j returns 400 with the field name',
    async (plannedMinutes) => {
      const { operator, robot } = await participants()
      const body = { robotId: robot.id, scheduledFor: at(60), plannedMinutes }
      const reply = await operator.post(SESSIONS, body)
      expect(reply).toMatchObject({ status: 400, body: { error: expect.stringContaining('plannedMinutes') } })
    },
  )
})

describe('an overlapping booking', () => {
  test('of the same operator returns 409 with their session', async () => {
    const { operator, robot, owner } = await participants()
    const id = booked(await book(operator, robot, 60))
    const second = await robotOf(owner)
    for (const [where, ahead] of [
      [robot, 60],
      [second, 60],
      [second, 119],
      [second, 1],
    ] as const) {
      const refused = await book(operator, where, ahead)
      expect(refused.status, `${ahead} minutes ahead`).toBe(409)
      expect(refused.body.error).toContain(id)
      expect(refused.body.error).toContain(`${utc(60)} to ${utc(120)} UTC`)
    }
    booked(await book(operator, second, 120))
    booked(await book(operator, second, 0.5, 59))
  })

  test('of another operator returns 409 with the window of the robot, but no operator or session', async () => {
    const { operator, other, robot } = await participants()
    const id = booked(await book(operator, robot, 60, 90))
    const refused = await book(other, robot, 149)
    expect(refused).toMatchObject({
      status: 409,
      body: {
        error: `The robot is already booked from ${utc(60)} to ${utc(150)} UTC. Choose another time or robot.`,
      },
    })
    expect(JSON.stringify(refused.body)).not.toContain(id)
    booked(await book(other, robot, 150))
  })

  test('succeeds after the other one is cancelled or has ended early', async () => {
    const { operator, other, robot } = await participants()
    const first = booked(await book(operator, robot, 60))
    await performAction(operator, first, 'cancel')
    const second = booked(await book(other, robot, 60))
    clockMs += 60 * MINUTE_MS
    await expect.poll(() => statusOf(other, second)).toBe('ACTIVE')
    await performAction(other, second, 'end')
    booked(await book(operator, robot, 10))
  })

  test('prevents an immediate start with a planned length, but not one without', async () => {
    const { operator, other, robot } = await participants()
    booked(await book(operator, robot, 30))
    const start = (more: object) => other.post(SESSIONS, { robotId: robot.id, ...more })
    const refused = await start({ plannedMinutes: 31 })
    expect(refused).toMatchObject({ status: 409, body: { error: expect.stringContaining(utc(30)) } })
    const id = booked(await start({}))
    expect(await read(other, id)).toMatchObject({ planned_minutes: null, planned_end: null })
    await performAction(other, id, 'end')
    const planned = booked(await start({ plannedMinutes: 30 }))
    expect(await read(other, planned)).toMatchObject({ planned_minutes: 30, planned_end: at(30) })
  })

  test('sent ten times concurrently succeeds once per robot and per operator', async () => {
    const { owner, operator, robot } = await participants()
    const operators = await Promise.all(Array.from({ length: 10 }, () => world.operator()))
    const ofRobot = await Promise.all(operators.map((item, index) => book(item, robot, 60 + index)))
    expect(ofRobot.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
    const robots = await Promise.all(Array.from({ length: 10 }, () => robotOf(owner)))
    const ofOperator = await Promise.all(robots.map((item, index) => book(operator, item, 60 + index)))
    expect(ofOperator.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
  })
})

describe('at the time of a booking', () => {
  test('a session that follows another starts after it ends, late or early, each within its own window', async () => {
    const { operator, other, robot } = await participants()
    const first = booked(await book(operator, robot, 10, 20))
    const second = booked(await book(other, robot, 30, 20))
    clockMs += 15 * MINUTE_MS
    await expect.poll(() => statusOf(operator, first)).toBe('ACTIVE')
    expect(await read(operator, first), 'a late start shifts nothing').toMatchObject({ planned_end: at(15) })
    clockMs += 20 * MINUTE_MS
    await workerRound()
    expect(await statusOf(other, second), 'the robot is still busy').toBe('PENDING')
    await performAction(operator, first, 'end')
    await expect.poll(() => statusOf(other, second)).toBe('ACTIVE')
    await performAction(other, second, 'end')
  })

  test('an early start ends early, and is rejected when it would overlap another booking', async () => {
    const { operator, other, robot } = await participants()
    const later = booked(await book(operator, robot, 120))
    booked(await book(other, robot, 30, 30))
    const refused = await performAction(operator, later, 'start')
    expect(refused).toMatchObject({ status: 409, body: { error: expect.stringContaining(utc(30)) } })
    clockMs += 61 * MINUTE_MS
    await performAction(operator, later, 'cancel')
    const early = booked(await book(operator, robot, 120))
    expect(await performAction(operator, early, 'start')).toMatchObject({ status: 200 })
    expect(await read(operator, early)).toMatchObject({ status: 'ACTIVE', planned_end: at(60) })
    await performAction(operator, early, 'end')
  })

  test('a session whose window is over never starts automatically', async () => {
    const { operator, other, robot } = await participants()
    const id = booked(await book(operator, robot, 10, 5))
    const before = booked(await other.post(SESSIONS, { robotId: robot.id }))
    clockMs += 15 * MINUTE_MS // after the window of five minutes, within the fifteen minutes for a start
    await expect.poll(() => statusOf(operator, id)).toBe('CANCELLED')
    expect(await read(operator, id)).toMatchObject({ end_reason: 'not_started', client_charge_cents: null })
    await performAction(other, before, 'end')
    expect(await statusOf(operator, id)).toBe('CANCELLED')
  })

  test('a session whose operator already has a session on the robot is superseded and does not start', async () => {
    const { owner, operator, robot } = await participants()
    const id = booked(await book(operator, robot, 10))
    const instead = booked(await operator.post(SESSIONS, { robotId: robot.id }))
    await workerRound()
    expect(await statusOf(operator, id), 'not before its time').toBe('PENDING')
    clockMs += 9 * MINUTE_MS
    await expect.poll(() => statusOf(operator, id)).toBe('CANCELLED')
    expect(await read(operator, id)).toMatchObject({ end_reason: 'superseded', started_at: null })
    await performAction(operator, instead, 'end')
    await workerRound()
    expect((await owner.get(`${SESSIONS}?robotId=${robot.id}`)).body.sessions).toHaveLength(2)
    expect((await owner.get(`/api/client/robots/${robot.id}`)).body.status).toBe('AVAILABLE')
  })
})

describe('an extension', () => {
  async function running() {
    const fixture = await participants()
    const id = booked(
      await fixture.operator.post(SESSIONS, { robotId: fixture.robot.id, plannedMinutes: 30 }),
    )
    const extend = (additionalMinutes: number) =>
      fixture.owner.post(`${SESSIONS}/${id}/extend`, { additionalMinutes })
    return { ...fixture, id, extend }
  }
  /** Creates a booking that a running session of the same robot can overlap with an extension. */
  async function runningBefore(who: 'operator' | 'other') {
    const fixture = await participants()
    const { operator } = fixture
    const robot = who === 'other' ? fixture.robot : await robotOf(await world.client())
    const next = booked(await book(fixture[who], robot, 60))
    const id = booked(await operator.post(SESSIONS, { robotId: fixture.robot.id, plannedMinutes: 30 }))
    const extend = (additionalMinutes: number) =>
      fixture.owner.post(`${SESSIONS}/${id}/extend`, { additionalMinutes })
    return { ...fixture, id, next, extend }
  }

  test('counts from the planned end, or from now after the planned end', async () => {
    const { operator, id, extend } = await running()
    expect((await extend(15)).status).toBe(200)
    expect(await performAction(operator, id, 'approve_extension')).toMatchObject({
      body: { planned_minutes: 45, planned_end: at(45) },
    })
    clockMs += 50 * MINUTE_MS
    await extend(10)
    expect(await performAction(operator, id, 'approve_extension')).toMatchObject({
      body: { planned_minutes: 60, planned_end: at(10) },
    })
    await performAction(operator, id, 'end')
  })

  test('of a session without a planned end counts from now', async () => {
    const { owner, operator, robot } = await participants()
    const id = booked(await operator.post(SESSIONS, { robotId: robot.id }))
    clockMs += 20 * MINUTE_MS
    await owner.post(`${SESSIONS}/${id}/extend`, { additionalMinutes: 15 })
    expect(await performAction(operator, id, 'approve_extension')).toMatchObject({
      body: { planned_minutes: 35, planned_end: at(15) },
    })
    await performAction(operator, id, 'end')
  })

  test('into a booking of the robot returns 409 with its time; up to the booking it succeeds', async () => {
    const { operator, id, extend } = await runningBefore('other')
    const refused = await extend(31)
    expect(refused).toMatchObject({ status: 409, body: { error: expect.stringContaining(`${utc(60)} UTC`) } })
    expect((await extend(30)).status).toBe(200)
    expect(await performAction(operator, id, 'approve_extension')).toMatchObject({ status: 200 })
    await performAction(operator, id, 'end')
  })

  test('into another session of the operator returns 409, which shows the client only its time', async () => {
    const { operator, id, next, extend } = await runningBefore('operator')
    const refused = await extend(31)
    expect(refused).toMatchObject({ status: 409, body: { error: expect.stringContaining(`${utc(60)} UTC`) } })
    expect(refused.body.error).not.toContain(next)
    await performAction(operator, id, 'end')
  })

  test('is checked again at the approval: the error names a session booked in between', async () => {
    const { operator, id, next, extend } = await runningBefore('other')
    await extend(30)
    clockMs += 35 * MINUTE_MS // the thirty minutes count from now, and end after the booking begins
    const refused = await performAction(operator, id, 'approve_extension')
    expect(refused).toMatchObject({ status: 409, body: { error: expect.stringContaining(utc(25)) } })
    expect(refused.body.error).not.toContain(next)
    expect(await read(operator, id)).toMatchObject({ status: 'ACTIVE', planned_minutes: 30 })
    await performAction(operator, id, 'end')
  })
})
