import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { atCommandLine } from '../../support/cli/cli-world.ts'
import { cli } from '../../support/cli/in-process.ts'
import { endCommands } from '../../support/cli/terminal.ts'
import { TestDriver, TestRobot } from '../../support/gateway/frame-socket.ts'
import { connectMcp } from '../../support/mcp/mcp-client.ts'
import {
  openSessionFixture,
  performAction,
  type SessionFixture,
} from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// The way of a remote stop from each kind of caller to the robot's socket. stop-authority.test.ts has who may stop and clear.

let world: World
let fixture: SessionFixture
/** An operator who takes no part in the session. */
let stranger: TestUser
let robot: TestRobot
beforeAll(async () => {
  world = await createWorld({ bus: 'redis' })
  fixture = await openSessionFixture(world)
  robot = fixture.link
  stranger = await world.operator()
})
afterAll(async () => {
  await endCommands()
  await robot.close()
  await world[Symbol.asyncDispose]()
})

const latchedStops = () => robot.frames.filter(({ latched }) => latched)
const stopOf = async (user = fixture.owner) => (await fixture.read(user)).control.stop

/** Clears the stop of a test as the owner, and resumes the session. */
afterEach(async () => {
  if (await stopOf()) await performAction(fixture.owner, fixture.id, 'clear_stop')
  if ((await fixture.read()).status === 'PAUSED') await performAction(fixture.operator, fixture.id, 'resume')
})

/** Waits for a stop at the robot, which confirms it. It is the first one since `robot.frames` was emptied. */
async function arrives(reason: string): Promise<void> {
  await waitFor(() => expect(latchedStops()[0]).toEqual({ type: 'stop', reason, latched: true }))
  robot.send({ type: 'stopped', reason })
  expect(new Set(latchedStops().map((stop) => stop.reason))).toEqual(new Set([reason]))
}

/** Expects a stop in the session and its log, and returns it. */
async function isRecorded(reason: string, by: TestUser) {
  const session = await waitFor(async () => {
    const session = await fixture.read()
    expect(session).toMatchObject({ status: 'PAUSED', control: { stop: { reason, by: by.id } } })
    return session
  })
  expect((await fixture.log()).findLast(({ type }) => type === 'session.stopped')).toMatchObject({
    data: { reason, actor_id: by.id },
  })
  return session.control.stop
}

