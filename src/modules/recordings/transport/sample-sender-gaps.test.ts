import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  control,
  gapsOf,
  gateway,
  START_MS,
  setUp,
} from '../../../../test/support/recordings/sender-fixture.ts'
import { FLAG_KEYFRAME, sampleKinds } from './sample-wire.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS })
})
afterEach(() => {
  vi.useRealTimers()
})

test('a stream without a recorder keeps its limit, and reports the rest as a gap', async () => {
  const { sender, connect } = setUp({ limits: { streamBytes: 64 * 1024, totalBytes: 1024 * 1024 } })
  const stream = sender.open(gateway)
  const other = sender.open({ ...gateway, source: 'camera/x' })
  other.write(control('of another'))
  for (let index = 0; index < 100; index++) stream.write(control('x'.repeat(1_000)))
  const socket = await connect()
  expect(socket.samples.length).toBeGreaterThan(50)
  expect(socket.samples.length).toBeLessThan(70)
  expect(socket.texts).toContain('of another')
  expect(gapsOf(socket)).toMatchObject([{ reason: 'recorder_lost', stream: 1 }])
  expect(sender.counts.leftOut + sender.counts.sent).toBe(101)
})

test('samples that a slow recorder does not accept are dropped and reported as a gap; a camera continues with a keyframe', async () => {
  const { sender, connect } = setUp({ limits: { streamBytes: 64 * 1024, totalBytes: 1024 * 1024 } })
  const onKeyframeRequest = vi.fn()
  const stream = sender.open({ ...gateway, codec: 'VP8', onKeyframeRequest })
  const socket = await connect()
  socket.bufferedAmount = 9 * 1024 * 1024
  const frame = (payload: string, flags = 0) => ({
    ...control(payload.padEnd(1_000), flags),
    kind: sampleKinds.video,
  })
  for (let index = 0; index < 100; index++) stream.write(frame(`${index}`))
  expect(onKeyframeRequest).toHaveBeenCalledOnce()
  socket.bufferedAmount = 0
  await vi.advanceTimersByTimeAsync(50)
  const before = socket.samples.length
  expect(gapsOf(socket)).toMatchObject([{ reason: 'overload' }])
  stream.write(frame('of a lost group'))
  stream.write(frame('key', FLAG_KEYFRAME))
  stream.write(frame('next'))
  await vi.advanceTimersByTimeAsync(50)
  expect(socket.texts.slice(before).map((text) => text.trim())).toEqual(['key', 'next'])
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
  expect(socket.samples.map(({ atMs }) => atMs)).toEqual([times[0], times[2], times[3]])
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

test('samples that were removed before their acknowledgement are a gap only if the recorder is lost', async () => {
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
  first.says({ type: 'ack', stream: 1, upToMs: first.samples.at(-1)?.atMs as number })
  await write(100)
  expect(sender.counts.leftOut).toBe(0)
  expect(gapsOf(first)).toEqual([])
  first.emit('close')
  await vi.advanceTimersByTimeAsync(100)
  const second = await connect()
  expect(sockets).toHaveLength(2)
  const [gap] = gapsOf(second)
  expect(gap).toMatchObject({ reason: 'recorder_lost', fromMs: first.samples[100]?.atMs })
  expect(second.samples[0]).toMatchObject({ flags: FLAG_KEYFRAME })
  expect(second.samples[0]?.atMs).toBeGreaterThan((gap as { toMs: number }).toMs)
})

test('at the end of the process, streams that have reached no recorder are reported at once', async () => {
  const onUnsent = vi.fn()
  const { sender, connect, setRecorders } = setUp({ onUnsent })
  sender.open(gateway).write(control('1'))
  await connect()
  setRecorders([])
  const camera = { ...gateway, sessionId: randomUUID(), source: 'camera/front' }
  const waiting = sender.open(camera)
  const fromMs = Date.now()
  waiting.write(control('2'))
  await vi.advanceTimersByTimeAsync(1_000)
  sender.giveUp()
  sender.giveUp()
  expect(onUnsent.mock.calls).toEqual([[camera, { fromMs, toMs: fromMs + 1_000 }]])
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

test('a stream that was refused because of the quota reports only what it recorded afterwards', async () => {
  const onUnsent = vi.fn()
  const { sender, connect, setRecorders } = setUp({ onUnsent })
  const stream = sender.open(gateway)
  stream.write(control('1'))
  const socket = await connect()
  socket.says({ type: 'refused', stream: 1, reason: 'quota_exceeded', retryAfterMs: 1_000 })
  setRecorders([])
  socket.emit('close')
  await vi.advanceTimersByTimeAsync(2_000)
  const fromMs = Date.now()
  stream.write(control('2'))
  await vi.advanceTimersByTimeAsync(1_000)
  sender.giveUp()
  expect(onUnsent.mock.calls).toEqual([[gateway, { fromMs, toMs: fromMs + 1_000 }]])
})
