import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { AutonomyReports } from '../../../packages/sdk/autonomy-reports.ts'
import {
  type AutonomyReport,
  ObserverLink,
  OperatorLink,
  RobotLink,
  type RobotLinkOptions,
} from '../../../packages/sdk/index.ts'
import { DriverGateway, RobotGateway, sessionId } from '../../support/gateway/scripted-gateway.ts'
import { waitFor } from '../../support/world/wait.ts'

const session = { session_id: sessionId, status: 'ACTIVE', operator_name: 'Ada' } as const
const quick = { baseMs: 2, maxMs: 10 }
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

describe('a robot', () => {
  /** Connects a robot to a fake gateway and records its callbacks. */
  async function createFixture(options: Partial<RobotLinkOptions> = {}, deadmanMs = 250) {
    const gateway = await new RobotGateway().listen()
    cleanups.push(() => gateway.close())
    gateway.welcome = { session, deadman_ms: deadmanMs }
    const received: unknown[] = []
    const link: RobotLink = new RobotLink({
      url: gateway.url,
      token: 'robot-token',
      reconnect: quick,
      watchdogMarginMs: 60_000,
      onGoal: ({ goalId, seq }) => received.push([goalId, seq]),
      onGoalCanceled: (goalId, reason) => received.push(`${goalId} ${reason}`),
      onControl: ({ seq }) => received.push(seq),
      onStop: ({ reason }) => received.push({ stop: reason }),
      onError: (cause) => received.push(cause),
      ...options,
    })
    cleanups.push(() => link.close())
    await link.connect()
    const stamp = (seq: number, ageMs = 0) => ({
      session_id: sessionId,
      seq,
      t: performance.now() - ageMs,
      ttl_ms: 250,
    })
    const goal = (goal_id: string, seq: number, change: object = {}, ageMs = 0) =>
      gateway.send({
        type: 'goal',
        ...stamp(seq, ageMs),
        goal_id,
        frame: 'map',
        x: 1,
        y: 2,
        heading: 3,
        ...change,
      })
    const control = (seq: number, change: object = {}) =>
      gateway.send({ type: 'control', ...stamp(seq), data: {}, ...change })
    /** Waits until the robot has handled all frames so far. */
    const settled = async () => {
      gateway.send({ type: 'error', message: `mark ${received.length}` })
      await waitFor(() => expect(received.at(-1)).toBeInstanceOf(Error))
      received.pop()
    }
    return { gateway, received, link, goal, control, settled }
  }
  const stop = (reason: string, latched = false) => ({ type: 'stop', reason, latched })
  const holder = null

  test('that would not learn of the end of a goal gets none', () => {
    const options = { url: 'ws://localhost', token: 'robot-token', onGoal: () => {} }
    expect(() => new RobotLink(options)).toThrow('onGoal needs onGoalCanceled')
  })

  test('receives a goal whole', async () => {
    const goals: unknown[] = []
    const { goal } = await createFixture({ onGoal: (one) => goals.push(one) })
    goal('dock', 1)
    await waitFor(() =>
      expect(goals).toEqual([{ goalId: 'dock', frame: 'map', x: 1, y: 2, heading: 3, seq: 1 }]),
    )
  })

  test('takes goals with numbers from 1 after a goal has ended, and in another session', async () => {
    const { gateway, link, goal, received } = await createFixture()
    goal('dock', 9)
    await waitFor(() => expect(received).toEqual([['dock', 9]]))
    link.autonomy({
      mode: 'manual',
      goalFrame: 'map',
      goal: { goalId: 'dock', status: 'reached', x: 1, y: 2, heading: 3 },
    })
    goal('again', 1)
    await waitFor(() => expect(received.at(-1)).toEqual(['again', 1]))
    goal('newer', 9)
    const other = randomUUID()
    gateway.send({ type: 'session', ...session, session_id: other })
    goal('other', 1, { session_id: other })
    await waitFor(() => expect(received.at(-1)).toEqual(['other', 1]))
  })

  test('gives up its goal for everything that ends it, once', async () => {
    const { gateway, received, goal, control, settled } = await createFixture()
    goal('a', 1)
    control(2)
    goal('b', 3)
    gateway.send({ type: 'cancel_goal', goal_id: 'a' })
    gateway.send({ type: 'cancel_goal', goal_id: 'b' })
    gateway.send({ type: 'cancel_goal', goal_id: 'b' })
    goal('c', 4)
    goal('d', 5)
    gateway.send(stop('deadman'))
    goal('e', 6)
    gateway.send({ type: 'session', ...session, status: 'PAUSED' })
    gateway.send({ type: 'session', ...session })
    goal('f', 7)
    gateway.send({ type: 'lease', epoch: 2, holder })
    goal('g', 1, { epoch: 2 })
    control(2, { epoch: 3 })
    goal('h', 3, { epoch: 3 })
    goal('i', 4, { epoch: 4 })
    await settled()
    expect(received).toEqual([
      ['a', 1],
      'a control',
      2,
      ['b', 3],
      'b canceled',
      ['c', 4],
      'c replaced',
      ['d', 5],
      { stop: 'deadman' },
      'd stopped',
      ['e', 6],
      'e session_paused',
      ['f', 7],
      'f control_transferred',
      { stop: 'control_transferred' },
      ['g', 1],
      'g control_transferred',
      { stop: 'control_transferred' },
      2,
      ['h', 3],
      'h control_transferred',
      { stop: 'control_transferred' },
      ['i', 4],
    ])
    gateway.newest.terminate()
    await waitFor(() => expect(received.slice(-2)).toEqual(['i link_lost', { stop: 'link_lost' }]))
  })

  test('refuses goals that are late, of an earlier epoch or command, or that must not move it', async () => {
    const late: number[] = []
    const { gateway, received, goal, control, settled } = await createFixture({
      onLateControl: (seq) => late.push(seq),
    })
    control(5)
    goal('of an earlier command', 4)
    goal('of the same one', 5)
    goal('late', 6, {}, 1_000)
    goal('of another session', 7, { session_id: '8d0f42a7-38a3-4f5b-b1a2-5b1f6a4ce7a1' })
    gateway.send(stop('a cat', true))
    goal('under a stop', 8)
    gateway.send({ type: 'stop_cleared' })
    gateway.send({ type: 'session', ...session, status: 'PAUSED' })
    goal('in a pause', 9)
    gateway.send({ type: 'session', ...session })
    gateway.send({ type: 'lease', epoch: 2, holder })
    goal('of an earlier epoch', 10)
    goal('good', 1, { epoch: 2 })
    await settled()
    expect(received.filter(Array.isArray)).toEqual([['good', 1]])
    expect(late).toEqual([6])
  })

  test('accepts the goal of an operator who has connected anew, whose numbers begin again after a halt', async () => {
    const { gateway, received, goal, control, settled } = await createFixture()
    control(500)
    gateway.send(stop('operator_lost'))
    goal('dock', 1)
    await settled()
    expect(received.at(-1)).toEqual(['dock', 1])
  })

  test('accepts the goal of an operator who has connected anew after a cancellation, which no stop follows', async () => {
    const { gateway, link, received, goal, settled } = await createFixture({
      onGoalCanceled: (goalId) => {
        const place = { goalId, x: 1, y: 2, heading: 3 }
        link.autonomy({ mode: 'manual', goalFrame: 'map', goal: { ...place, status: 'canceled' } })
      },
    })
    goal('first', 500)
    gateway.send({ type: 'cancel_goal', goal_id: 'first' })
    goal('second', 1)
    await settled()
    expect(received).toEqual([
      ['first', 500],
      ['second', 1],
    ])
  })

  test('ignores a goal that a command or a stop has overtaken on the data channel', async () => {
    const { gateway, received, goal, control, settled } = await createFixture()
    control(2, { order: 4 })
    goal('overtaken', 3, { order: 3 })
    goal('next', 4, { order: 6 })
    gateway.send({ type: 'cancel_goal', goal_id: 'next', order: 5 })
    await settled()
    expect(received).toEqual([2, ['next', 4]])
  })

  test('needs no commands while it drives to a goal', async () => {
    const { gateway, received, goal, control, settled } = await createFixture({ watchdogMarginMs: 0 }, 20)
    control(1)
    goal('dock', 2)
    await settled()
    const beats = () => gateway.framesOf('heartbeat').length
    const after = beats() + 5 // one each 20 ms
    await waitFor(() => expect(beats()).toBeGreaterThan(after))
    expect(received.at(-1)).toEqual(['dock', 2])
  })

  test('is not told to give up a goal whose end it has reported', async () => {
    const { gateway, received, goal, settled, link } = await createFixture()
    const report = (goalId: string) =>
      link.autonomy({
        mode: 'manual',
        goalFrame: 'map',
        goal: { goalId, x: 1, y: 2, heading: 3, status: 'reached' },
      })
    goal('dock', 1)
    await settled()
    report('dock')
    gateway.send(stop('deadman'))
    goal('charger', 2)
    await settled()
    report('dock')
    gateway.send(stop('deadman'))
    await settled()
    const stopped = { stop: 'deadman' }
    expect(received).toEqual([['dock', 1], stopped, ['charger', 2], stopped, 'charger stopped'])
  })

  test('reports its autonomy after each welcome, and again over each new connection', async () => {
    const { gateway, link } = await createFixture()
    link.autonomy({ mode: 'assisted', goalFrame: 'map' })
    const report = { type: 'autonomy', mode: 'assisted', goal_frame: 'map', goal: null }
    await waitFor(() => expect(gateway.framesOf('autonomy')).toEqual([report]))
    gateway.newest.terminate()
    await waitFor(() => expect(gateway.framesOf('autonomy')).toEqual([report, report]))
    expect(() => link.autonomy({ mode: 'autonomous', goalFrame: '' })).toThrow('goal_frame')
  })
})

