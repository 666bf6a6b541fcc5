import { ObserverLink, OperatorLink, SimulatedRobot, ticketsOf } from '@wheelhouse/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ControlFixture, DEADMAN_MS } from '../../support/gateway/control-fixture.ts'
import { simulateControl } from '../../support/gateway/simulated-control.ts'
import { download, readMcap, withRecorder } from '../../support/recordings/recording-fixture.ts'
import { performAction, start, tolerateLatency } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

describe('on a simulated clock', () => {
  const { open, session, robot, join } = simulateControl()
  const other = '00000000-0000-4000-b000-000000000001'
  let fixture: ControlFixture
  beforeEach(async () => {
    fixture = await open()
  })
  /** An operator whose robot drives to a goal. */
  async function driving() {
    fixture.reportAutonomy()
    const console = await join()
    const goal = fixture.goal(console)
    expect(robot()).toMatchObject({ goals: [goal], goal: { id: goal } })
    return { console, goal }
  }

  test('a robot that does not report that it accepts goals is sent none, nor one in another coordinate frame', async () => {
    const console = await join()
    fixture.goal(console)
    fixture.reportAutonomy()
    fixture.goal(console, { frame: 'odom' })
    expect(robot().goals).toEqual([])
    fixture.goal(console)
    expect(robot().goals).toHaveLength(1)

    // A new connection has to report it again.
    fixture.connectRobot()
    await fixture.attend()
    fixture.goal(console)
    expect(robot().goals).toEqual([])
    expect(console.dropped).toEqual(['no_goals', 'no_goals', 'no_goals'])
  })

  test('a goal passes the gate of commands, whatever the latency and the picture', async () => {
    fixture.reportAutonomy()
    const [console, second] = [await join(), await join('control', { userId: other })]
    fixture.control(console)
    fixture.goal(second)
    expect(second.dropped).toEqual(['not_holder'])
    fixture.goal(console, { seqBy: 0 })
    fixture.goal(console, { delayMs: DEADMAN_MS + 1 })
    fixture.book.pause()
    await fixture.attend()
    fixture.goal(console)
    expect(console.dropped).toEqual(['out_of_order', 'expired', 'session_paused'])
    expect(robot().goals).toEqual([])
    fixture.book.resume(fixture.nowMs())
    await fixture.attend()
    fixture.goal(console)
    expect(robot().goals).toHaveLength(1)
    fixture.stopRequest(console, 'a cat')
    fixture.goal(console)
    robot().socket.lose()
    fixture.goal(console)
    expect(console.dropped.slice(3)).toEqual(['stopped', 'robot_offline'])
    fixture.resolve(session().id)
  })

  test('a picture that is too old does not hold up a goal', async () => {
    fixture.reportAutonomy()
    const console = await join()
    fixture.control(console, { videoAgeMs: null })
    fixture.book.setVideoLimit(500)
    await fixture.attend()
    fixture.control(console)
    expect(console.dropped).toEqual(['video_stale'])
    fixture.goal(console)
    expect(robot().goals).toHaveLength(1)
  })

  test('the deadman does not end a goal, also not that of commands before it', async () => {
    fixture.reportAutonomy()
    const console = await join()
    fixture.control(console)
    fixture.goal(console)
    await fixture.pass(10 * DEADMAN_MS)
    expect(robot()).toMatchObject({ goal: {}, stops: [], canceled: [] })
  })

  test('a command cancels it first, and is under the deadman from then on; a dropped one does not', async () => {
    const { console, goal } = await driving()
    fixture.control(console, { delayMs: DEADMAN_MS + 1 })
    expect(robot().canceled).toEqual([])
    fixture.control(console)
    fixture.control(console)
    expect(robot()).toMatchObject({ canceled: [goal], controls: 2, moving: true })
    await fixture.pass(DEADMAN_MS + 20)
    expect(robot().stops).toEqual(['deadman'])
    fixture.goal(console)
    expect(JSON.parse(console.state as string).stop).toBeNull()
  })

  test('its operator cancels it; nobody else can, nor twice', async () => {
    const { console, goal } = await driving()
    for (const who of [await join('watch'), await join('control', { userId: other }), console, console])
      who.socket.receiveFrame({ type: 'cancel_goal' })
    expect(robot().canceled).toEqual([goal])
  })

  test('a goal that has ended is not canceled, and its robot is not halted', async () => {
    const { console } = await driving()
    fixture.reportAutonomy({ goal_id: 'another', status: 'reached' })
    expect(robot().socket.link.controlSession?.stream.moving).toBe(true)
    fixture.reportAutonomy({ status: 'reached' })
    fixture.control(console)
    console.socket.lose()
    expect(robot()).toMatchObject({ canceled: [], stops: ['operator_lost'] })
    fixture.reportAutonomy({ status: 'reached' })
  })

  test.each<[string, (console: Awaited<ReturnType<typeof driving>>['console']) => unknown]>([
    ['operator_lost', (console) => console.socket.lose()],
    ['session_paused', () => fixture.book.pause()],
    ['session_over', () => fixture.book.end()],
    ['control_transferred', () => fixture.book.transfer(other, 'supervisor')],
    ['a cat', (console) => fixture.stopRequest(console, 'a cat')],
    ['gateway_draining', () => void fixture.gateway.drain()],
  ])('the stop %s halts a robot that drives to a goal', async (reason, cause) => {
    const { console } = await driving()
    const driven = robot()
    await cause(console)
    await fixture.attend()
    expect(driven.stops).toContain(reason)
    expect(driven.goal).toBeNull()
    fixture.resolve(console.sessionId)
  })

  test('a goal for a robot that does not read is dropped', async () => {
    fixture.reportAutonomy()
    const console = await join()
    robot().socket.pause()
    fixture.control(console)
    fixture.goal(console)
    expect(console.dropped).toContain('robot_slow')
    expect(robot().goals).toEqual([])
  })

  test('a goal has the epoch of its holder, and the rest of its lifetime', async () => {
    fixture.reportAutonomy()
    const supervisor = await join('control', { userId: other })
    fixture.book.transfer(other, 'supervisor')
    await fixture.attend()
    await fixture.pass(1_100) // the round trips are known, and clocks may have drifted
    fixture.goal(supervisor) // the fixture checks its epoch
    expect(robot().goals).toHaveLength(1)
    expect(robot().ttlsMs[0]).toBeLessThanOrEqual(DEADMAN_MS)
  })

  test('participants receive each report once, those who join the last one, and those who do not read the newest later', async () => {
    const [console, observer] = [await join(), await join('watch')]
    expect(console.autonomy).toEqual([])
    fixture.reportAutonomy()
    fixture.reportAutonomy()
    const goal = fixture.goal(console)
    const report = { type: 'autonomy', mode: 'autonomous', goal_frame: 'map', goal: null }
    for (const one of [console, observer]) expect(one.autonomy).toEqual([report])

    observer.socket.pause()
    fixture.reportAutonomy({ progress: 0.1 })
    fixture.reportAutonomy({ progress: 0.2 })
    fixture.reportAutonomy({ progress: 0.3 })
    observer.socket.resume()
    await fixture.attend()
    expect(observer.autonomy.at(-1)?.goal).toMatchObject({ goal_id: goal, progress: 0.3 })
    expect(observer.autonomy.length).toBeLessThan(console.autonomy.length)
    expect((await join('watch')).autonomy).toEqual([console.autonomy.at(-1)])

    fixture.connectRobot()
    await fixture.attend()
    expect((await join('watch')).autonomy).toEqual([])
  })

  test('a malformed goal or report is answered with an error', async () => {
    fixture.reportAutonomy()
    const console = await join()
    const place = { goal_id: 'dock', frame: 'map', x: 1, y: 2, heading: 0 }
    for (const change of [{ x: null }, { goal_id: '' }, { frame: 'a\nb' }, { ttl_ms: 0 }])
      console.socket.receiveFrame({ type: 'goal', seq: 1, t: 0, ...place, ...change })
    expect(console.answers.map(({ type }) => type)).toEqual(['error', 'error', 'error', 'error'])
    robot().socket.receiveFrame({ type: 'autonomy', mode: 'asleep' })
    robot().socket.receiveFrame({ type: 'autonomy', mode: 'manual', goal_frame: 'x'.repeat(101) })
    fixture.goal(console) // the last well-formed report counts
    expect(robot().goals).toHaveLength(1)
  })
})

