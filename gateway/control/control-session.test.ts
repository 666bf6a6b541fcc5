import type { WebSocket } from 'uWebSockets.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OpenSession } from '../../src/modules/presence/index.ts'
import { sampleKinds } from '../../src/modules/recordings/transport/sample-wire.ts'
import { leaseOf } from '../../test/support/gateway/lease.ts'
import { participantConnection, robotConnection } from '../../test/support/gateway/member-connections.ts'
import type { GatewayConnection, SocketData } from '../base/connection.ts'
import { ControlSession } from './control-session.ts'

const OPERATOR_ID = 'operator'
const OWNER_ID = 'owner'

const openSession = (change: Partial<OpenSession> = {}): OpenSession => ({
  id: 'session',
  status: 'ACTIVE',
  operatorId: OPERATOR_ID,
  operatorName: 'Grace',
  lease: leaseOf(OPERATOR_ID),
  clientId: OWNER_ID,
  groupId: null,
  eventSeq: 1,
  driven: true,
  operatorGone: false,
  latencyLimitMs: 400,
  latencyBudgetMs: null,
  videoLimitMs: null,
  controlSchema: null,
  telemetrySchema: null,
  strictControl: false,
  recording: 'off',
  stopReason: null,
  stopByRole: null,
  stopByOwner: false,
  stopClear: 'owner',
  activeSinceMs: 1,
  ...change,
})

interface Frame {
  readonly type: string
  readonly latched?: boolean
}

/** Attaches a socket that records the frames of the connection. */
function record<C extends GatewayConnection>(connection: C) {
  const frames: Frame[] = []
  const closed: number[] = []
  const send = (frame: string) => {
    frames.push(JSON.parse(frame))
    return 1
  }
  const end = (code: number) => void closed.push(code)
  connection.attach({ send, end } as unknown as WebSocket<SocketData>)
  return { connection, frames, closed }
}

/** Creates a session with its robot and participants, and calls the transitions as the gateway does. */
function createScenario(initial: Partial<OpenSession> = {}) {
  const session = new ControlSession('robot', 0, openSession(initial))
  const participants: ReturnType<typeof participant>[] = []
  let nowMs = 1
  let seq = 0
  let robot: ReturnType<typeof connectRobot> | undefined

  function connectRobot() {
    const link = record(robotConnection(nowMs))
    session.connectRobot(link.connection, session.session, nowMs)
    const welcome = { latched: session.stops.latched }
    /** Derives from the frames whether the robot knows a latched stop. */
    const latched = () =>
      link.frames.reduce(
        (before, { type, latched }) =>
          type === 'stop_cleared' ? false : type === 'stop' && latched ? true : before,
        welcome.latched,
      )
    return { ...link, latched }
  }
  function participant(part: 'control' | 'watch') {
    const claims = {
      sessionId: 'session',
      userId: OPERATOR_ID,
      organizationId: 'organization',
      part,
      permissionsVersion: 0,
      number: 1,
    }
    const link = record(participantConnection(claims, nowMs))
    link.connection.assignNumber(participants.length + 1)
    const joined =
      part === 'control'
        ? session.joinController(link.connection, nowMs) === 'joined'
        : session.joinObserver(link.connection)
    if (joined) link.connection.send(session.stateFrame(), nowMs)
    return link
  }

  return {
    session,
    participants,
    get robot() {
      return robot
    },
    pass(ms: number): void {
      nowMs += ms
    },
    connectRobot(): void {
      robot = connectRobot()
    },
    disconnectRobot(): void {
      robot?.connection.leaveSession()
      if (robot) session.disconnectRobot()
      robot = undefined
      session.broadcastState(nowMs)
    },
    join(part: 'control' | 'watch') {
      const link = participant(part)
      participants.push(link)
      return link
    },
    leave(index: number): void {
      const link = participants[index % Math.max(1, participants.length)]
      if (link?.connection.controlSession) session.leave(link.connection, nowMs)
    },
    /** Sends a control frame as the relay does; returns the verdict. */
    control(isAllowed: () => boolean = () => true) {
      const verdict = session.receiveControl({ seq: ++seq, t: nowMs, ttlMs: 250 }, nowMs, isAllowed)
      if (verdict !== 'pass') return verdict
      session.cancelGoal(nowMs)
      session.robot?.send('{"type":"control"}', nowMs)
      session.controlSent('{"type":"control"}', nowMs)
      return verdict
    },
    /** Sends a goal as the relay does; returns the verdict. */
    goal() {
      const verdict = session.receiveGoal({ seq: ++seq, t: nowMs, ttlMs: 250 }, 'map', nowMs)
      if (verdict !== 'pass') return verdict
      session.robot?.send('{"type":"goal"}', nowMs)
      session.goalSent('dock', '{"type":"goal"}', nowMs)
      return verdict
    },
    acceptGoals: (): void =>
      robot?.connection.reportAutonomy({ frame: '{}', mode: 'manual', goalFrame: 'map' }),
    cancelGoal: (): void => session.cancelGoal(nowMs),
    expireDeadman(): void {
      if (session.expireDeadman(nowMs)) session.broadcastState(nowMs)
    },
    requestStop(userId: string, reason = 'smoke'): void {
      session.stops.request({ userId, reason }, reason, nowMs)
    },
    /** Begins to record a stop as the session writer does; returns a function that ends it. */
    beginRecording(): ((outcome: 'recorded' | 'refused' | 'failed') => void) | undefined {
      const request = session.stops.beginRecording(0)
      if (!request) return undefined
      return (outcome) => {
        if (outcome === 'recorded') session.stops.recorded(request, session.session.eventSeq + 1)
        else if (outcome === 'refused') session.stops.refused(nowMs)
        else session.stops.recordingFailed()
        session.broadcastState(nowMs)
      }
    },
    apply(change: Partial<OpenSession>): void {
      session.applySession({ ...session.session, eventSeq: session.session.eventSeq + 1, ...change }, nowMs)
    },
    repeatStop: (): void => session.stops.repeat(nowMs),
  }
}

