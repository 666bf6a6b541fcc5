import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { GatewayServerParts } from '../gateway/server.ts'
import { createDriveStage, DEADMAN_MS, type DriveStage } from './support/drive-stage.ts'
import { STRANGER_ID } from './support/session-book.ts'

const server = vi.hoisted(() => ({ parts: undefined as unknown }))
vi.mock('../gateway/server.ts', async (original) => ({
  ...(await original<typeof import('../gateway/server.ts')>()),
  listenForLinks: async (parts: unknown) => {
    server.parts = parts
    return { port: 1, stopListening() {}, close() {} }
  },
}))

let stage: DriveStage
let id: string
beforeEach(async () => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
  })
  stage = await createDriveStage(() => server.parts as GatewayServerParts, { heartbeatTimeoutMs: 500 })
  stage.connectRobot()
  await stage.attend()
  stage.book.start(stage.nowMs())
  await stage.attend()
  id = session().id
})
afterEach(async () => {
  await stage.end()
  vi.useRealTimers()
  expect(stage.violations).toEqual([])
  expect(stage.errors).toEqual([])
})

const session = () => stage.book.open() as NonNullable<ReturnType<typeof stage.book.open>>
const robot = () => stage.machine() as NonNullable<ReturnType<typeof stage.machine>>
const stopped = () => session().log.filter(({ type }) => type === 'session.stopped')
/** What somebody would be told who came now. */
async function truth(): Promise<string | null> {
  const probe = stage.join(id, 'watch')
  await stage.attend()
  probe.socket.lose()
  return probe.state
}
async function join(part: 'control' | 'watch' = 'control', options = {}) {
  const party = stage.join(id, part, options)
  await stage.attend()
  expect(party.state).not.toBeNull()
  return party
}

describe('a robot that does not read', () => {
  test('can be driven as before once it reads again: its latency was not measured meanwhile', async () => {
    const console = await join()
    await stage.pass(1_500)
    stage.control(console)
    robot().socket.pause()
    stage.control(console) // queued: it is blocked
    await stage.pass(3_000)
    robot().socket.resume()
    await stage.pass(3_000)
    const before = robot().controls
    stage.control(console)
    expect(robot().controls).toBe(before + 1)
  })

  test('gets the newest frame afterwards, and none that took longer than its limit', async () => {
    const console = await join()
    stage.control(console)
    robot().socket.pause()
    stage.control(console)
    const before = robot().controls
    for (let n = 0; n < 5; n++) stage.control(console)
    stage.control(console, { delayMs: 300, ttlMs: 65_535 })
    await stage.pass(150)
    robot().socket.resume()
    expect(robot().controls).toBe(before)
    expect(console.dropped).toEqual([...Array(5).fill('robot_slow'), 'expired'])

    robot().socket.pause()
    stage.control(console)
    stage.control(console)
    stage.control(console)
    robot().socket.resume()
    expect(robot().controls).toBe(before + 2)
  })

  test('gets no frame of a console that another one has replaced', async () => {
    const first = await join()
    stage.control(first)
    robot().socket.pause()
    stage.control(first)
    const before = robot().controls
    stage.control(first)
    const second = await join()
    expect(first.socket.closed).toBe(4000)
    robot().socket.resume()
    expect(robot().controls).toBe(before)
    stage.control(second)
    expect(robot().controls).toBe(before + 1)
  })

  test('is told to stand once, also when frames wait for it', async () => {
    const console = await join()
    stage.control(console)
    robot().socket.pause()
    stage.control(console)
    await stage.pass(DEADMAN_MS + 20)
    stage.control(console) // waits, and never goes
    await stage.pass(DEADMAN_MS + 20)
    robot().socket.resume()
    expect(robot().moving).toBe(false)
  })
})

describe('people', () => {
  test('who only look on stay, however short the timeout', async () => {
    const watcher = await join('watch')
    await stage.pass(10_000)
    expect(watcher.socket.closed).toBeNull()
  })

  test('who are slow, but read, stay until they have been behind for ten seconds', async () => {
    const watcher = await join('watch')
    watcher.socket.pause()
    for (let n = 0; n < 20; n++) {
      stage.book.pause()
      await stage.attend()
      stage.book.resume(stage.nowMs())
      await stage.attend()
    }
    const readOn = async (ms: number) => {
      for (let n = 0; n < ms / 300; n++) {
        await stage.pass(300)
        if (watcher.socket.open) watcher.socket.readSome(1)
      }
    }
    await readOn(9_600)
    expect(watcher.socket.closed).toBeNull()
    await readOn(900)
    expect(watcher.socket.closed).toBe(4008)
  })

  test('who do not read at all are cut like the dead', async () => {
    const watcher = await join('watch')
    watcher.socket.pause()
    await stage.pass(1_500)
    expect(watcher.socket.closed).toBe(1006)
  })

  test('hear the truth last, also when somebody is closed for being too slow to hear it', async () => {
    const console = await join()
    const watcher = await join('watch')
    stage.control(console)
    console.socket.pause()
    await stage.pass(DEADMAN_MS + 20)
    console.socket.limitBytes = 1
    stage.control(console) // ends the stop, which there is no room to tell its own console
    expect(console.socket.closed).toBe(4008)
    expect(JSON.parse(watcher.state as string).stop.reason).toBe('operator_lost')
    expect(watcher.state).toBe(await truth())
  })

  test('on two consoles: the newer one drives, also when the older took longer to be let in', async () => {
    stage.book.end()
    await stage.attend()
    stage.book.start(stage.nowMs())
    await stage.attend()
    stage.book.setAway(true) // its ticket is asked about again in a moment
    const older = stage.join(session().id, 'control')
    await stage.attend()
    stage.book.setAway(false)
    const newer = stage.join(session().id, 'control')
    await stage.attend()
    expect([older.state, newer.state]).toEqual([null, expect.any(String)])
    await stage.pass(1_000)
    expect(older.socket.closed).toBe(4000)
    expect(newer.socket.closed).toBeNull()
    stage.control(newer)
    expect(robot().controls).toBe(1)
  })

  test('who drove for a moment only, and are gone, leave the session paused after the grace', async () => {
    stage.setQuick(false)
    const console = stage.join(id, 'control')
    await stage.attend() // its ticket is being asked about
    stage.book.work()
    stage.book.answer()
    await stage.attend()
    console.socket.lose() // before the database could record it
    stage.setQuick(true)
    await stage.pass(3_000)
    expect(session()).toMatchObject({ status: 'PAUSED', driven: true })
  })
})

