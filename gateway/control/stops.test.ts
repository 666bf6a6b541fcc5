import type { WebSocket } from 'uWebSockets.js'
import { expect, test } from 'vitest'
import type { OpenSession } from '../../src/modules/presence/index.ts'
import { leaseOf } from '../../test/support/gateway/lease.ts'
import { robotConnection } from '../../test/support/gateway/member-connections.ts'
import { plainGuard } from '../../test/support/gateway/plain-guard.ts'
import type { SocketData } from '../base/connection.ts'
import { ControlSession } from './control-session.ts'
import type { ControlSessionRegistry } from './control-session-registry.ts'
import { createStops } from './stops.ts'

/** Creates a session with a connected robot, and records the stops that the robot receives. */
function createFixture() {
  const session = new ControlSession('robot', 0, {
    id: 'session',
    status: 'ACTIVE',
    operatorId: 'operator',
    lease: leaseOf('operator'),
    clientId: 'owner',
    eventSeq: 1,
    latencyBudgetMs: null,
    controlSchema: null,
    telemetrySchema: null,
    stopReason: null,
  } as OpenSession)
  const stopFrames: unknown[] = []
  const robot = robotConnection()
  const send = (text: string) => {
    const frame = JSON.parse(text)
    if (frame.type === 'stop') stopFrames.push(frame)
    return 1
  }
  robot.attach({ send } as unknown as WebSocket<SocketData>)
  let nowMs = 1
  session.connectRobot(robot, session.session, nowMs)
  const stops = createStops({
    sessionRegistry: { of: () => session, removeIfAbandoned() {} } as unknown as ControlSessionRegistry,
    beginWrite: () => {},
    guard: plainGuard(),
    clockMs: () => nowMs,
  })
  return {
    session,
    stopFrames,
    pass(ms: number): void {
      nowMs += ms
    },
    request: (userId: string) => stops.requestStop(session, { userId, reason: 'smoke' }),
    /** Reports a stop that another process has recorded. */
    report: (eventSeq: number, byOwner = false) =>
      stops.onRemoteStop({
        sessionId: 'session',
        reason: 'fire',
        eventSeq,
        userId: 'operator',
        byRole: 'operator',
        byOwner,
      }),
    /** Clears the stop as the database does. */
    clear: (eventSeq: number) =>
      session.applySession({ ...session.session, status: 'PAUSED', stopReason: null, eventSeq }, nowMs),
    repeat: () => session.stops.repeat(nowMs),
  }
}

test('a stop that is requested again is sent again, at most four times a second, and until it is confirmed', () => {
  const { session, stopFrames, pass, request, repeat } = createFixture()
  request('operator')
  session.stops.confirm()
  pass(250)
  request('operator')
  expect(stopFrames).toHaveLength(2)
  session.stops.confirm()
  for (let count = 0; count < 249; count++) {
    pass(1)
    request('owner')
  }
  expect(stopFrames).toHaveLength(2)
  pass(751)
  repeat()
  expect(stopFrames).toEqual(Array(3).fill({ type: 'stop', reason: 'smoke', latched: true }))
})

test('a stop that another process reports again is sent again, unless it was cleared', () => {
  const { session, stopFrames, pass, report, clear } = createFixture()
  report(2)
  expect(stopFrames).toHaveLength(1)
  pass(250)
  report(2)
  expect(stopFrames).toHaveLength(2)
  pass(250)
  report(3, true)
  expect(stopFrames).toHaveLength(3)
  clear(4)
  pass(250)
  report(3)
  expect(session.stops.latched).toBe(false)
  expect(stopFrames.at(-1)).toEqual({ type: 'stop', reason: 'session_paused', latched: false })
})