const isMoving = (frames: readonly Frame[]) =>
  frames.findLastIndex(({ type }) => type === 'control' || type === 'goal') >
  frames.findLastIndex(({ type }) => type === 'stop' || type === 'cancel_goal')

test('keeps its rules for any order of transitions', () => {
  const kind = <T extends string>(name: T) => fc.constant(name)
  const step = fc.oneof(
    fc.record({
      do: fc.constantFrom('connect', 'disconnect', 'deadman', 'begin', 'repeat', 'accept', 'cancel'),
    }),
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('control', 'goal') }) },
    fc.record({ do: kind('join'), part: fc.constantFrom('control', 'watch') }),
    fc.record({ do: kind('leave'), index: fc.nat(5) }),
    fc.record({ do: kind('stop'), userId: fc.constantFrom(OPERATOR_ID, OWNER_ID, 'admin') }),
    {
      weight: 2,
      arbitrary: fc.record({ do: kind('end'), outcome: fc.constantFrom('recorded', 'refused', 'failed') }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: kind('apply'),
        status: fc.constantFrom('ACTIVE', 'PAUSED'),
        stopReason: fc.constantFrom(null, null, 'fire', 'session_paused'),
      }),
    },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const scenario = createScenario()
      const { session } = scenario
      let end: ReturnType<typeof scenario.beginRecording>
      // biome-ignore lint/suspicious/noExplicitAny: a union of small records, distinguished by `do`
      for (const item of steps as any[]) {
        scenario.pass(10)
        if (item.do === 'connect') scenario.connectRobot()
        else if (item.do === 'disconnect') scenario.disconnectRobot()
        else if (item.do === 'deadman') scenario.expireDeadman()
        else if (item.do === 'repeat') scenario.repeatStop()
        else if (item.do === 'accept') scenario.acceptGoals()
        else if (item.do === 'cancel') scenario.cancelGoal()
        else if (item.do === 'join') scenario.join(item.part)
        else if (item.do === 'leave') scenario.leave(item.index)
        else if (item.do === 'stop') scenario.requestStop(item.userId)
        else if (item.do === 'begin') end ??= scenario.beginRecording()
        else if (item.do === 'end') {
          end?.(item.outcome)
          end = undefined
        } else if (item.do === 'apply') {
          const { status, stopReason } = item
          scenario.apply({ status: stopReason === null ? status : 'PAUSED', stopReason })
        } else {
          const mayPass = session.robotConnected && session.active && !session.stops.latched
          const accepts = item.do === 'control' || session.robot?.autonomy?.goalFrame === 'map'
          const verdict = item.do === 'control' ? scenario.control() : scenario.goal()
          expect(verdict === 'pass').toBe(mayPass && accepts)
          expect(verdict === 'no_goals').toBe(mayPass && !accepts)
        }
        if (session.stops.pending) expect(session.stops.latched, 'a pending stop is in force').toBe(true)
        const { robot } = scenario
        if (robot) {
          expect(robot.latched(), 'the robot knows the stop').toBe(session.stops.latched)
          expect(isMoving(robot.frames), 'the robot was halted').toBe(session.stream.moving)
        } else expect(session.stream.moving).toBe(false)
        if (session.stops.latched || !session.active) expect(session.stream.moving).toBe(false)
        for (const { connection, frames } of scenario.participants) {
          if (connection.controlSession) expect(JSON.stringify(frames.at(-1))).toBe(session.stateFrame())
        }
      }
    }),
    { numRuns: 1_000 },
  )
})

