import { beforeEach, describe, expect, test } from 'vitest'
import {
  type ControlFixture,
  DEADMAN_MS,
  GRACE_MS,
  type TestParticipant,
} from '../../support/gateway/control-fixture.ts'
import { UNRELATED_USER_ID } from '../../support/gateway/fake-session-store.ts'
import { simulateControl } from '../../support/gateway/simulated-control.ts'

const { open, session, robot, join } = simulateControl()
let fixture: ControlFixture
let id: string
beforeEach(async () => {
  fixture = await open({ heartbeatTimeoutMs: 500 })
  id = session().id
})

const stopped = () => session().log.filter(({ type }) => type === 'session.stopped')
/** Returns the state that a new participant receives. */
async function currentState(): Promise<string | null> {
  const probe = fixture.join(id, 'watch')
  await fixture.attend()
  probe.socket.lose()
  return probe.state
}

/** Drives for this long, with a frame every 50 ms. */
async function drive(participant: TestParticipant, ms: number): Promise<void> {
  for (let atMs = 0; atMs < ms; atMs += 50) {
    fixture.control(participant)
    await fixture.pass(50)
  }
}
const shown = ({ state }: TestParticipant) => JSON.parse(state as string)

describe('the deadman', () => {
  test('halts the robot once when control frames stop; the next frame moves it again', async () => {
    const [console, observer] = [await join(), await join('watch')]
    fixture.control(console)
    await fixture.pass(DEADMAN_MS - 10)
    expect(robot()).toMatchObject({ moving: true, stops: [] })
    await fixture.pass(20)
    expect(robot()).toMatchObject({ moving: false, stops: ['deadman'] })
    for (const participant of [console, observer])
      expect(shown(participant).stop).toEqual({ reason: 'deadman', latched: false, recorded: false })
    await fixture.pass(10 * DEADMAN_MS)
    expect(robot().stops).toEqual(['deadman'])

    fixture.control(console)
    expect(robot()).toMatchObject({ moving: true, controls: 2 })
    expect(shown(observer).stop).toBeNull()
    await fixture.pass(DEADMAN_MS + 10)
    expect(robot().stops).toEqual(['deadman', 'deadman'])
  })

  test('sends nothing before the first frame and while frames arrive', async () => {
    const console = await join()
    await fixture.pass(4 * DEADMAN_MS)
    await drive(console, 8 * DEADMAN_MS)
    expect(robot()).toMatchObject({ moving: true, stops: [] })
  })
})

describe('a control frame is dropped, and its operator learns why,', () => {
  test('if it is not newer than the last one, or older than its lifetime', async () => {
    const console = await join()
    fixture.control(console)
    fixture.control(console, { seqBy: 0 })
    fixture.control(console, { delayMs: DEADMAN_MS + 1 })
    expect(console.dropped).toEqual(['out_of_order', 'expired'])
    expect(robot().controls).toBe(1)
  })

  test('while the session is paused', async () => {
    const console = await join()
    fixture.control(console)
    fixture.book.pause()
    await fixture.attend()
    expect(robot()).toMatchObject({ moving: false, stops: ['session_paused'] })
    fixture.control(console)
    expect(console.dropped).toEqual(['session_paused'])
    expect(shown(console)).toMatchObject({
      status: 'PAUSED',
      stop: { reason: 'session_paused', latched: false },
    })
    fixture.book.resume(fixture.nowMs())
    await fixture.attend()
    expect(shown(console)).toMatchObject({ status: 'ACTIVE', stop: null })
    fixture.control(console)
    expect(robot().controls).toBe(2)
  })

  test('while the robot is disconnected', async () => {
    const console = await join()
    robot().socket.lose()
    await fixture.attend()
    expect(shown(console).robot_connected).toBe(false)
    fixture.control(console)
    expect(console.dropped).toEqual(['robot_offline'])
    fixture.connectRobot()
    await fixture.attend()
    expect(shown(console).robot_connected).toBe(true)
  })
})

describe('an operator who disconnects', () => {
  test('and reconnects within the grace period continues; otherwise the session pauses', async () => {
    const console = await join()
    await drive(console, 100)
    console.socket.lose()
    expect(robot()).toMatchObject({ moving: false, stops: ['operator_lost'] })
    await fixture.pass(GRACE_MS - 100)
    const again = await join()
    await drive(again, 2 * GRACE_MS)
    expect(session().status).toBe('ACTIVE')
    again.socket.lose()
    await fixture.pass(GRACE_MS - 10)
    expect(session().status).toBe('ACTIVE')
    await fixture.pass(500)
    expect(session()).toMatchObject({ status: 'PAUSED' })
    expect(session().log.at(-1)).toEqual({ type: 'session.paused', reason: 'operator_lost' })
  })

  test('because of a second console is closed with 4000, and the robot is not halted', async () => {
    const console = await join()
    fixture.control(console)
    const second = await join()
    expect(console.socket.closed).toBe(4000)
    fixture.control(second)
    expect(robot()).toMatchObject({ moving: true, controls: 2, stops: [] })
  })
})

