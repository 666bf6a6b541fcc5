import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestRobot } from '../../support/gateway/frame-socket.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  // The test sends the heartbeats of robots.
  world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '30000' } })
})
afterAll(() => world[Symbol.asyncDispose]())

async function connectedRobot() {
  const owner = await world.client()
  const robot = await world.robot(owner)
  const path = `/api/client/robots/${robot.id}`
  const read = async () => (await owner.get(path)).body
  return { owner, robot, path, read, link: await world.connect(robot) }
}

let serial = 0
/** Sends a heartbeat and waits for its acknowledgement. */
async function beat(link: TestRobot, fields: Record<string, unknown>): Promise<void> {
  const seq = ++serial
  link.send({ type: 'heartbeat', seq, ...fields })
  for (;;) if ((await link.next('heartbeat_ack')).seq === seq) return
}

/** Sends one heartbeat and waits until its charge is persisted. */
async function report(
  link: TestRobot,
  read: () => Promise<{ battery: number | null }>,
  battery: number,
  stored = battery,
) {
  await beat(link, { battery })
  await waitFor(async () => expect((await read()).battery).toBe(stored))
}

const lowBatteries = async (user: TestUser) =>
  (await user.get('/api/notifications?limit=100')).body.notifications.filter(
    ({ type }: { type: string }) => type === 'robot.battery_low',
  )

describe('the battery of a robot', () => {
  test('is in its detail with the time, and remains after a disconnect; lists omit it', async () => {
    const { owner, robot, read, link } = await connectedRobot()
    expect(await read()).toMatchObject({ battery: null, battery_at: null, low_battery_threshold: 0.2 })
    const before = Date.now()
    await report(link, read, 0.83)
    const { battery_at } = await read()
    expect(Date.parse(battery_at)).toBeGreaterThanOrEqual(before - 10)
    expect(Date.parse(battery_at)).toBeLessThanOrEqual(Date.now() + 10)
    await beat(link, {})
    await link.close()
    await waitFor(async () => expect((await read()).status).toBe('OFFLINE'))
    expect(await read()).toMatchObject({ battery: 0.83, battery_at })
    const [listed] = (await owner.get('/api/client/robots')).body
    expect(listed.id).toBe(robot.id)
    expect(listed).not.toHaveProperty('battery')
  })

  test('that was reported right before the disconnect is persisted', async () => {
    const { read, link } = await connectedRobot()
    await beat(link, { battery: 0.5 })
    await link.close()
    await waitFor(async () => expect((await read()).battery).toBe(0.5))
  })

  // gateway/writer/battery-feed.test.ts has the other values.
  test('beyond 1 is shown as 1', async () => {
    const { read, link } = await connectedRobot()
    await report(link, read, 85, 1)
    expect(link.frames).toEqual([])
  })

  test('is ignored when it is not a valid number: the robot stays connected', async () => {
    const { read, link } = await connectedRobot()
    await report(link, read, 0.6)
    const strange = ['"full"', 'null', '[]', '{"level":1}', 'true']
    for (const battery of [...strange, ...strange]) link.send(`{"type":"heartbeat","battery":${battery}}`)
    for (const seq of ['-1', '1.5', '"1"', 'null', '1e400', '{}', '[]'])
      link.send(`{"type":"heartbeat","seq":${seq}}`)
    for (let n = 0; n < 17; n++) expect(await link.next('heartbeat_ack')).toMatchObject({ seq: null })
    await beat(link, {})
    expect(link.frames).toEqual([])
    expect((await read()).battery).toBe(0.6)
  })
})

test('telemetry of any content and size never closes the connection of a robot', async () => {
  const { link } = await connectedRobot()
  for (const data of ['1e999', '"\\ud83d"', '{"__proto__":1}', '[[[[[[1]]]]]]', 'null']) {
    link.send(`{"type":"telemetry","data":${data}}`)
  }
  link.send({ type: 'telemetry' })
  const large = JSON.stringify({ type: 'telemetry', data: 'x'.repeat(70_000) })
  for (let n = 0; n < 10; n++) link.send(large)
  for (let n = 0; n < 10; n++) expect((await link.next('error')).message).toContain('65536')
  await beat(link, {})
  expect(link.frames).toEqual([])
})