describe('a stop latches at the robot and is recorded, and a user without a part in the session cannot stop', () => {
  test('over REST', async () => {
    robot.frames.length = 0
    expect(await fixture.performAction(stranger, 'emergency_stop', 'not mine')).toMatchObject({
      status: 404,
      body: { error: 'Session not found' },
    })
    const stopped = await fixture.performAction(fixture.owner, 'emergency_stop', 'a person in the way')
    expect(stopped).toMatchObject({
      status: 200,
      body: { status: 'PAUSED', control: { connected: true, stop: { reason: 'a person in the way' } } },
    })
    await arrives('a person in the way')
    await isRecorded('a person in the way', fixture.owner)
  })

  test('over the hub, where every observer sees it', async () => {
    const [operator, owner, other] = [
      await fixture.operator.hub(),
      await fixture.owner.hub(),
      await stranger.hub(),
    ]
    const { head } = await owner.send('session:watch', { session_id: fixture.id })
    const send = (hub: typeof owner, action: string) =>
      hub.send('session:action', { session_id: fixture.id, action })
    robot.frames.length = 0
    expect(await send(other, 'emergency_stop')).toMatchObject({ ok: false, status: 404 })
    expect(await send(operator, 'emergency_stop')).toMatchObject({
      ok: true,
      session: { status: 'PAUSED', control: { stop: { reason: 'emergency_stop' } } },
    })
    await arrives('emergency_stop')
    await isRecorded('emergency_stop', fixture.operator)
    await owner.saw('session:event', { type: 'session.stopped', seq: head + 1 })
    await owner.saw('notification', { type: 'session.stopped' })
    // The owner's stop revokes the operator's right to clear it.
    expect(await send(owner, 'emergency_stop')).toMatchObject({ ok: true })
    expect(await send(operator, 'clear_stop')).toMatchObject({ ok: false, status: 403 })
    expect(await send(operator, 'resume')).toMatchObject({ ok: false, status: 409 })
    expect(await send(owner, 'clear_stop')).toMatchObject({ ok: true, session: { status: 'PAUSED' } })
    await owner.saw('session:event', { type: 'session.stop_cleared' })
    for (const hub of [operator, owner, other]) hub.close()
  })

  test.each(['operator', 'owner'] as const)("over the gateway, from the %s's socket", async (name) => {
    const [console, observer] = [
      await world.drive(fixture.operator, fixture.id),
      await world.drive(fixture.owner, fixture.id, 'watch'),
    ]
    for (const socket of [console, observer]) await socket.state()
    robot.frames.length = 0
    expect((await stranger.post(`${fixture.path}/ticket`, { part: 'watch' })).status).toBe(404)
    const { url } = (await fixture.owner.post(`${fixture.path}/ticket`, { part: 'watch' })).body
    const intruder = new TestDriver(url, 'no ticket')
    intruder.socket.on('open', () => intruder.send({ type: 'stop', reason: 'not mine' }))
    expect(await intruder.closed).toBe(1006)

    const requester = name === 'operator' ? console : observer
    requester.send({ type: 'stop', reason: `of the ${name}` })
    await arrives(`of the ${name}`)
    const stop = { reason: `of the ${name}`, by_role: name === 'owner' ? 'client' : name }
    const clearable_by = name === 'operator' ? 'anyone' : 'owner'
    for (const socket of [console, observer]) {
      const recorded = await socket.state((state) => state.stop?.recorded)
      expect(recorded.stop).toEqual({ ...stop, clearable_by, latched: true, recorded: true })
    }
    await isRecorded(stop.reason, fixture[name])

    if (name === 'owner') {
      const set = (stop_clear: string) =>
        fixture.owner.patch(`/api/client/robots/${fixture.robotId}`, { stop_clear })
      for (const setting of ['anyone', 'owner']) {
        await set(setting)
        await console.state((state) => state.stop?.clearable_by === setting)
      }
    }
    await performAction(fixture.owner, fixture.id, 'clear_stop')
    for (const socket of [console, observer]) {
      await socket.state((state) => state.stop === null || !state.stop.latched)
      await socket.close()
    }
    await performAction(fixture.operator, fixture.id, 'resume')
  })

  test('over MCP, where no tool clears it', async () => {
    await using other = await connectMcp(world.baseUrl, stranger.token)
    await using owner = await connectMcp(world.baseUrl, (await fixture.owner.key()).key)
    robot.frames.length = 0
    const stop = { sessionId: fixture.id, reason: 'a cat' }
    expect(await other.use('stop_robot', stop)).toMatchObject({ status: 404 })
    expect((await owner.use('stop_robot', stop)).body).toMatchObject({
      status: 'PAUSED',
      control: { stop: { reason: 'a cat', by: fixture.owner.id } },
    })
    await arrives('a cat')
    await isRecorded('a cat', fixture.owner)
    expect((await owner.toolNames()).filter((tool) => /resume|clear/.test(tool))).toEqual([])
  })

  test('over the command line', async () => {
    const [owner, other] = [await atCommandLine(world, fixture.owner), await atCommandLine(world, stranger)]
    robot.frames.length = 0
    expect((await cli(other, ['stop', fixture.id])).code).toBe(4)
    const done = await cli(owner, ['stop', '--reason', 'smoke'])
    expect(done.code, done.stderr).toBe(0)
    expect(done.stdout).toContain(`wheelhouse sessions clear-stop ${fixture.id}`)
    await arrives('smoke')
    await isRecorded('smoke', fixture.owner)
  })
})