describe('at real sockets', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ env: { ...withRecorder, HEARTBEAT_TIMEOUT_MS: '30000' } })
  })
  afterAll(async () => await world[Symbol.asyncDispose]())

  test('a robot drives to goals; commands, stops, the loss of the operator and a transfer of control cancel them', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const { id: robotId, token } = await world.robot(owner)
    await owner.patch(`/api/client/robots/${robotId}`, { recording: 'control' })
    await tolerateLatency(world, robotId)
    const robot = new SimulatedRobot({ url: `${world.gatewayUrl}/robots/${robotId}/control`, token })
    await robot.start()
    const sessionId = await start(operator, robotId)
    const ticketFor = (user: typeof owner, part: 'control' | 'watch') =>
      ticketsOf({ baseUrl: world.baseUrl, token: user.token, sessionId, part })
    const console = new OperatorLink({ getTicket: ticketFor(operator, 'control'), reconnect: { baseMs: 1 } })
    const observer = new ObserverLink({ getTicket: ticketFor(owner, 'watch') })
    const dropped: string[] = []
    const supervisor = new OperatorLink({
      getTicket: ticketFor(owner, 'control'),
      onDropped: (_seq, why) => dropped.push(why),
    })
    await using _ = {
      async [Symbol.asyncDispose]() {
        for (const each of [robot, console, observer, supervisor]) await each.close()
      },
    }
    for (const link of [console, observer]) {
      await link.connect()
      await waitFor(() =>
        expect(link.autonomy).toMatchObject({ mode: 'manual', goal_frame: 'odom', goal: null }),
      )
    }
    const statusOf = (status: string, goalId: string | undefined) =>
      waitFor(() => {
        for (const link of [console, observer])
          expect(link.autonomy?.goal).toMatchObject({ goal_id: goalId, status })
      })
    const ttlMs = 10_000 // a busy machine does not make it expire
    /** Sends the robot far away, and waits until it drives. */
    const send = async (link = console) => {
      const sent = link.goal({ frame: 'odom', x: 20, y: 1, heading: 0 }, { ttlMs })
      await waitFor(() =>
        expect(link.autonomy?.goal).toMatchObject({ goal_id: sent?.goalId, status: 'active' }),
      )
      await waitFor(() => expect(robot.state.leftMps).toBeGreaterThan(0))
      return sent?.goalId
    }

    const near = console.goal({ frame: 'odom', x: 1.3, y: 1, heading: 0 }, { ttlMs, goalId: 'near' })
    await statusOf('reached', near?.goalId)
    expect(robot.state.xM).toBeCloseTo(1.3, 1)
    expect(console.autonomy).toMatchObject({ mode: 'manual', goal: { progress: 1 } })

    const commanded = await send()
    console.control({ linear_mps: 0 }, { ttlMs })
    await statusOf('canceled', commanded)
    const canceled = await send()
    console.cancelGoal()
    await statusOf('canceled', canceled)

    const stopped = await send()
    await observer.stop('a cat')
    await statusOf('canceled', stopped)
    await waitFor(() => expect(console.state?.status).toBe('PAUSED'))
    await performAction(owner, sessionId, 'clear_stop')
    await performAction(operator, sessionId, 'resume')
    await waitFor(() => expect(console.state).toMatchObject({ status: 'ACTIVE', stop: null }))

    const lost = await send()
    await console.close()
    await waitFor(() => expect(observer.autonomy?.goal).toMatchObject({ goal_id: lost, status: 'canceled' }))
    expect(robot.link.stop).toMatchObject({ reason: 'operator_lost' })

    await supervisor.connect()
    supervisor.goal({ frame: 'odom', x: 20, y: 1, heading: 0 }, { ttlMs })
    await waitFor(() => expect(dropped).toEqual(['not_holder']))
    const take = await owner.post(`/api/sessions/${sessionId}/control`, { action: 'take_over' })
    expect(take.status, JSON.stringify(take.body)).toBe(200)
    await waitFor(() => expect(supervisor.lease?.you).toBe(true))
    const taken = await send(supervisor)
    expect((await owner.post(`/api/sessions/${sessionId}/control`, { action: 'return' })).status).toBe(200)
    await waitFor(() => expect(observer.autonomy?.goal).toMatchObject({ goal_id: taken, status: 'canceled' }))

    await performAction(owner, sessionId, 'end')
    const { file_url: path } = await waitFor(async () => {
      const { body } = await owner.get(`/api/sessions/${sessionId}/recording`)
      expect(body.status).toBe('READY')
      return body
    })
    const mcap = await readMcap((await download(world, owner, path)).bytes)
    const goals = mcap.of('/goal').map(({ json }) => [json?.type, json?.goal_id])
    const sent = ['near', commanded, canceled, stopped, lost, taken]
    expect(goals.filter(([type]) => type === 'goal').map(([, id]) => id)).toEqual(sent)
    expect(goals.filter(([type]) => type === 'cancel_goal').map(([, id]) => id)).toEqual([
      commanded,
      canceled,
    ])
    const reports = mcap.of('/autonomy').map(({ json }) => json)
    expect(reports[0]).toMatchObject({ mode: 'manual', goal_frame: 'odom', goal: null })
    for (const goal_id of sent.slice(1))
      expect(reports).toContainEqual(
        expect.objectContaining({ goal: expect.objectContaining({ goal_id, status: 'canceled' }) }),
      )
  })
})
