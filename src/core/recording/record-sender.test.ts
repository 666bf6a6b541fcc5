import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FakeSocket } from '../../../test/support/recordings/fake-socket.ts'
import { createLog } from '../log.ts'
import { createGuard } from '../process/guard.ts'
import { createRecordSender } from './record-sender.ts'
import { FLAG_KEYFRAME, recordKinds } from './record-wire.ts'
import type { RecorderSocket } from './recorder-connection.ts'
import { SentStream } from './sent-stream.ts'

const log = createLog({ level: 'silent', pretty: false })
const START_MS = 1_800_000_000_000
const sessionId = randomUUID()

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS })
})
afterEach(() => {
  vi.useRealTimers()
})

function setUp({
  limits,
  names = ['a'],
  onUnsent,
}: {
  limits?: Parameters<typeof createRecordSender>[0]['limits']
  names?: string[]
  onUnsent?: Parameters<typeof createRecordSender>[0]['onUnsent']
} = {}) {
  const sockets: FakeSocket[] = []
  let recorders = names.map((id) => ({ id, url: `ws://${id}` }))
  const sender = createRecordSender({
    recorders: () => recorders,
    authorization: () => 'Bearer x',
    guard: createGuard({ role: 'test', log, count: () => {}, before: () => {} }),
    log,
    nowMs: Date.now,
    ...(limits && { limits }),
    ...(onUnsent && { onUnsent }),
    open: (url, authorization) => {
      const socket = new FakeSocket(url, authorization)
      sockets.push(socket)
      return socket as unknown as RecorderSocket
    },
  })
  return {
    sender,
    sockets,
    setRecorders: (ids: string[]) => {
      recorders = ids.map((id) => ({ id, url: `ws://${id}` }))
    },
    /** Opens the newest connection, and returns it. */
    async connect(): Promise<FakeSocket> {
      await vi.advanceTimersByTimeAsync(50)
      const socket = sockets.at(-1) as FakeSocket
      socket.emit('open')
      await vi.advanceTimersByTimeAsync(50)
      return socket
    },
  }
}

const control = (payload: string | Uint8Array, flags = 0) => ({
  kind: recordKinds.control,
  flags,
  detail: 1.5,
  note: '',
  payload,
})
const gateway = { sessionId, source: 'gateway', stored: true }
const opened = (socket: FakeSocket) => socket.messages.filter((message) => message.type === 'open')
const gapsOf = (socket: FakeSocket) => socket.messages.filter((message) => message.type === 'gap')

test('sends records in batches, in order, with increasing times', async () => {
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
  expect(socket.records).toMatchObject([
    { stream: 1, kind: 1, detail: 1.5, atMs: START_MS - 1 },
    { note: 'stale', payload: Buffer.from([1, 2]) },
    { note: '' },
  ])
  const times = socket.records.map(({ atMs }) => atMs)
  expect(times.every((time, index) => index === 0 || time > (times[index - 1] as number))).toBe(true)
  expect(sender.counts).toEqual({ sent: 3, leftOut: 0, reconnects: 0 })
})