describe('a stop', () => {
  const visible = ({ session }: ReturnType<typeof createScenario>) => session.stops.visible

  test('of the operator may be cleared by anyone, until the owner requests it too', () => {
    const scenario = createScenario()
    scenario.requestStop(OPERATOR_ID)
    expect(visible(scenario)).toMatchObject({ by_role: 'operator', clearable_by: 'anyone', recorded: false })
    scenario.requestStop(OWNER_ID)
    expect(visible(scenario)).toMatchObject({ by_role: 'operator', clearable_by: 'owner' })
  })

  test('that is requested while an earlier request is recorded is recorded afterwards', () => {
    const scenario = createScenario()
    scenario.requestStop(OPERATOR_ID)
    const end = scenario.beginRecording()
    scenario.requestStop(OWNER_ID)
    end?.('recorded')
    expect(visible(scenario)).toMatchObject({ reason: 'smoke', recorded: false })
    scenario.beginRecording()?.('recorded')
    expect(visible(scenario)).toMatchObject({ recorded: true, clearable_by: 'owner' })
  })

  test('whose recording fails is merged with later requests', () => {
    const { session } = createScenario()
    session.stops.request({ userId: OPERATOR_ID, reason: 'first' }, 'first', 1)
    session.stops.beginRecording(0)
    session.stops.request({ userId: OWNER_ID, reason: 'second' }, 'second', 1)
    session.stops.recordingFailed()
    const merged = { userId: OPERATOR_ID, reason: 'first', ownerId: OWNER_ID }
    expect(session.stops.beginRecording(0)).toEqual(merged)
  })

  test('is sent again after a second, until the robot confirms it', () => {
    const scenario = createScenario()
    scenario.connectRobot()
    scenario.requestStop(OPERATOR_ID)
    const sent = () => scenario.robot?.frames.filter(({ type }) => type === 'stop').length
    for (const [afterMs, count] of [
      [999, 1],
      [1, 2],
      [1_000, 3],
    ] as const) {
      scenario.pass(afterMs)
      scenario.repeatStop()
      expect(sent()).toBe(count)
    }
    scenario.session.stops.confirm()
    scenario.pass(5_000)
    scenario.repeatStop()
    expect(sent()).toBe(3)
  })

  test('that the database refuses is cleared, and the robot stays halted', () => {
    const scenario = createScenario()
    scenario.connectRobot()
    scenario.requestStop('admin')
    scenario.beginRecording()?.('refused')
    expect(scenario.session.stops.current).toEqual({
      reason: 'stop_refused',
      latched: false,
      recorded: false,
    })
    expect(scenario.robot?.frames.slice(-2)).toEqual([
      { type: 'stop_cleared' },
      { type: 'stop', reason: 'stop_refused', latched: false },
    ])
  })
})