describe('reports', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())
  const report = (
    progress: number,
    change: Partial<NonNullable<AutonomyReport['goal']>> = {},
  ): AutonomyReport => ({
    mode: 'autonomous',
    goalFrame: 'map',
    goal: { goalId: 'dock', x: 1, y: 2, heading: 0, status: 'active', progress, ...change },
  })

  test('of a change are sent at once, of mere progress five a second, and the newest one counts', () => {
    const sent: (number | undefined)[] = []
    const reports = new AutonomyReports(({ goal }) => sent.push(goal?.progress) > 0)
    reports.report(report(0))
    for (let ms = 10; ms <= 1_000; ms += 10) {
      reports.report(report(ms / 1_000))
      vi.advanceTimersByTime(10)
    }
    expect(sent).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1])
    reports.report(report(0, { goalId: 'charger' }))
    reports.report(report(1, { goalId: 'charger', status: 'reached', message: 'x'.repeat(600) }))
    vi.advanceTimersByTime(1_000)
    expect(sent.slice(6)).toEqual([0, 1])
  })

  test('wait for a connection, which gets the newest one', () => {
    let online = false
    const sent: (number | undefined)[] = []
    const reports = new AutonomyReports(({ goal }) => online && sent.push(goal?.progress) > 0)
    reports.send()
    for (const progress of [0, 0.5]) reports.report(report(progress))
    online = true
    reports.send()
    reports.report(report(0.7))
    reports.pause()
    vi.advanceTimersByTime(1_000)
    expect(sent).toEqual([0.5])
  })
})

