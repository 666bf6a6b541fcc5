import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  control,
  gapsOf,
  gateway,
  opened,
  START_MS,
  sessionId,
  setUp,
} from '../../../../test/support/recordings/sender-fixture.ts'
import { sampleKinds } from './sample-wire.ts'
import { SentStream } from './sent-stream.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS })
})
afterEach(() => {
  vi.useRealTimers()
})

test('sends samples in batches, in order, with increasing times', async () => {
  const { sender, connect } = setUp()
  const stream = sender.open(gateway)
  stream.write(control('early ü'), START_MS - 1)
  const socket = await connect()
  expect(opened(socket)).toMatchObject([{ sessionId, source: 'gateway', stored: true, stream: 1 }])
  expect(socket).toMatchObject({ url: 'ws://a', authorization: 'Bearer x' })
  stream.write({ ...control(Buffer.from([1, 2])), note: 'stale' })
  stream.write(control('same time'))
  expect(socket.texts, 'before the batch').toEqual(['early ü'])
  await vi.advanceTimersByTimeAsync(50)
  expect(socket.samples).toMatchObject([
    { stream: 1, kind: 1, detail: 1.5, atMs: START_MS - 1 },
    { note: 'stale', payload: Buffer.from([1, 2]) },
    { note: '' },
  ])
  const times = socket.samples.map(({ atMs }) => atMs)
  expect(times.every((time, index) => index === 0 || time > (times[index - 1] as number))).toBe(true)
  expect(sender.counts).toEqual({ sent: 3, leftOut: 0, reconnects: 0 })
})

test('sends only unacknowledged samples again after the recorder is lost', async () => {
  const { sender, sockets, connect } = setUp()
  const stream = sender.open(gateway)
  const first = await connect()
  for (const text of ['1', '2', '3']) stream.write(control(text))
  await vi.advanceTimersByTimeAsync(50)
  first.says({ type: 'ack', stream: 1, upToMs: first.samples[1]?.atMs as number })
  first.emit('close')
  stream.write(control('4'))
  await vi.advanceTimersByTimeAsync(100)
  expect(sockets).toHaveLength(2)
  const second = await connect()
  expect(second.texts).toEqual(['3', '4'])
  expect(opened(second)).toMatchObject([{ originId: (opened(first)[0] as { streamId: string }).streamId }])
  expect(gapsOf(second)).toEqual([])
  expect(sender.counts.reconnects).toBe(1)
})

test('sends the states that hold at the next recorder again, with their times, before all other samples', async () => {
  const { sender, connect } = setUp()
  const stream = sender.open(gateway)
  const first = await connect()
  const state = (kind: keyof typeof sampleKinds, text: string) => ({
    ...control(text),
    kind: sampleKinds[kind],
  })
  stream.write(state('stop', 'older'))
  stream.write(state('limits', 'slow'))
  stream.write(state('stop', 'newer'))
  stream.write(control('1'))
  await vi.advanceTimersByTimeAsync(50)
  expect(first.texts, 'once at the first recorder').toEqual(['older', 'slow', 'newer', '1'])
  first.says({ type: 'ack', stream: 1, upToMs: first.samples[3]?.atMs as number })
  stream.write(state('limits', 'fast'))
  first.emit('close')
  await vi.advanceTimersByTimeAsync(100)
  const second = await connect()
  expect(second.texts, 'a state that is not acknowledged is sent once').toEqual(['newer', 'fast'])
  expect(second.samples[0]?.atMs).toBe(first.samples[2]?.atMs)
})

test('waits longer after each failure, and uses another recorder at once', async () => {
  const { sender, sockets, setRecorders } = setUp()
  sender.open(gateway)
  await vi.advanceTimersByTimeAsync(50)
  for (let failure = 0; failure < 50; failure++) {
    sockets.at(-1)?.emit('error', new Error('refused'))
    await vi.advanceTimersByTimeAsync(200)
  }
  expect(sockets.length).toBeGreaterThan(5)
  expect(sockets.length).toBeLessThan(15)
  setRecorders(['a', 'b'])
  sockets.at(-1)?.emit('error', new Error('refused'))
  await vi.advanceTimersByTimeAsync(50)
  expect(sockets.at(-1)?.url).toBe('ws://b')
})

test('a sample that finds no space costs the same with many streams', async () => {
  const { sender } = setUp({ names: [], limits: { streamBytes: 64 * 1024, totalBytes: 64 * 1024 } })
  const streams = Array.from({ length: 500 }, () => sender.open(gateway))
  for (const stream of streams) stream.write(control('x'.repeat(1_000)))
  const looks = vi.spyOn(SentStream.prototype, 'evictSent')
  for (const stream of streams) stream.write(control('x'.repeat(20_000)))
  expect(looks.mock.calls.length).toBeLessThanOrEqual(2 * streams.length)
  looks.mockRestore()
})

test('memory of all streams is limited: the largest stream drops samples first', async () => {
  const { sender, connect } = setUp({ limits: { streamBytes: 64 * 1024, totalBytes: 64 * 1024 } })
  const large = sender.open(gateway)
  const socket = await connect()
  for (let index = 0; index < 45; index++) large.write(control('x'.repeat(1_000)))
  await vi.advanceTimersByTimeAsync(50)
  const small = sender.open({ ...gateway, source: 'camera/x' })
  small.write(control('small'))
  await vi.advanceTimersByTimeAsync(100)
  expect(socket.texts).toContain('small')
  expect(sender.counts.leftOut).toBe(0)
})