describe('a command of a robot in strict mode', () => {
  test('is checked only if it passes all gates, and does not count if the check refuses it', () => {
    const scenario = createScenario({ strictControl: true })
    let checks = 0
    const refuse = () => {
      checks++
      return false
    }
    scenario.join('control')
    expect(scenario.control(refuse)).toBe('robot_offline')
    scenario.connectRobot()
    expect(scenario.control(refuse)).toBe('invalid')
    expect(scenario.session.stream.lastPassMs).toBe(0)
    expect(scenario.control()).toBe('pass')
    scenario.requestStop(OWNER_ID)
    expect(scenario.control(refuse)).toBe('stopped')
    expect(checks).toBe(1)
  })
})

describe('the operator', () => {
  test('is replaced by a newer connection, and not by an older one', () => {
    const { session, join } = createScenario()
    const older = record(
      participantConnection(
        {
          sessionId: 'session',
          userId: OPERATOR_ID,
          organizationId: 'organization',
          part: 'control',
          permissionsVersion: 0,
          number: 1,
        },
        1,
      ),
    )
    const first = join('control')
    const second = join('control')
    expect([first.closed, second.closed]).toEqual([[4000], []])
    expect(session.joinController(older.connection, 1)).toBe('older')
    expect(older.closed).toEqual([4000])
    expect(session.operator).toBe(second.connection)
  })

  test('halts the robot by leaving, and the session counts as unattended from then on', () => {
    const scenario = createScenario()
    scenario.connectRobot()
    scenario.join('control')
    scenario.control()
    expect(scenario.session.stream.moving).toBe(true)
    scenario.pass(10)
    scenario.leave(0)
    expect(scenario.robot?.frames.at(-1)).toEqual({ type: 'stop', reason: 'operator_lost', latched: false })
    expect(scenario.session.unattendedMs(111)).toBe(100)
  })

  test.each(['control', 'goal'] as const)(
    'halts a robot that accepts goals and obeys a %s by connecting again',
    (move) => {
      const scenario = createScenario()
      scenario.connectRobot()
      scenario.acceptGoals()
      scenario.join('control')
      expect(scenario[move]()).toBe('pass')
      const second = scenario.join('control')
      expect(scenario.robot?.frames.at(-1)).toEqual({ type: 'stop', reason: 'operator_lost', latched: false })
      expect(second.frames).toMatchObject([{ type: 'state', stop: { reason: 'operator_lost' } }])
      expect(scenario.session.stream).toMatchObject({ moving: false, goalId: null })
    },
  )

  test.each([
    ['the robot has reported the end of a goal', ({ session }) => session.stream.endGoal('dock')],
    ['a goal was canceled', ({ cancelGoal }) => cancelGoal()],
  ] as [string, (scenario: ReturnType<typeof createScenario>) => void][])(
    'halts the robot by leaving, also after %s',
    (_what, end) => {
      const scenario = createScenario()
      scenario.connectRobot()
      scenario.acceptGoals()
      scenario.join('control')
      scenario.goal()
      end(scenario)
      scenario.leave(0)
      expect(scenario.robot?.frames.at(-1)).toMatchObject({ type: 'stop', reason: 'operator_lost' })
    },
  )
})

test('only commands have a deadman, also after a goal, for which the robot counts as moving', () => {
  const scenario = createScenario()
  scenario.connectRobot()
  scenario.acceptGoals()
  scenario.join('control')
  scenario.goal()
  scenario.session.stream.endGoal('dock')
  scenario.expireDeadman()
  expect(scenario.robot?.frames).not.toContainEqual(expect.objectContaining({ reason: 'deadman' }))
  expect(scenario.session.stream.moving).toBe(true)
  scenario.control()
  scenario.expireDeadman()
  expect(scenario.robot?.frames.at(-1)).toMatchObject({ type: 'stop', reason: 'deadman' })
})