test('the end of a session halts the robot and closes the connections of all participants', async () => {
  const [console, observer] = [await join(), await join('watch')]
  fixture.control(console)
  fixture.book.end()
  await fixture.attend()
  expect(robot()).toMatchObject({ moving: false, stops: ['session_over'] })
  expect([console.socket.closed, observer.socket.closed]).toEqual([4410, 4410])
})

describe('while the database is unavailable', () => {
  test('a ticket admits no user, admitted operators continue, and it is accepted afterwards', async () => {
    const console = await join()
    fixture.book.setAway(true)
    const later = fixture.join(id, 'watch')
    await fixture.pass(1_000)
    expect(later).toMatchObject({ state: null, socket: { closed: null } })
    fixture.control(console)
    expect(robot().controls).toBe(1)
    fixture.book.setAway(false)
    await fixture.pass(1_000)
    expect(later.state).toBe(console.state)
  })

  test('a ticket that cannot be checked for five seconds is refused with 4503, and its control does not count', async () => {
    await join('watch')
    fixture.book.setAway(true)
    const later = fixture.join(id, 'control')
    for (let second = 0; second < 6; second++) {
      later.socket.receiveFrame({ type: 'control', seq: second, t: fixture.nowMs(), data: {} })
      await fixture.pass(1_000)
    }
    expect(later.socket.closed).toBe(4503)
    expect(robot().controls).toBe(0)
    fixture.book.setAway(false)
  })

  test('a stop of a ticket holder halts the robot, and is recorded afterwards', async () => {
    const console = await join()
    fixture.control(console)
    fixture.book.setAway(true)
    const holder = fixture.join(id, 'watch')
    holder.socket.receiveFrame({ type: 'stop', reason: 'fire' })
    expect(robot()).toMatchObject({ moving: false, latched: 'fire' })
    fixture.book.setAway(false)
    await fixture.pass(1_000)
    expect(stopped()).toEqual([{ type: 'session.stopped', reason: 'fire' }])
    expect(shown(holder).stop).toMatchObject({ reason: 'fire', recorded: true })
  })
})

describe('a robot that does not read', () => {
  test('accepts control again once it reads: its latency is not measured while it is blocked', async () => {
    const console = await join()
    await fixture.pass(1_500)
    fixture.control(console)
    robot().socket.pause()
    fixture.control(console) // queued: it is blocked
    await fixture.pass(3_000)
    robot().socket.resume()
    await fixture.pass(3_000)
    const before = robot().controls
    fixture.control(console)
    expect(robot().controls).toBe(before + 1)
  })

  test('is closed with 4008 after ten seconds', async () => {
    const console = await join()
    fixture.control(console)
    const blocked = robot()
    blocked.socket.pause()
    fixture.control(console) // queued: it is blocked
    await fixture.pass(10_000)
    expect(blocked.socket.closed).toBeNull()
    await fixture.pass(300)
    expect(blocked.socket.closed).toBe(4008)
    expect(shown(console).robot_connected).toBe(false)
  })

  test('gets the newest frame afterwards, and no frame over its limit', async () => {
    const console = await join()
    fixture.control(console)
    robot().socket.pause()
    fixture.control(console)
    const before = robot().controls
    for (let n = 0; n < 5; n++) fixture.control(console)
    fixture.control(console, { delayMs: 300, ttlMs: 65_535 })
    await fixture.pass(150)
    robot().socket.resume()
    expect(robot().controls).toBe(before)
    expect(console.dropped).toEqual([...Array(5).fill('robot_slow'), 'expired'])

    robot().socket.pause()
    fixture.control(console)
    fixture.control(console)
    fixture.control(console)
    robot().socket.resume()
    expect(robot().controls).toBe(before + 2)
  })

  test('gets no frame of a replaced console', async () => {
    const first = await join()
    fixture.control(first)
    robot().socket.pause()
    fixture.control(first)
    const before = robot().controls
    fixture.control(first)
    const second = await join()
    expect(first.socket.closed).toBe(4000)
    robot().socket.resume()
    expect(robot().controls).toBe(before)
    fixture.control(second)
    expect(robot().controls).toBe(before + 1)
  })

  test('is halted once, also while a frame waits for it', async () => {
    const console = await join()
    fixture.control(console)
    robot().socket.pause()
    fixture.control(console)
    await fixture.pass(DEADMAN_MS + 20)
    fixture.control(console) // is buffered, and expires
    await fixture.pass(DEADMAN_MS + 20)
    robot().socket.resume()
    expect(robot().moving).toBe(false)
  })
})