test('a draining recorder acknowledges before the stream continues elsewhere, without its samples', async () => {
  const { sender, sockets, setRecorders, connect } = setUp()
  const stream = sender.open(gateway)
  const first = await connect()
  stream.write(control('1'))
  await vi.advanceTimersByTimeAsync(50)
  setRecorders(['b'])
  first.says({ type: 'draining' })
  stream.write(control('2'))
  await vi.advanceTimersByTimeAsync(200)
  expect(first.messages.at(-1)).toMatchObject({ type: 'close', stream: 1 })
  expect(sockets).toHaveLength(1)
  first.says({ type: 'ack', stream: 1, upToMs: first.samples[0]?.atMs as number })
  const second = await connect()
  expect(second.url).toBe('ws://b')
  expect(second.texts).toEqual(['2'])
  expect(first.texts).toEqual(['1'])
})

test('a refused stream sends nothing until its retry time, or never again', async () => {
  const { sender, connect } = setUp()
  const stream = sender.open(gateway)
  const forever = sender.open({ ...gateway, source: 'camera/x' })
  const socket = await connect()
  socket.says({ type: 'refused', stream: 1, reason: 'quota_exceeded', retryAfterMs: 1_000 })
  socket.says({ type: 'refused', stream: 2, reason: 'off', retryAfterMs: null })
  stream.write(control('ignored'))
  forever.write(control('ignored'))
  await vi.advanceTimersByTimeAsync(900)
  expect(opened(socket)).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(200)
  stream.write(control('again'))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(opened(socket).map(({ stream: number }) => number)).toEqual([1, 2, 1])
  expect(socket.texts).toEqual(['again'])
})

test('a stream that is refused for a reason of the recorder keeps its samples', async () => {
  const { sender, connect } = setUp()
  const stream = sender.open(gateway)
  const socket = await connect()
  stream.write(control('1'))
  await vi.advanceTimersByTimeAsync(50)
  socket.says({ type: 'refused', stream: 1, reason: 'internal_error', retryAfterMs: 1_000 })
  stream.write(control('2'))
  await vi.advanceTimersByTimeAsync(1_100)
  expect(socket.texts).toEqual(['1', '1', '2'])
  expect(opened(socket)[1]).toMatchObject({
    originId: (opened(socket)[0] as { streamId: string }).streamId,
  })
})

test('a closed stream is kept until it is acknowledged, even by the next recorder', async () => {
  const { sender, connect } = setUp()
  const stream = sender.open(gateway)
  const first = await connect()
  stream.write(control('last'))
  stream.close()
  stream.write(control('after the end'))
  await vi.advanceTimersByTimeAsync(50)
  expect(first.messages.at(-1)).toMatchObject({ type: 'close' })
  expect(sender.isIdle).toBe(false)
  first.emit('close')
  await vi.advanceTimersByTimeAsync(100)
  const second = await connect()
  expect(second.texts).toEqual(['last'])
  expect(second.messages.at(-1)).toMatchObject({ type: 'close' })
  second.says({ type: 'ack', stream: 1, upToMs: second.samples[0]?.atMs as number })
  await vi.advanceTimersByTimeAsync(50)
  expect(sender.isIdle).toBe(true)
  await vi.advanceTimersByTimeAsync(15_000)
  expect(vi.getTimerCount(), 'without streams nothing runs').toBe(0)
})

test('streams that are not stored keep no samples after sending them', async () => {
  const { sender, connect } = setUp()
  const stream = sender.open({ ...gateway, stored: false })
  const first = await connect()
  stream.write(control('1'))
  await vi.advanceTimersByTimeAsync(50)
  first.emit('close')
  stream.write(control('2'))
  await vi.advanceTimersByTimeAsync(100)
  const second = await connect()
  expect(second.texts).toEqual(['2'])
  expect(gapsOf(second)).toEqual([])
})

test('a recorder that does not answer pings counts as lost', async () => {
  const { sender, sockets, connect } = setUp()
  sender.open(gateway)
  const socket = await connect()
  for (let second = 0; second < 20; second++) {
    socket.emit('pong')
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(socket.pings).toBeGreaterThan(15)
  expect(socket.isTerminated).toBe(false)
  await vi.advanceTimersByTimeAsync(7_000)
  expect(socket.isTerminated).toBe(true)
  expect(sockets.length).toBeGreaterThan(1)
})

test('messages that are not valid change nothing', async () => {
  const { sender, connect } = setUp()
  const stream = sender.open(gateway)
  const socket = await connect()
  for (const text of ['', '{', '{"type":"ack"}', '{"type":"ack","stream":7,"upToMs":1}', 'null'])
    socket.emit('message', Buffer.from(text), false)
  socket.emit('message', Buffer.from([1, 2, 3]), true)
  stream.write(control('1'))
  await vi.advanceTimersByTimeAsync(50)
  expect(socket.texts).toEqual(['1'])
})