describe('a change of control that is announced', () => {
  test('holds up commands until the last of those who change it has ended', () => {
    const { session } = createScenario()
    session.beginChanging('supervisor', 1_000, 1)
    session.beginChanging(OPERATOR_ID, 1_000, 1)
    session.endChanging(OPERATOR_ID)
    expect(session.isChanging(() => 2)).toBe(true)
    session.endChanging('supervisor')
    expect(session.isChanging(() => 2)).toBe(false)
  })

  test('ends by itself, and with the change', () => {
    const { session } = createScenario()
    session.beginChanging('supervisor', 1_000, 1)
    session.beginChanging('owner', 2_000, 1)
    expect([999, 1_000, 1_999, 2_000].map((nowMs) => session.isChanging(() => nowMs))).toEqual([
      true,
      true,
      true,
      false,
    ])
    session.beginChanging('supervisor', 9_000, 3_000)
    session.applyLease(leaseOf('supervisor', 2), 3_000)
    expect(session.isChanging(() => 3_000)).toBe(false)
  })
})

test.each([
  ['another operator', 'robot_slow', ({ join }) => join('control')],
  ['the end of its operator', 'robot_slow', ({ leave }) => leave(0)],
  ['a stop', 'stopped', ({ requestStop }) => requestStop(OPERATOR_ID)],
  ['a change of control', 'robot_slow', ({ session }) => session.beginChanging(OWNER_ID, 1_000, 1)],
  ['a pause', 'session_paused', ({ apply }) => apply({ status: 'PAUSED' })],
  ['the deadman', 'expired', ({ expireDeadman }) => expireDeadman()],
  ['the end of the connection of its robot', 'robot_offline', ({ disconnectRobot }) => disconnectRobot()],
  ['the end of the session', 'session_paused', ({ session }) => session.complete(1)],
] as [string, string, (scenario: ReturnType<typeof createScenario>) => void][])(
  'a command that waits for its robot is recorded as dropped: %s',
  (_cause, why, discard) => {
    const scenario = createScenario()
    const { session } = scenario
    const dropped: unknown[] = []
    const stream = {
      write: ({ kind, note, payload }: { kind: number; note: string; payload: unknown }) => {
        if (kind === sampleKinds.dropped) dropped.push([payload, note])
      },
      close() {},
    }
    scenario.connectRobot()
    scenario.join('control')
    scenario.control()
    session.tap.begin(stream, 'stored', session.stateFrame())
    session.stream.buffer({ frame: 'waits', seq: 9, createdAtMs: 1, validUntilMs: 400 })
    discard(scenario)
    discard(scenario)
    expect(dropped).toEqual([['waits', why]])
  },
)

test('a command that waits for a robot at rest does not outlast the announcement of a change of control', () => {
  const { session, connectRobot, join } = createScenario()
  connectRobot()
  join('control')
  session.stream.buffer({ frame: 'waits', seq: 9, createdAtMs: 1, validUntilMs: 400 })
  session.beginChanging(OWNER_ID, 1_000, 1)
  expect(session.stream.takeBuffered()).toBeNull()
})

test('who takes control after joining counts as the operator that the session has had', () => {
  const { session, join } = createScenario({ driven: false, lease: leaseOf('another') })
  join('control')
  expect(session.isJoinUnrecorded).toBe(false)
  session.applyLease(leaseOf(OPERATOR_ID, 2), 1)
  expect(session.isJoinUnrecorded).toBe(true)
})

test('a state that is older than the known one changes nothing', () => {
  const { session } = createScenario({ eventSeq: 5 })
  session.applySession(openSession({ eventSeq: 4, status: 'PAUSED' }), 1)
  expect(session.session).toMatchObject({ eventSeq: 5, status: 'ACTIVE' })
})