describe('participants', () => {
  test('who only observe stay connected, however short the timeout is', async () => {
    const observer = await join('watch')
    await fixture.pass(10_000)
    expect(observer.socket.closed).toBeNull()
  })

  test('who read slowly stay connected until they have been blocked for ten seconds', async () => {
    const observer = await join('watch')
    observer.socket.pause()
    for (let n = 0; n < 20; n++) {
      fixture.book.pause()
      await fixture.attend()
      fixture.book.resume(fixture.nowMs())
      await fixture.attend()
    }
    const readOn = async (ms: number) => {
      for (let n = 0; n < ms / 300; n++) {
        await fixture.pass(300)
        if (observer.socket.open) observer.socket.readSome(1)
      }
    }
    await readOn(9_600)
    expect(observer.socket.closed).toBeNull()
    await readOn(900)
    expect(observer.socket.closed).toBe(4008)
  })

  test('who do not read at all are terminated like dead connections', async () => {
    const observer = await join('watch')
    observer.socket.pause()
    await fixture.pass(1_500)
    expect(observer.socket.closed).toBe(1006)
  })

  test('receive the final state last, also when a slow participant is closed', async () => {
    const console = await join()
    const observer = await join('watch')
    fixture.control(console)
    console.socket.pause()
    await fixture.pass(DEADMAN_MS + 20)
    console.socket.limitBytes = 1
    fixture.control(console) // ends the stop, and the new state does not fit into the buffer of that console
    expect(console.socket.closed).toBe(4008)
    expect(shown(observer).stop.reason).toBe('operator_lost')
    expect(observer.state).toBe(await currentState())
  })

  test('on two consoles: the newer one has control, also when the older one is admitted later', async () => {
    fixture.book.end()
    await fixture.attend()
    fixture.book.start(fixture.nowMs())
    await fixture.attend()
    fixture.book.setAway(true) // the check of its ticket fails and is retried
    const older = fixture.join(session().id, 'control')
    await fixture.attend()
    fixture.book.setAway(false)
    const newer = fixture.join(session().id, 'control')
    await fixture.attend()
    expect([older.state, newer.state]).toEqual([null, expect.any(String)])
    await fixture.pass(1_000)
    expect(older.socket.closed).toBe(4000)
    expect(newer.socket.closed).toBeNull()
    fixture.control(newer)
    expect(robot().controls).toBe(1)
  })

  test('who joined for a moment only leave the session paused after the grace period', async () => {
    fixture.setQuick(false)
    const console = fixture.join(id, 'control')
    await fixture.attend() // its ticket is being checked
    fixture.book.work()
    fixture.book.answer()
    await fixture.attend()
    console.socket.lose() // before the database has recorded it
    fixture.setQuick(true)
    await fixture.pass(3_000)
    expect(session()).toMatchObject({ status: 'PAUSED', driven: true })
  })
})

