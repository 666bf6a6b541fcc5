import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openLinkSocket, type SocketEnd, type WebSocketLike } from './link-socket.ts'

const SILENCE_MS = 5_000

let nowMs = 0
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Runs the timers of this time, each when it is due. */
function pass(ms: number): void {
  for (let step = 0; step < ms; step += 10) {
    nowMs += 10
    vi.advanceTimersByTime(10)
  }
}

/** Passes time in which the process runs no timer and reads no frame. */
const suspend = (ms: number) => {
  nowMs += ms
}

/** Opens a connection that ends after silence. */
function openConnection() {
  const target = new EventTarget()
  const socket = Object.assign(target, {
    binaryType: '',
    bufferedAmount: 0,
    readyState: 1,
    send: () => {},
    close: () => {},
  }) as unknown as WebSocketLike
  const ends: SocketEnd[] = []
  const link = openLinkSocket<string>({
    dial: () => socket,
    connectTimeoutMs: 10_000,
    read: (text) => text,
    onFrame: () => {},
    onBinary: () => {},
    onBadFrame: () => {},
    onEnd: (end) => ends.push(end),
  })
  link.keepAlive(SILENCE_MS)
  return { ends, receive: () => target.dispatchEvent(new MessageEvent('message', { data: 'frame' })) }
}

test('a connection ends after silence, and not while frames arrive', () => {
  const { ends, receive } = openConnection()
  for (let second = 0; second < 60; second++) {
    pass(1_000)
    receive()
  }
  pass(SILENCE_MS - 10)
  expect(ends).toEqual([])
  pass(20)
  expect(ends).toMatchObject([{ closeCode: 1006, reason: `no frame for ${SILENCE_MS} ms` }])
})

test('a frame that arrived when the silence ended is read first', () => {
  const { ends, receive } = openConnection()
  nowMs += SILENCE_MS
  vi.advanceTimersToNextTimer() // the timers run before the frames of the same turn
  receive()
  pass(SILENCE_MS - 10)
  expect(ends).toEqual([])
  pass(20)
  expect(ends).toHaveLength(1)
})

test('a process that was suspended reads the frames that have arrived, and waits for the answer to a ping', () => {
  const { ends, receive } = openConnection()
  suspend(600_000)
  pass(SILENCE_MS)
  expect(ends).toEqual([])
  pass(1_000)
  receive()
  pass(SILENCE_MS - 10)
  expect(ends).toEqual([])
})

test('a connection that is silent after a suspension ends', () => {
  const { ends } = openConnection()
  suspend(600_000)
  pass(SILENCE_MS + 2_010)
  expect(ends).toHaveLength(1)
})

test('a silent connection ends also if all timers are late, as in a page in the background', () => {
  const { ends } = openConnection()
  for (let look = 0; look < 3; look++) {
    nowMs += SILENCE_MS + 1_000
    vi.advanceTimersToNextTimer()
  }
  expect(ends).toHaveLength(1)
})