describe('participants of a session', () => {
  test('receive the charge when they join and when it changes by a hundredth', async () => {
    const fixture = await openSessionFixture(world)
    await beat(fixture.link, { battery: 0.8 })
    const operator = await world.drive(fixture.operator, fixture.id)
    expect(await operator.next('battery')).toEqual({ type: 'battery', battery: 0.8, at: expect.any(Number) })
    const observer = await world.drive(fixture.client, fixture.id, 'watch')
    expect(await observer.next('battery')).toMatchObject({ battery: 0.8 })
    for (const battery of [0.799, 0.796, 0.79, 0.789, 0.5]) await beat(fixture.link, { battery })
    for (const participant of [operator, observer]) {
      expect(await participant.next('battery')).toMatchObject({ battery: 0.79 })
      expect(await participant.next('battery')).toMatchObject({ battery: 0.5 })
      expect(participant.frames.filter(({ type }) => type === 'battery')).toEqual([])
    }
  })
})

describe('a low battery', () => {
  test('notifies the owner and the operator in session once for each discharge', async () => {
    const fixture = await openSessionFixture(world, { readEvents: true })
    const { client, operator, link, robot, id } = fixture
    const read = async () => (await client.get(`/api/client/robots/${robot.id}`)).body
    await report(link, read, 0.2)
    await report(link, read, 0.19)
    for (const user of [client, operator]) {
      await waitFor(async () => expect(await lowBatteries(user)).toHaveLength(1))
      const [notification] = await lowBatteries(user)
      expect(notification.data).toMatchObject({ robot_id: robot.id, session_id: id, battery: 0.19 })
    }
    await report(link, read, 0.22) // within the margin
    await report(link, read, 0.1)
    await report(link, read, 0.9)
    await report(link, read, 0.15)
    await waitFor(async () => expect(await lowBatteries(client)).toHaveLength(2))
    const events = async () => (await client.get('/api/events?types=robot.battery_low')).body.events
    await waitFor(async () => expect(await events()).toHaveLength(2))
    const seen = (await events()).map(({ data }: { data: Record<string, unknown> }) => data)
    expect(seen).toMatchObject([{ battery: 0.19 }, { battery: 0.15 }])
    expect(seen[0]).toEqual({
      robot_id: robot.id,
      robot_name: expect.any(String),
      battery: 0.19,
      battery_at: expect.any(String),
    })
    expect((await operator.get('/api/events?types=robot.battery_low')).body.events).toEqual([])
  })

  test('follows the threshold of the owner; 0 disables it', async () => {
    const { owner, path, read, link } = await connectedRobot()
    for (const threshold of [-0.1, 1.1, '0.5', null]) {
      expect((await owner.patch(path, { low_battery_threshold: threshold })).status).toBe(400)
    }
    const unrelatedUser = await world.client()
    expect((await unrelatedUser.patch(path, { low_battery_threshold: 0.9 })).status).toBe(404)
    expect((await owner.patch(path, { low_battery_threshold: 0 })).body.low_battery_threshold).toBe(0)
    await report(link, read, 0)
    const changed = await owner.patch(path, { low_battery_threshold: 0.5, name: 'Renamed' })
    expect(changed.body).toMatchObject({ low_battery_threshold: 0.5, name: 'Renamed' })
    await report(link, read, 0.45)
    await waitFor(async () => expect(await lowBatteries(owner)).toHaveLength(1))
    expect((await lowBatteries(owner))[0].data).toMatchObject({ battery: 0.45, robot_name: 'Renamed' })
  })

  test('is claimed once by concurrent workers', async () => {
    const { owner, read, link } = await connectedRobot()
    await report(link, read, 0.05)
    await Promise.all(Array.from({ length: 10 }, () => world.platform.robots.batteryJob.run()))
    await waitFor(async () => expect(await lowBatteries(owner)).toHaveLength(1))
  })
})