describe('a stop', () => {
  test('with the reason `session_paused` is a latched stop', async () => {
    const console = await join()
    fixture.book.setAway(true)
    fixture.stopRequest(console, 'session_paused')
    await fixture.attend()
    fixture.book.setAway(false)
    fixture.book.bus.publish('robots.changed', { robotIds: [robot().socket.link.robotId] })
    await fixture.attend() // in the database the session is ACTIVE: it does not have the stop yet
    fixture.control(console)
    expect(robot().controls).toBe(0)
    await fixture.pass(1_000)
    expect(stopped()).toHaveLength(1)
  })

  test('that is requested while the clearing of an earlier stop is in flight is a new stop', async () => {
    const console = await join()
    fixture.book.stop('first')
    await fixture.attend()
    fixture.setQuick(false)
    fixture.book.clear()
    fixture.resolve(id)
    fixture.stopRequest(console, 'second')
    expect(shown(console).stop, 'the earlier stop does not count as recorded').toMatchObject({
      reason: 'first',
      recorded: false,
    })
    await fixture.pass(50)
    fixture.book.deliverHints()
    await fixture.pass(50)
    expect(shown(console).stop.recorded).toBe(false)
    fixture.setQuick(true)
    await fixture.pass(1_000)
    expect(stopped().map(({ reason }) => reason)).toEqual(['first', 'second'])
    expect(robot().latched).toBe('second')
    expect(shown(console).stop).toMatchObject({ reason: 'second', recorded: true })
  })

  test('that is requested again while the first request is recorded and cleared is in force again', async () => {
    const console = await join()
    fixture.setQuick(false)
    fixture.stopRequest(console, 'first')
    fixture.book.work()
    fixture.book.clear()
    fixture.resolve(id)
    fixture.stopRequest(console, 'second')
    fixture.setQuick(true)
    await fixture.pass(1_000)
    expect(stopped().map(({ reason }) => reason)).toEqual(['first', 'second'])
  })

  test('while a stop is latched changes nothing and is logged once', async () => {
    const console = await join()
    const observer = await join('watch')
    for (const participant of [console, observer, console]) {
      fixture.stopRequest(participant, 'again')
      await fixture.pass(400)
    }
    expect(stopped()).toHaveLength(1)
  })

  test('that its sender is recording reaches the robot at once, and is logged once', async () => {
    const console = await join()
    fixture.control(console)
    fixture.setQuick(false)
    fixture.book.stopUnrecorded(id, 'smoke', 'recording')
    fixture.book.deliverHints()
    expect(robot()).toMatchObject({ latched: 'smoke', moving: false })
    expect(shown(console).stop).toMatchObject({ reason: 'smoke', recorded: false })
    await fixture.pass(1_500)
    expect(stopped(), 'the gateway leaves the record to the sender').toEqual([])
    fixture.setQuick(true)
    fixture.book.stop('smoke')
    await fixture.attend()
    expect(shown(console).stop).toMatchObject({ reason: 'smoke', recorded: true })
    fixture.book.clear()
    fixture.resolve(id)
    await fixture.pass(3_000)
    expect(stopped()).toHaveLength(1)
    expect(robot().latched).toBeNull()
  })

  test('that its sender does not record is recorded by the gateway', async () => {
    fixture.book.stopUnrecorded(id, 'smoke', 'recording')
    await fixture.pass(3_000)
    expect(stopped()).toHaveLength(1)
    expect(robot().latched).toBe('smoke')
  })

  test('whose sender is refused is cleared, unless another one is in force; the robot stays halted', async () => {
    const console = await join()
    fixture.control(console)
    fixture.book.stopUnrecorded(id, 'of a revoked key', 'recording')
    await fixture.attend()
    expect(robot()).toMatchObject({ latched: 'of a revoked key', moving: false })
    fixture.book.stopUnrecorded(id, 'of a revoked key', 'refused')
    await fixture.attend()
    expect(robot()).toMatchObject({ latched: null, moving: false })
    fixture.stopRequest(console, 'in force')
    fixture.book.stopUnrecorded(id, 'of a revoked key', 'recording')
    fixture.book.stopUnrecorded(id, 'of a revoked key', 'refused')
    await fixture.pass(3_000)
    expect(robot().latched).toBe('in force')
    expect(stopped()).toHaveLength(1)
  })

  test('of a user whose permission has ended does not clear another stop', async () => {
    const unrelatedUser = await join('watch', { userId: UNRELATED_USER_ID })
    const console = await join()
    fixture.book.stop('by the owner')
    await fixture.attend()
    unrelatedUser.socket.receiveFrame({ type: 'stop', reason: 'by a stranger' })
    await fixture.pass(1_000)
    expect(robot().latched).toBe('by the owner')
    fixture.control(console)
    expect(console.dropped).toEqual(['stopped'])
  })

  test('of a user whose permission has ended is cleared once the database refuses it; the robot stays halted', async () => {
    const unrelatedUser = await join('watch', { userId: UNRELATED_USER_ID })
    const console = await join()
    fixture.control(console)
    unrelatedUser.socket.receiveFrame({ type: 'stop', reason: 'by a stranger' })
    expect(robot()).toMatchObject({ latched: 'by a stranger', moving: false })
    await fixture.pass(1_000)
    expect(robot()).toMatchObject({ latched: null, moving: false })
    expect(stopped()).toEqual([])
    fixture.control(console)
    expect(robot().moving).toBe(true)
  })

  test('that is recorded while the robot is at another gateway can be cleared when the robot is back', async () => {
    const console = await join()
    await fixture.pass(880 - fixture.nowMs()) // shortly before the gateway polls for robots that have left
    fixture.book.setAway(true)
    fixture.stopRequest(console, 'look out')
    await fixture.attend()
    fixture.book.setAway(false)
    const lost = robot()
    fixture.book.relocateRobot()
    for (const stopRequest of fixture.stopRequests) stopRequest.elsewhere = true
    await fixture.attend()
    expect(lost.socket.closed).toBe(4000)
    await fixture.pass(200)
    expect(console.socket.closed).toBe(4009)
    fixture.connectRobot()
    await fixture.pass(1_500)
    expect(robot().latched).toBe('look out')
    await join()
  })

  test("of a participant who leaves reaches the connection that replaces the robot's last one", async () => {
    const console = await join()
    fixture.setQuick(false)
    const next = fixture.connectRobot()
    fixture.stopRequest(console, 'now')
    console.socket.lose()
    fixture.book.work() // the answer of the database is older than the stop
    fixture.book.answer()
    await fixture.attend()
    expect(robot()).toBe(next)
    expect(next.latched).toBe('now')
  })

  test('that is not recorded yet is in force when the robot returns from another gateway', async () => {
    const console = await join()
    fixture.setQuick(false)
    fixture.book.relocateRobot()
    robot().socket.lose()
    fixture.book.deliverHints() // the gateway looks up where the robot is
    const next = fixture.connectRobot()
    fixture.book.work()
    fixture.stopRequest(console, 'now')
    fixture.book.answer() // to the lookup and to the robot; both are older than the stop
    await fixture.attend()
    expect(console.socket.closed).toBe(4009)
    expect(robot()).toBe(next)
    expect(next.latched).toBe('now')
    fixture.setQuick(true)
    await fixture.pass(1_000)
    expect(stopped().map(({ reason }) => reason)).toEqual(['now'])
  })

  test('that is recorded while the robot is admitted reaches the robot at once', async () => {
    fixture.book.relocateRobot()
    await fixture.attend()
    fixture.setQuick(false)
    const next = fixture.connectRobot()
    fixture.book.work() // the answer does not contain the stop
    fixture.book.stop('by the owner')
    fixture.book.deliverHints()
    fixture.setQuick(true)
    await fixture.attend()
    expect(robot()).toBe(next)
    expect(next.latched).toBe('by the owner')
  })
})

