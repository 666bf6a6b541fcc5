import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type ControlFixture,
  createControlFixture,
  DEADMAN_MS,
} from '../../support/gateway/control-fixture.ts'
import { UNRELATED_USER_ID } from '../../support/gateway/fake-session-store.ts'

let fixture: ControlFixture
let id: string
beforeEach(async () => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
  })
  fixture = await createControlFixture({ heartbeatTimeoutMs: 500 })
  fixture.connectRobot()
  await fixture.attend()
  fixture.book.start(fixture.nowMs())
  await fixture.attend()
  id = session().id
})
afterEach(async () => {
  // Also after a failure: other files of this process need real timers.
  await fixture?.end().finally(vi.useRealTimers)
  vi.useRealTimers()
  expect(fixture.violations).toEqual([])
  expect(fixture.errors).toEqual([])
})

const session = () => fixture.book.open() as NonNullable<ReturnType<typeof fixture.book.open>>
const robot = () => fixture.machine() as NonNullable<ReturnType<typeof fixture.machine>>
const stopped = () => session().log.filter(({ type }) => type === 'session.stopped')
/** Returns the state that a new participant receives. */
async function currentState(): Promise<string | null> {
  const probe = fixture.join(id, 'watch')
  await fixture.attend()
  probe.socket.lose()
  return probe.state
}
async function join(part: 'control' | 'watch' = 'control', options = {}) {
  const participant = fixture.join(id, part, options)
  await fixture.attend()
  expect(participant.state).not.toBeNull()
  return participant
}

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
    expect(JSON.parse(observer.state as string).stop.reason).toBe('operator_lost')
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
    const shown = () => JSON.parse(console.state as string).stop
    expect(shown(), 'the earlier stop does not count as recorded').toMatchObject({
      reason: 'first',
      recorded: false,
    })
    await fixture.pass(50)
    fixture.book.deliverHints()
    await fixture.pass(50)
    expect(shown().recorded).toBe(false)
    fixture.setQuick(true)
    await fixture.pass(1_000)
    expect(stopped().map(({ reason }) => reason)).toEqual(['first', 'second'])
    expect(robot().latched).toBe('second')
    expect(shown()).toMatchObject({ reason: 'second', recorded: true })
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