describe('a stop', () => {
  test('that calls itself a pause is a stop all the same', async () => {
    const console = await join()
    stage.book.setAway(true)
    stage.press(console, 'session_paused')
    await stage.attend()
    stage.book.setAway(false)
    stage.book.bus.publish('robots.changed', { robotIds: [robot().socket.link.robotId] })
    await stage.attend() // the database says ACTIVE: it has yet to hear of the stop
    stage.control(console)
    expect(robot().controls).toBe(0)
    await stage.pass(1_000)
    expect(stopped()).toHaveLength(1)
  })

  test('that is pressed while the clearing of another is on its way is a stop of its own', async () => {
    const console = await join()
    stage.book.stop('first')
    await stage.attend()
    stage.setQuick(false)
    stage.book.clear()
    stage.resolve(id)
    stage.press(console, 'second')
    const shown = () => JSON.parse(console.state as string).stop
    expect(shown(), 'the one that stood is no answer').toMatchObject({ reason: 'first', recorded: false })
    await stage.pass(50)
    stage.book.deliverHints()
    await stage.pass(50)
    expect(shown().recorded).toBe(false)
    stage.setQuick(true)
    await stage.pass(1_000)
    expect(stopped().map(({ reason }) => reason)).toEqual(['first', 'second'])
    expect(robot().latched).toBe('second')
    expect(shown()).toMatchObject({ reason: 'second', recorded: true })
  })

  test('pressed twice while the first is being written, and cleared in between, is in force again', async () => {
    const console = await join()
    stage.setQuick(false)
    stage.press(console, 'first')
    stage.book.work()
    stage.book.clear()
    stage.resolve(id)
    stage.press(console, 'second')
    stage.setQuick(true)
    await stage.pass(1_000)
    expect(stopped().map(({ reason }) => reason)).toEqual(['first', 'second'])
  })

  test('upon a stop changes nothing and is logged once', async () => {
    const console = await join()
    const watcher = await join('watch')
    for (const party of [console, watcher, console]) {
      stage.press(party, 'again')
      await stage.pass(400)
    }
    expect(stopped()).toHaveLength(1)
  })

  test('of somebody who may not any more takes no stop away', async () => {
    const stranger = await join('watch', { userId: STRANGER_ID })
    const console = await join()
    stage.book.stop('by the owner')
    await stage.attend()
    stranger.socket.say({ type: 'stop', reason: 'by a stranger' })
    await stage.pass(1_000)
    expect(robot().latched).toBe('by the owner')
    stage.control(console)
    expect(console.dropped).toEqual(['stopped'])
  })

  test('of somebody who may not any more ends when that is known; the robot stands on', async () => {
    const stranger = await join('watch', { userId: STRANGER_ID })
    const console = await join()
    stage.control(console)
    stranger.socket.say({ type: 'stop', reason: 'by a stranger' })
    expect(robot()).toMatchObject({ latched: 'by a stranger', moving: false })
    await stage.pass(1_000)
    expect(robot()).toMatchObject({ latched: null, moving: false })
    expect(stopped()).toEqual([])
    stage.control(console)
    expect(robot().moving).toBe(true)
  })

  test('that was written after the robot had been elsewhere leaves it drivable when it is back', async () => {
    const console = await join()
    await stage.pass(880 - stage.nowMs()) // shortly before the gateway asks after robots that are gone
    stage.book.setAway(true)
    stage.press(console, 'look out')
    await stage.attend()
    stage.book.setAway(false)
    const lost = robot()
    stage.book.moveAway()
    for (const press of stage.presses) press.elsewhere = true
    await stage.attend()
    expect(lost.socket.closed).toBe(4000)
    await stage.pass(200)
    expect(console.socket.closed).toBe(4009)
    stage.connectRobot()
    await stage.pass(1_500)
    expect(robot().latched).toBe('look out')
    await join()
  })

  test("pressed before somebody leaves is told to the connection that takes the place of the robot's last", async () => {
    const console = await join()
    stage.setQuick(false)
    const next = stage.connectRobot()
    stage.press(console, 'now')
    console.socket.lose()
    stage.book.work() // what the database says of the session is older than the stop
    stage.book.answer()
    await stage.attend()
    expect(robot()).toBe(next)
    expect(next.latched).toBe('now')
  })
})

test('a gateway that drains has its robots stand before it lets go of them', async () => {
  const console = await join()
  stage.control(console)
  stage.setQuick(false)
  const drained = stage.gateway.drain()
  await stage.attend()
  stage.control(console) // what is being written takes its time
  const driven = robot()
  expect(driven.moving).toBe(true)
  stage.setQuick(true)
  for (let n = 0; n < 10; n++) await stage.attend()
  await drained
  expect(driven.socket.closed).toBe(4503)
  expect(driven.moving).toBe(false)
})