test('a gateway that drains halts its robots before it closes their connections', async () => {
  const console = await join()
  fixture.control(console)
  fixture.setQuick(false)
  const drained = fixture.gateway.drain()
  await fixture.attend()
  fixture.control(console) // the gateway is still writing
  const driven = robot()
  expect(driven.moving).toBe(true)
  fixture.setQuick(true)
  for (let n = 0; n < 10; n++) await fixture.attend()
  await drained
  expect(driven.socket.closed).toBe(4503)
  expect(driven.moving).toBe(false)
})

describe('the lifetime of a command', () => {
  /** Lets every answer to a ping take this long. */
  async function setRoundTripMs(console: Awaited<ReturnType<typeof join>>, ms: number): Promise<void> {
    const sockets = [console.socket, robot().socket]
    for (let round = 1; round <= 2; round++) {
      for (const socket of sockets) Object.assign(socket, { answersPings: false, pings: 0 })
      while (sockets.some(({ pings }) => pings === 0)) await fixture.pass(10)
      await fixture.pass(ms)
      for (const socket of sockets) {
        socket.answersPings = true
        socket.pong()
      }
    }
  }

  test.each([false, true])('includes the way to the robot (binary: %s)', async (binary) => {
    const console = await join()
    await setRoundTripMs(console, 100)
    const before = robot().controls
    fixture.control(console, { ttlMs: 200, delayMs: 0, binary }) // the fastest frame: its age is 0
    expect(robot().controls).toBe(before + 1)
    fixture.control(console, { ttlMs: 200, delayMs: 50, binary })
    expect(robot().controls).toBe(before + 2)
    fixture.control(console, { ttlMs: 200, delayMs: 110, binary })
    expect(console.dropped).toEqual(['expired'])
    expect(robot().ttlsMs.at(-1)).toSatisfy(isRestOf(200, 100))
    fixture.control(console, { ttlMs: 90, delayMs: 0, binary }) // even the fastest frame takes longer
    expect(console.dropped).toEqual(['expired', 'expired'])
  })

  test('without a lifetime of its sender limits only the delay', async () => {
    const console = await join()
    await setRoundTripMs(console, DEADMAN_MS)
    const before = robot().controls
    fixture.control(console, { ttlMs: null })
    expect(robot().controls).toBe(before + 1)
    expect(robot().ttlsMs.at(-1)).toBe(DEADMAN_MS)
  })
})

/** Checks the rest of a lifetime after a way of at least this time, which the fixture's steps may lengthen. */
const isRestOf = (ttlMs: number, pathMs: number) => (restMs: number) =>
  restMs >= 1 && restMs <= ttlMs - pathMs && restMs > ttlMs - pathMs - 30
