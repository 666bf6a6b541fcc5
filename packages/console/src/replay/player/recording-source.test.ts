import { expect, onTestFinished, test, vi } from 'vitest'
import { decodeFrame } from '../../../../../src/modules/recordings/mcap/compressed-frame.ts'
import {
  createTestMessages,
  type TestMessage,
  writeTestFile,
} from '../../../../../test/support/recordings/test-recording.ts'
import { waitFor } from '../../../../../test/support/world/wait.ts'
import type { RecordingPart } from '../../recording/recordings.ts'
import { RangeRefused } from '../data/block-cache.ts'
import { BUCKETS, createOverviewScan, type Overview } from '../data/overview.ts'
import { createMomentReader, createRecordingSource } from '../data/recording-source.ts'
import { createKeyframeFinder } from './camera-player.ts'

const startMs = Date.UTC(2026, 10, 24, 9)
const seconds = 40
const messages = await createTestMessages({ startMs, seconds })
const at = (second: number) => startMs + second * 1_000

const files = new Map<string, Buffer>()

async function part(url: string, own: readonly TestMessage[]): Promise<RecordingPart> {
  const file = await writeTestFile(own)
  files.set(url, file)
  const times = own.map(({ atMs }) => atMs)
  const iso = (ms: number) => new Date(Math.floor(ms)).toISOString()
  return {
    url,
    source: 'all',
    from: iso(Math.min(...times)),
    to: iso(Math.max(...times)),
    size_bytes: file.length,
  }
}

/** Cuts messages as the recorder does: a stream for the gateway and one for each camera, in segments. */
async function segments(): Promise<RecordingPart[]> {
  const parts: RecordingPart[] = []
  for (const isCamera of [false, true])
    for (let from = 0; from < seconds; from += 10) {
      const own = messages.filter(
        ({ topic, atMs }) =>
          topic.startsWith('/camera') === isCamera && atMs >= at(from) && atMs < at(from + 10),
      )
      parts.push(await part(`/segments/${isCamera}/${from}`, own))
    }
  return parts
}

const fetchRange = async (url: string, start: number, end: number) =>
  new Uint8Array(files.get(url)?.subarray(start, end) ?? [])

const chatOf = ({ events }: Overview) => events.filter(({ type }) => type === 'chat.message')

const whole = [await part('/file', messages)]
const cut = await segments()

function open(parts: readonly RecordingPart[]) {
  const source = createRecordingSource(fetchRange, 4 * 1024 * 1024)
  source.setParts(parts)
  return source
}

test.each([
  ['one file', whole],
  ['segments', cut],
])('reads messages in order in both directions from %s', async (_, parts) => {
  const source = open(parts)
  const topics = ['/telemetry', '/camera/front', '/chat']
  const expected = messages.filter(
    ({ topic, atMs }) => topics.includes(topic) && atMs >= at(8.5) && atMs <= at(22),
  )
  for (const reverse of [false, true]) {
    const read: string[] = []
    for await (const { topic, atMs } of source.messages({ topics, fromMs: at(8.5), toMs: at(22), reverse }))
      read.push(`${atMs} ${topic}`)
    const wanted = expected.map(({ topic, atMs }) => `${atMs} ${topic}`)
    expect([...read].sort()).toEqual([...wanted].sort())
    const times = read.map((line) => Number(line.split(' ')[0]))
    expect(times).toEqual([...times].sort((a, b) => (reverse ? b - a : a - b)))
  }
})

test('finds the keyframe before a time', async () => {
  const finder = createKeyframeFinder(open(cut), '/camera/front', 'foxglove.CompressedVideo')
  const { signal } = new AbortController()
  const isKey = ({ message }: TestMessage) =>
    ((decodeFrame('CompressedVideo', message.data).data[0] ?? 1) & 1) === 0
  const keyframes = messages.filter((message) => message.topic === '/camera/front' && isKey(message))
  for (const second of [9.9, 8, 0, 33.3])
    expect(await finder.before(at(second), signal)).toBe(
      keyframes.findLast(({ atMs }) => atMs <= at(second))?.atMs,
    )
  expect(await finder.before(at(-1), signal)).toBeUndefined()
})