test('a stopped robot is halted before anything else, and no command moves it until clear and resumption', async () => {
  const console = await world.drive(fixture.operator, fixture.id)
  await console.state()
  const session = (status: string) => ({ type: 'session', session_id: fixture.id, status })
  /** Returns what the robot received, without answers and repeated stops. */
  const received = () =>
    robot.frames.filter(
      (frame, index, all) =>
        frame.type !== 'heartbeat_ack' &&
        !(frame.latched && all.slice(0, index).some(({ latched }) => latched)),
    )
  robot.frames.length = 0
  const expected: unknown[] = []
  await performAction(fixture.owner, fixture.id, 'emergency_stop', 'smoke')
  expected.push({ type: 'stop', reason: 'smoke', latched: true }, session('PAUSED'))
  await waitFor(() => expect(received()).toMatchObject(expected))
  robot.send({ type: 'stopped', reason: 'smoke' })
  await console.state(({ stop }) => stop?.latched)
  const seq = console.control()
  expect(await console.next('dropped')).toEqual({ type: 'dropped', seq, why: 'stopped' })

  await performAction(fixture.owner, fixture.id, 'clear_stop')
  expected.push({ type: 'stop_cleared' }, { type: 'stop', reason: 'session_paused', latched: false })
  await waitFor(() => expect(received()).toMatchObject(expected))
  console.control()
  expect((await console.next('dropped')).why).toBe('session_paused')

  await performAction(fixture.operator, fixture.id, 'resume')
  await waitFor(() => expect(received()).toMatchObject([...expected, session('ACTIVE')]))
  await console.state(({ status, stop }) => status === 'ACTIVE' && stop === null)
  console.control()
  await robot.next('control')
  await console.close()
})

test('a stop outlives the connection of the robot and its gateway, until it is cleared', async () => {
  const reconnect = async (gatewayUrl = world.gatewayUrl) => {
    robot = new TestRobot(`${gatewayUrl}/robots/${fixture.robotId}/control`, fixture.robot.token).beat()
    return await robot.next('welcome')
  }
  const held = {
    session: { session_id: fixture.id, status: 'PAUSED' },
    stop: { reason: 'held', latched: true },
  }
  await robot.close()
  await waitFor(async () => expect((await fixture.read()).status).toBe('PAUSED'))
  expect(await fixture.performAction(fixture.operator, 'emergency_stop', 'held')).toMatchObject({
    status: 200,
    body: { control: { connected: false } },
  })
  expect(await reconnect()).toMatchObject(held)
  // This gateway has only what is stored, like one after a restart.
  const other = await world.addNode('gateway')
  expect(await reconnect(other.gatewayUrl)).toMatchObject(held)
  await robot.next('stop') // until the robot confirms it
  expect(await fixture.performAction(fixture.operator, 'resume')).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('stop is latched') },
  })
  await performAction(fixture.operator, fixture.id, 'clear_stop')
  await robot.next('stop_cleared')
  expect(await reconnect()).toMatchObject({ session: held.session, stop: null })
  await waitFor(async () => expect((await fixture.read()).control.connected).toBe(true))
})

test('a stop ends with its session, and the robot accepts the next one', async () => {
  robot.frames.length = 0
  await performAction(fixture.owner, fixture.id, 'emergency_stop', 'enough')
  await arrives('enough')
  expect(await performAction(fixture.owner, fixture.id, 'end')).toMatchObject({
    status: 'COMPLETED',
    control: { stop: null },
  })
  await robot.next('stop_cleared')
  await waitFor(() =>
    expect(robot.frames).toContainEqual({ type: 'stop', reason: 'session_over', latched: false }),
  )
  robot.frames.length = 0
  const { sessionId } = (await fixture.operator.post('/api/sessions', { robotId: fixture.robotId })).body
  await waitFor(() =>
    expect(robot.frames.find(({ type }) => type === 'session')).toMatchObject({
      session_id: sessionId,
      status: 'ACTIVE',
    }),
  )
  expect(latchedStops()).toEqual([])
})
