import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { WebSocket } from 'ws'
import { createLog } from '../../core/log.ts'
import { createGuard } from '../../core/process/guard.ts'
import { decodeTailMessage, type TailMessage } from '../../modules/recordings/transport/tail-wire.ts'
import { LiveReaders } from './live-readers.ts'

const SESSION = '0b3f6f6e-8d0f-4c1e-9a35-0c8a2a9d7f11'

/** A connection that writes nothing until the test says so. */
class FakeSocket extends EventEmitter {
  bufferedAmount = 0
  readonly sent: TailMessage[] = []
  pings = 0
  ended: string | undefined
  readonly #callbacks: (() => void)[] = []

  send(bytes: Buffer, done: () => void): void {
    this.bufferedAmount += bytes.length
    this.sent.push(decodeTailMessage(bytes))
    this.#callbacks.push(done)
  }
  /** Writes everything that was sent. */
  drain(): void {
    this.bufferedAmount = 0
    for (const done of this.#callbacks.splice(0)) done()
  }
  ping(): void {
    this.pings++
  }
  terminate(): void {
    this.ended = 'terminated'
    this.emit('close')
  }
  close(code: number): void {
    this.ended = String(code)
    this.emit('close')
  }
}

const message = (topic: string, text: string, camera?: 'key' | 'delta', bytes = 0): TailMessage => ({
  topic,
  kind: camera ? 'video' : 'json',
  isKeyframe: camera === 'key',
  logTimeNs: 1_790_000_000_123_456_789n,
  publishTimeNs: 1_790_000_000_000_000_001n,
  data: Buffer.from(text.padEnd(bytes, ' ')),
})
const textsOf = ({ sent }: FakeSocket) => sent.map(({ topic, data }) => `${topic} ${String(data).trim()}`)

let readers: LiveReaders
const keyframes: string[] = []
function connect(sessionId = SESSION): FakeSocket {
  const socket = new FakeSocket()
  readers.add(socket as unknown as WebSocket, sessionId)
  return socket
}
beforeEach(() => {
  vi.useFakeTimers()
  keyframes.length = 0
  const log = createLog({ level: 'silent', pretty: false })
  const guard = createGuard({ role: 'recorder', log, count() {} })
  readers = new LiveReaders({ guard, requestKeyframe: (_sessionId, topic) => keyframes.push(topic) })
})
afterEach(() => {
  readers.close()
  vi.useRealTimers()
})

test('messages arrive unchanged at the readers of their session only', () => {
  const [own, other] = [connect(), connect('9d1cbd0f-2a53-4d5e-8bb1-2d64ad0e9b02')]
  const sent = [message('/telemetry', '{"t":1}'), message('/camera/front', 'picture', 'key')]
  for (const each of sent) readers.publish(SESSION, each)
  expect(own.sent).toEqual(sent)
  expect(other.sent).toEqual([])
  expect(readers.wants(SESSION, '/telemetry')).toBe(true)
  own.emit('close')
  expect(readers.size).toBe(1)
  expect(readers.wants(SESSION, '/telemetry')).toBe(false)
})

test('a slow reader gets the newest message of each topic, and video from a keyframe', () => {
  const socket = connect()
  readers.publish(SESSION, message('/camera/front', 'k0', 'key', 1024 * 1024 + 1))
  for (let index = 0; index < 1_000; index++) {
    readers.publish(SESSION, message('/telemetry', `t${index}`))
    readers.publish(SESSION, message('/camera/front', `d${index}`, 'delta'))
  }
  readers.publish(SESSION, message('/control', 'c'))
  expect(textsOf(socket)).toEqual(['/camera/front k0'])
  socket.drain()
  readers.publish(SESSION, message('/camera/front', 'd', 'delta'))
  readers.publish(SESSION, message('/camera/front', 'k1', 'key'))
  expect(textsOf(socket).slice(1)).toEqual(['/telemetry t999', '/control c', '/camera/front k1'])
})

test('a new reader gets the stop and the limits that are in force', () => {
  readers.publish(SESSION, message('/stop', 'older'))
  readers.publish(SESSION, message('/stop', 'newer'))
  readers.publish(SESSION, message('/limits', 'half'))
  readers.publish(SESSION, message('/telemetry', 'old'))
  expect(textsOf(connect())).toEqual(['/stop newer', '/limits half'])
  readers.forget(SESSION)
  expect(textsOf(connect())).toEqual([])
})

test('an older state, which a source that continues here sends again, replaces no newer one', () => {
  const connected = connect()
  const at = (logTimeNs: bigint, text: string) => ({ ...message('/stop', text), logTimeNs })
  readers.publish(SESSION, at(2n, 'newer'))
  readers.publish(SESSION, at(1n, 'older'))
  expect(textsOf(connected)).toEqual(['/stop newer'])
  expect(textsOf(connect())).toEqual(['/stop newer'])
})

test('asks a camera for a keyframe at most every five seconds, however many readers need one', () => {
  const [first, second] = [connect(), connect()]
  const ask = '{"type":"keyframe","topic":"/camera/front"}'
  first.emit('message', Buffer.from(ask))
  second.emit('message', Buffer.from(ask))
  expect(keyframes).toEqual(['/camera/front'])
  vi.advanceTimersByTime(5_000)
  first.emit('message', Buffer.from(ask))
  expect(keyframes).toHaveLength(2)
})

test('a malformed message ends its reader only', () => {
  for (const text of ['', 'null', '{"type":"other"}', '['.repeat(10_000), '\u0000\u0001']) {
    const socket = connect()
    socket.emit('message', Buffer.from(text))
    expect(socket.ended).toBe('terminated')
  }
  const socket = connect()
  readers.publish(SESSION, message('/telemetry', 't'))
  expect(socket.sent).toHaveLength(1)
})

test('ends readers that neither answer nor accept bytes', () => {
  const [silent, answering] = [connect(), connect()]
  for (let second = 0; second < 12; second++) {
    answering.emit('pong')
    vi.advanceTimersByTime(1_000)
  }
  expect(silent.pings).toBeGreaterThan(0)
  expect([silent.ended, answering.ended]).toEqual(['terminated', undefined])
  expect(readers.size).toBe(1)
})

test('refuses more readers of one session than fifty', () => {
  for (let count = 0; count < 50; count++) connect()
  expect(connect().ended).toBe('1013')
  expect(readers.size).toBe(50)
})