test('returns what was the newest at a time, and nothing that is old', async () => {
  const moments = createMomentReader(open(whole), ['/telemetry', '/stop'])
  const ready = (atMs: number) =>
    new Promise<void>((resolve) => {
      const check = () => moments.isReady(atMs) && resolve()
      moments.subscribe(check)
      moments.prepare(atMs)
      check()
    })
  await ready(at(12.05))
  expect(moments.at('/telemetry', at(12.05))?.atMs).toBe(at(12) + 7)
  expect(moments.at('/stop', at(12.05))).toBeUndefined()
})

/** Scans parts to the end. */
function scan(parts: readonly RecordingPart[]): Promise<Overview> {
  return new Promise((resolve, reject) => {
    const running = createOverviewScan({
      fetchRange,
      cacheBytes: 1024 * 1024,
      onError: reject,
      onOverview: (_, overview, scannedToMs) => scannedToMs === Number.POSITIVE_INFINITY && resolve(overview),
    })
    const complete = parts === whole
    running.setParts({ parts, complete, fromMs: startMs, toMs: at(seconds), posePath: ['pose'] })
  })
}

test.each([
  ['one file', whole],
  ['segments', cut],
])('an overview of %s has every message in a bounded size', async (_, parts) => {
  const overview = await scan(parts)
  const sum = (counts: Iterable<number> | undefined) => [...(counts ?? [])].reduce((a, b) => a + b, 0)
  const count = (topic: string) => messages.filter((message) => message.topic === topic).length
  expect(sum(overview.passed)).toBe(count('/control'))
  expect(sum(overview.dropped.get('latency'))).toBe(count('/control/dropped'))
  expect(overview.passed.length).toBe(BUCKETS)
  expect(chatOf(overview).map(({ data }) => data.body)).toEqual([
    'Message at 5 s',
    'Message at 15 s',
    'Message at 25 s',
    'Message at 35 s',
  ])
  expect(overview.stops.map(({ stop }) => stop?.latched ?? false)).toEqual([false, true, false, false])
  const battery = overview.series.get('telemetry:battery') ?? new Float64Array()
  const values = [...battery].filter((value) => !Number.isNaN(value))
  expect([Math.max(...values), Math.min(...values)]).toEqual([0.9, 0.896])
  expect(overview.series.has('latency:robot_ms')).toBe(true)
})

test('a recording that grows beyond its buckets keeps every message', async () => {
  let last: Overview | undefined
  const done = Promise.withResolvers<void>()
  const running = createOverviewScan({
    fetchRange,
    cacheBytes: 1024 * 1024,
    onError: done.reject,
    onOverview: (_, overview, scannedToMs) => {
      last = overview
      if (scannedToMs === Number.POSITIVE_INFINITY && overview.passed.reduce((a, b) => a + b, 0) > 700)
        done.resolve()
    },
  })
  const rest = { complete: false, fromMs: at(-4_000), posePath: null }
  running.setParts({ ...rest, parts: cut.slice(0, 1), toMs: at(-3_900) })
  running.setParts({ ...rest, parts: cut, toMs: at(seconds) })
  await done.promise
  expect(last?.widthMs).toBeGreaterThan(4_000_000 / BUCKETS / 2)
  expect(last?.passed.reduce((a, b) => a + b, 0)).toBe(
    messages.filter(({ topic }) => topic === '/control').length,
  )
})

/** Advances the clock of the test until something holds. */
async function advanceUntil(holds: () => boolean): Promise<void> {
  while (!holds()) await vi.advanceTimersByTimeAsync(100)
}

/** Returns requests of which some fail: more than a cache repeats by itself. */
function failing(first: number, count: number) {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const requestedMs: number[] = []
  return {
    requestedMs,
    fetchRange: async (url: string, start: number, end: number) => {
      requestedMs.push(performance.now())
      const number = requestedMs.length
      if (number >= first && number < first + count) throw new Error('unreachable')
      return await fetchRange(url, start, end)
    },
  }
}