describe('an operator', () => {
  async function createFixture() {
    const gateway = await new DriverGateway().listen()
    cleanups.push(() => gateway.close())
    const received: unknown[] = []
    const link = new OperatorLink({
      getTicket: async () => ({ url: gateway.url(), ticket: 't' }),
      reconnect: quick,
      onAutonomy: ({ mode }) => received.push(mode),
      onDropped: (seq, why) => received.push([seq, why]),
    })
    cleanups.push(() => link.close())
    return { gateway, received, link }
  }
  const target = { frame: 'map', x: 1.5, y: -2, heading: 0.5 }

  test('sends goals with the numbers of commands, and cancels them', async () => {
    const { gateway, received, link } = await createFixture()
    expect(link.goal(target)).toBeNull()
    expect(link.cancelGoal()).toBe(false)
    await link.connect()
    expect(link.control({})).toBe(1)
    expect(link.goal(target, { ttlMs: 900, goalId: 'dock' })).toEqual({ seq: 2, goalId: 'dock' })
    expect(link.goal(target)).toEqual({ seq: 3, goalId: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    expect(link.cancelGoal()).toBe(true)
    expect(link.control({})).toBe(4)
    await waitFor(() => expect(gateway.framesOf('control')).toHaveLength(2))
    const [first, second] = gateway.framesOf('goal')
    expect(first).toEqual({
      type: 'goal',
      seq: 2,
      t: expect.any(Number),
      ttl_ms: 900,
      goal_id: 'dock',
      ...target,
    })
    expect(second).not.toHaveProperty('ttl_ms')
    expect(gateway.framesOf('cancel_goal')).toEqual([{ type: 'cancel_goal' }])
    gateway.send({ type: 'dropped', seq: 3, why: 'no_goals' })
    await waitFor(() => expect(received).toEqual([[3, 'no_goals']]))
  })

  test('sends no invalid goal, and none while its stop is pending', async () => {
    const { gateway, link } = await createFixture()
    await link.connect()
    for (const change of [
      { x: Number.NaN },
      { heading: Number.POSITIVE_INFINITY },
      { frame: '' },
      { frame: 'a\n' },
    ])
      expect(() => link.goal({ ...target, ...change })).toThrow()
    expect(() => link.goal(target, { ttlMs: 0 })).toThrow()
    expect(() => link.goal(target, { goalId: 'x'.repeat(65) })).toThrow()
    link.stop().catch(() => {})
    expect(link.goal(target)).toBeNull()
    await waitFor(() => expect(gateway.framesOf('stop')).toHaveLength(1))
    expect(gateway.framesOf('goal')).toEqual([])
  })

  test('and an observer know what the robot does, until it or their connection is lost', async () => {
    const { gateway, received, link } = await createFixture()
    const observer = new ObserverLink({ getTicket: async () => ({ url: gateway.url('watch'), ticket: 't' }) })
    cleanups.push(() => observer.close())
    for (const one of [observer, link]) {
      await one.connect()
      expect(one.autonomy).toBeNull()
      gateway.send({ type: 'autonomy', mode: 'assisted', goal_frame: null, goal: null })
      await waitFor(() => expect(one.autonomy).toMatchObject({ mode: 'assisted' }))
    }
    expect(received).toEqual(['assisted'])
    gateway.sendState({ robot_connected: false })
    await waitFor(() => expect(link.autonomy).toBeNull())
    gateway.send({ type: 'autonomy', mode: 'manual' })
    await waitFor(() => expect(link.autonomy).toMatchObject({ mode: 'manual' }))
    gateway.newest.terminate()
    await waitFor(() => expect(gateway.sockets).toHaveLength(3))
    await waitFor(() => expect(link).toMatchObject({ connection: 'online', autonomy: null }))
  })
})