test('sends only unacknowledged records again after the recorder is lost', async () => {
  const { sender, sockets, connect } = setUp()
  const stream = sender.open(gateway)
  const first = await connect()
  for (const text of ['1', '2', '3']) stream.write(control(text))
  await vi.advanceTimersByTimeAsync(50)
  first.says({ type: 'ack', stream: 1, upToMs: first.records[1]?.atMs as number })
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

test('a stream without a recorder keeps its limit, and reports the rest as a gap', async () => {
  const { sender, connect } = setUp({ limits: { streamBytes: 64 * 1024, totalBytes: 1024 * 1024 } })
  const stream = sender.open(gateway)
  const other = sender.open({ ...gateway, source: 'camera/x' })
  other.write(control('of another'))
  for (let index = 0; index < 100; index++) stream.write(control('x'.repeat(1_000)))
  const socket = await connect()
  expect(socket.records.length).toBeGreaterThan(50)
  expect(socket.records.length).toBeLessThan(70)
  expect(socket.texts).toContain('of another')
  expect(gapsOf(socket)).toMatchObject([{ reason: 'recorder_lost', stream: 1 }])
  expect(sender.counts.leftOut + sender.counts.sent).toBe(101)
})

test('records that a slow recorder does not accept are dropped and reported as a gap; a camera continues with a keyframe', async () => {
  const { sender, connect } = setUp({ limits: { streamBytes: 64 * 1024, totalBytes: 1024 * 1024 } })
  const onKeyframeRequest = vi.fn()
  const stream = sender.open({ ...gateway, codec: 'VP8', onKeyframeRequest })
  const socket = await connect()
  socket.bufferedAmount = 9 * 1024 * 1024
  const frame = (payload: string, flags = 0) => ({
    ...control(payload.padEnd(1_000), flags),
    kind: recordKinds.video,
  })
  for (let index = 0; index < 100; index++) stream.write(frame(`${index}`))
  expect(onKeyframeRequest).toHaveBeenCalledOnce()
  socket.bufferedAmount = 0
  await vi.advanceTimersByTimeAsync(50)
  const before = socket.records.length
  expect(gapsOf(socket)).toMatchObject([{ reason: 'overload' }])
  stream.write(frame('of a lost group'))
  stream.write(frame('key', FLAG_KEYFRAME))
  stream.write(frame('next'))
  await vi.advanceTimersByTimeAsync(50)
  expect(socket.texts.slice(before).map((text) => text.trim())).toEqual(['key', 'next'])
})

test('a record that finds no space costs the same with many streams', async () => {
  const { sender } = setUp({ names: [], limits: { streamBytes: 64 * 1024, totalBytes: 64 * 1024 } })
  const streams = Array.from({ length: 500 }, () => sender.open(gateway))
  for (const stream of streams) stream.write(control('x'.repeat(1_000)))
  const looks = vi.spyOn(SentStream.prototype, 'evictSent')
  for (const stream of streams) stream.write(control('x'.repeat(20_000)))
  expect(looks.mock.calls.length).toBeLessThanOrEqual(2 * streams.length)
  looks.mockRestore()
})

test('a single picture that is left out is a gap from the one before to the one after', async () => {
  const { sender, connect } = setUp({
    limits: { streamBytes: 8 * 1024 * 1024, totalBytes: 64 * 1024 * 1024 },
  })
  const stream = sender.open({ ...gateway, source: 'camera/stream', codec: 'JPEG' })
  const socket = await connect()
  const times = [0, 100, 200, 300].map((ms) => START_MS + 1_000 + ms)
  for (const [number, atMs] of times.entries())
    stream.write(control(new Uint8Array(number === 1 ? 4 * 1024 * 1024 + 1 : 10)), atMs)
  await vi.advanceTimersByTimeAsync(50)
  expect(socket.records.map(({ atMs }) => atMs)).toEqual([times[0], times[2], times[3]])
  expect(gapsOf(socket)).toMatchObject([{ fromMs: times[0], toMs: times[2] }])
})

test('a gap of the source is reported before the end of its stream, and again after the recorder is lost', async () => {
  const { sender, connect } = setUp()
  const stream = sender.open({ ...gateway, source: 'camera/front', codec: 'H264' })
  stream.write(control('key', FLAG_KEYFRAME))
  stream.gap({ fromMs: START_MS, toMs: START_MS + 300 })
  stream.gap({ fromMs: START_MS + 300, toMs: START_MS + 400 })
  stream.close()
  stream.gap({ fromMs: START_MS + 500, toMs: START_MS + 600 })
  const gap = { reason: 'packets_lost', fromMs: START_MS, toMs: START_MS + 400 }
  const first = await connect()
  expect(first.messages).toMatchObject([{ type: 'open' }, { type: 'gap', ...gap }, { type: 'close' }])
  first.emit('close')
  await vi.advanceTimersByTimeAsync(300)
  const second = await connect()
  expect(gapsOf(second)).toMatchObject([gap])
})

test('records that were removed before their acknowledgement are a gap only if the recorder is lost', async () => {
  const { sender, sockets, connect } = setUp({ limits: { streamBytes: 64 * 1024, totalBytes: 1024 * 1024 } })
  const stream = sender.open({ ...gateway, codec: 'H264' })
  const first = await connect()
  const write = async (count: number) => {
    for (let index = 0; index < count; index++) {
      stream.write(control('x'.repeat(1_000), index % 10 === 0 ? FLAG_KEYFRAME : 0))
      await vi.advanceTimersByTimeAsync(50)
    }
  }
  await write(100)
  first.says({ type: 'ack', stream: 1, upToMs: first.records.at(-1)?.atMs as number })
  await write(100)
  expect(sender.counts.leftOut).toBe(0)
  expect(gapsOf(first)).toEqual([])
  first.emit('close')
  await vi.advanceTimersByTimeAsync(100)
  const second = await connect()
  expect(sockets).toHaveLength(2)
  const [gap] = gapsOf(second)
  expect(gap).toMatchObject({ reason: 'recorder_lost', fromMs: first.records[100]?.atMs })
  expect(second.records[0]).toMatchObject({ flags: FLAG_KEYFRAME })
  expect(second.records[0]?.atMs).toBeGreaterThan((gap as { toMs: number }).toMs)
})

test('memory of all streams is limited: the largest stream drops records first', async () => {
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

test('a draining recorder acknowledges before the stream continues elsewhere, without its records', async () => {
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
  first.says({ type: 'ack', stream: 1, upToMs: first.records[0]?.atMs as number })
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

test('a stream that is refused for a reason of the recorder keeps its records', async () => {
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
  second.says({ type: 'ack', stream: 1, upToMs: second.records[0]?.atMs as number })
  await vi.advanceTimersByTimeAsync(50)
  expect(sender.isIdle).toBe(true)
  await vi.advanceTimersByTimeAsync(15_000)
  expect(vi.getTimerCount(), 'without streams nothing runs').toBe(0)
})

test('a stream that reaches no recorder within a minute of its end is reported', async () => {
  const onUnsent = vi.fn()
  const { sender } = setUp({ names: [], onUnsent })
  const stream = sender.open(gateway)
  sender.open({ ...gateway, stored: false }).close()
  stream.write(control('1'))
  await vi.advanceTimersByTimeAsync(1_000)
  stream.close()
  await vi.advanceTimersByTimeAsync(59_000)
  expect(onUnsent).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(2_000)
  const period = { fromMs: START_MS, toMs: START_MS + 1_000 }
  expect(onUnsent.mock.calls).toEqual([[gateway, period]])
  expect(sender.isIdle).toBe(true)
})

test('streams that are not stored keep no records after sending them', async () => {
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