test.each([
  ['a file', whole, 2],
  ['a file', whole, 5],
  ['segments', cut, 3],
])('after a failure the overview of %s is read on, and has each message once', async (_, parts, first) => {
  const storage = failing(first, 8)
  const errors: unknown[] = []
  let last: Overview | undefined
  const running = createOverviewScan({
    fetchRange: storage.fetchRange,
    cacheBytes: 1,
    onError: (cause) => errors.push(cause),
    onOverview: (_, overview, scannedToMs) => {
      if (scannedToMs === Number.POSITIVE_INFINITY) last = overview
    },
  })
  const complete = parts === whole
  running.setParts({ parts, complete, fromMs: startMs, toMs: at(seconds), posePath: null })
  await advanceUntil(() => last !== undefined)
  expect(errors.length).toBeGreaterThan(1)
  expect(last?.passed.reduce((a, b) => a + b, 0)).toBe(
    messages.filter(({ topic }) => topic === '/control').length,
  )
  expect(last && chatOf(last)).toHaveLength(4)
})

test('moments whose reading failed are read again, less and less often', async () => {
  const storage = failing(1, 30)
  const source = createRecordingSource(storage.fetchRange, 4 * 1024 * 1024)
  source.setParts(whole)
  const moments = createMomentReader(source, ['/telemetry'])
  await advanceUntil(() => {
    moments.prepare(at(12.05))
    return moments.isReady(at(12.05))
  })
  expect(moments.at('/telemetry', at(12.05))?.atMs).toBe(at(12) + 7)
  const attemptsIn = (fromMs: number) =>
    storage.requestedMs.filter((ms) => ms >= fromMs && ms < fromMs + 5_000)
  const [startedMs] = storage.requestedMs
  expect(attemptsIn(startedMs as number).length).toBeGreaterThan(
    attemptsIn((startedMs as number) + 10_000).length,
  )
})

test('the finished file replaces a segment that was removed while it was read', async () => {
  const errors: unknown[] = []
  const segment = await part('/removed.mcap', messages)
  let requests = 0
  let last: Overview | undefined
  const running = createOverviewScan({
    fetchRange: async (url, start, end) => {
      if (url === segment.url && ++requests > 3) throw new RangeRefused(404)
      return await fetchRange(url, start, end)
    },
    cacheBytes: 1,
    onError: (cause) => errors.push(cause),
    onOverview: (_, overview, scannedToMs) => {
      if (scannedToMs === Number.POSITIVE_INFINITY) last = overview
    },
  })
  const rest = { fromMs: startMs, toMs: at(seconds), posePath: null }
  running.setParts({ ...rest, parts: [segment], complete: false })
  await waitFor(() => expect(errors.length).toBeGreaterThan(0))
  running.setParts({ ...rest, parts: whole, complete: true })
  await waitFor(() => expect(last).toBeDefined())
  expect(last?.passed.reduce((a, b) => a + b, 0)).toBe(
    messages.filter(({ topic }) => topic === '/control').length,
  )
  expect(last && chatOf(last)).toHaveLength(4)
})

test('moments at the end of a growing recording stay until they were read again', async () => {
  const source = createRecordingSource(fetchRange, 4 * 1024 * 1024)
  source.setParts(cut.slice(0, 1))
  const moments = createMomentReader(source, ['/telemetry'])
  const isRead = () => {
    moments.prepare(at(9.5))
    return moments.isReady(at(9.5))
  }
  await waitFor(() => expect(isRead()).toBe(true))
  const known = moments.at('/telemetry', at(9.5))
  expect(known).toBeDefined()
  source.setParts(cut)
  expect(moments.isReady(at(9.5))).toBe(false)
  expect(moments.at('/telemetry', at(9.5))).toEqual(known)
  await waitFor(() => expect(isRead()).toBe(true))
  expect(moments.at('/telemetry', at(9.5))).toEqual(known)
})

test('an unreadable place keeps no other one waiting', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let isBroken = true
  const source = createRecordingSource(
    async (url, start, end) => {
      if (isBroken) throw new Error('unreachable')
      return await fetchRange(url, start, end)
    },
    4 * 1024 * 1024,
  )
  source.setParts(whole)
  const moments = createMomentReader(source, ['/telemetry'])
  for (let frame = 0; frame < 600; frame++) {
    moments.prepare(at(12.05))
    await vi.advanceTimersByTimeAsync(100)
  }
  isBroken = false
  moments.prepare(at(32.05))
  const jumpedMs = performance.now()
  await advanceUntil(() => moments.isReady(at(32.05)))
  expect(performance.now() - jumpedMs).toBeLessThan(1_000)
})
