import { recordingTopics } from '@wheelhouse/protocol'
import type { RecordingPart } from '../../recording/recordings.ts'
import { type FetchRange, RangeRefused } from './block-cache.ts'
import {
  createRecordingSource,
  createRetryDelay,
  isObject,
  objectIn,
  type RecordedMessage,
  type TimeRange,
  timedPart,
} from './recording-source.ts'

/** The state of the session from a time on, as the gateway had it. */
export type StopEntry = Readonly<ReturnType<typeof stopEntry>>
/** An event of the log, or a message of the chat. */
export type EventEntry = Readonly<ReturnType<typeof eventEntry>>

/** The summary of a recording that its time axis shows. Its size does not depend on the length of the recording. */
export type Overview = Readonly<ReturnType<OverviewBuilder['build']>>

const MAX_DEPTH = 3
/** Longer arrays are scans, not joints. */
const MAX_ITEMS = 16

/** Calls a function with each number of a JSON value and its path, such as `velocity.linear_mps` or `joints.0`. */
export function eachNumber(value: unknown, visit: (path: string, number: number) => void): void {
  const visitAt = (inner: unknown, path: readonly string[]): void => {
    if (Number.isFinite(inner)) visit(path.join('.') || 'value', Number(inner))
    if (typeof inner !== 'object' || inner === null || path.length >= MAX_DEPTH) return
    if (Array.isArray(inner) && inner.length > MAX_ITEMS) return
    for (const [name, value] of Object.entries(inner)) visitAt(value, [...path, name])
  }
  visitAt(value, [])
}

/** More fields than anyone compares. Those that appear first are kept. */
const MAX_SERIES = 48
const MAX_ENTRIES = 5_000

interface OverviewOptions extends Pick<ScanParts, 'fromMs' | 'posePath'> {
  readonly spanMs: number
  readonly buckets: number
  /** Whether later messages make the buckets wider; otherwise they are left out. */
  readonly grows: boolean
}

const { control, dropped, telemetry, latency, limits, stop, events, chat } = recordingTopics
/** The topics of which a recording has few messages. They are read first. */
const SPARSE_TOPICS: readonly string[] = [stop, events, chat]
const DENSE_TOPICS: readonly string[] = [telemetry, control, dropped, latency, limits]

/** The log repeats the messages of the chat. */
const CHAT = 'chat.message'

/** Collects the messages of a recording in a limited number of buckets of the same width. */
function createOverviewBuilder({ fromMs, spanMs, buckets, grows, posePath }: OverviewOptions) {
  let widthMs = Math.max(1, spanMs / buckets)
  const series = new Map<string, readonly [low: Extremes, high: Extremes]>()
  const passed = new Uint32Array(buckets)
  const droppedBy = new Map<string, Uint32Array<ArrayBuffer>>()
  /** The newest pose of each bucket: time, x, y and heading. */
  const poses = new Float64Array(4 * buckets).fill(Number.NaN)
  const stops: StopEntry[] = []
  const eventEntries: EventEntry[] = []

  /** Returns the bucket of a time. A longer time makes the buckets wider, not more. */
  function bucketOf(atMs: number): number | undefined {
    const index = () => Math.floor((atMs - fromMs) / widthMs)
    while (grows && index() >= buckets) {
      widthMs *= 2
      for (const extremes of [...series.values()].flat()) extremes.halve()
      for (const counts of [passed, ...droppedBy.values()]) halveCounts(counts)
      halvePoses(poses)
    }
    return index() < 0 || index() >= buckets ? undefined : index()
  }

  function addSample(topic: string, index: number, atMs: number, message: Values): void {
    const addNumbers = (source: string, data: unknown) =>
      eachNumber(data, (path, value) => {
        const create = () => [new Extremes(buckets, -1), new Extremes(buckets, 1)] as const
        for (const extremes of known(series, `${source}:${path}`, create) ?? [])
          extremes.add(index, atMs, value)
      })
    if (topic === control || topic === dropped) {
      const why = typeof message.why === 'string' ? message.why : ''
      const counts = topic === control ? passed : known(droppedBy, why, () => new Uint32Array(buckets))
      if (counts) counts[index] = (counts[index] ?? 0) + 1
      addNumbers('control', message.data)
    } else if (topic === telemetry) {
      addNumbers('telemetry', message.data)
      addPose(index, atMs, message.data)
    } else addNumbers(topic.slice(1), message)
  }

  function addPose(index: number, atMs: number, data: unknown): void {
    let value = data
    for (const name of posePath ?? []) value = isObject(value) ? value[name] : undefined
    if (!posePath || !isObject(value) || (poses[4 * index] ?? 0) > atMs) return
    const { x_m: x, y_m: y, heading_rad: heading } = value
    if (typeof x === 'number' && typeof y === 'number' && typeof heading === 'number')
      poses.set([atMs, x, y, heading], 4 * index)
  }

  return {
    /** Adds a message of any topic. A message that cannot be read is left out. */
    add({ topic, atMs, data }: RecordedMessage): void {
      const value = objectIn(data)
      if (value === undefined) return
      if (topic === stop) push(stops, stopEntry(atMs, value))
      else if (topic === chat) push(eventEntries, eventEntry(atMs, { ...value, type: CHAT, data: value }))
      else if (topic === events) {
        if (value.type !== CHAT) push(eventEntries, eventEntry(atMs, value))
      } else {
        const index = bucketOf(atMs)
        if (index !== undefined) addSample(topic, index, atMs, value)
      }
    },

    build: () => ({
      originMs: fromMs,
      widthMs,
      /** Two values for each bucket, by the source and the path of the number, such as `telemetry:battery`. */
      series: new Map([...series].map(([key, [low, high]]) => [key, pairsOf(low, high)])),
      passed: passed.slice(),
      dropped: new Map([...droppedBy].map(([why, counts]) => [why, counts.slice()])),
      poses: poses.slice(),
      stops: byTime(stops),
      events: byTime(eventEntries),
    }),
  }
}
type OverviewBuilder = ReturnType<typeof createOverviewBuilder>

const byTime = <T extends { atMs: number }>(entries: readonly T[]) =>
  entries.toSorted((a, b) => a.atMs - b.atMs)

function push<T>(entries: T[], entry: T): void {
  if (entries.length < MAX_ENTRIES) entries.push(entry)
}

/** Returns the value of a key, which is created unless there are too many. */
function known<T>(values: Map<string, T>, key: string, create: () => T): T | undefined {
  if (!values.has(key) && values.size < MAX_SERIES) values.set(key, create())
  return values.get(key)
}

function stopEntry(atMs: number, value: Values) {
  const given = isObject(value.stop) ? value.stop : null
  return {
    atMs,
    status: String(value.status),
    isConnected: value.robot_connected === true,
    stop: given && {
      reason: String(given.reason),
      latched: given.latched === true,
    },
  }
}

const eventEntry = (atMs: number, { seq, type, data }: Values) => ({
  atMs,
  seq: Number(seq),
  type: String(type),
  data: isObject(data) ? data : {},
})

type Values = Readonly<Record<string, unknown>>

/** The smallest (`sign` -1) or the largest value of each bucket, and when it came. */
class Extremes {
  readonly values: Float64Array
  readonly times: Float64Array
  readonly #sign: 1 | -1

  constructor(count: number, sign: 1 | -1) {
    this.values = new Float64Array(count).fill(Number.NaN)
    this.times = new Float64Array(count)
    this.#sign = sign
  }

  add(index: number, atMs: number, value: number): void {
    if (this.#sign * (this.values[index] ?? Number.NaN) >= this.#sign * value) return
    this.values[index] = value
    this.times[index] = atMs
  }

  halve(): void {
    const { values, times } = this
    for (let index = 0; index < values.length; index++) {
      const [left, right] = [values[2 * index] ?? Number.NaN, values[2 * index + 1] ?? Number.NaN]
      const from = 2 * index + (Number.isNaN(left) || this.#sign * right > this.#sign * left ? 1 : 0)
      values[index] = values[from] ?? Number.NaN
      times[index] = times[from] ?? 0
    }
  }
}

/** Returns both extremes of each bucket in the order in which they came; NaN where nothing was sent. */
function pairsOf(low: Extremes, high: Extremes): Float64Array<ArrayBuffer> {
  const pairs = new Float64Array(2 * low.values.length)
  for (const [index, value] of low.values.entries()) {
    const both = [value, high.values[index] ?? Number.NaN]
    const isLowFirst = (low.times[index] ?? 0) <= (high.times[index] ?? 0)
    pairs.set(isLowFirst ? both : both.reverse(), 2 * index)
  }
  return pairs
}

function halveCounts(counts: Uint32Array): void {
  for (let index = 0; index < counts.length; index++)
    counts[index] = (counts[2 * index] ?? 0) + (counts[2 * index + 1] ?? 0)
}

/** Keeps the later one of two poses. */
function halvePoses(poses: Float64Array): void {
  for (let at = 0; at < poses.length; at += 4) {
    const both = [poses.slice(2 * at + 4, 2 * at + 8), poses.slice(2 * at, 2 * at + 4)]
    const pose = both.find(([atMs = Number.NaN]) => !Number.isNaN(atMs))
    poses.set(pose ?? new Array(4).fill(Number.NaN), at)
  }
}

/** Two points for each: more than a wide screen has columns. */
export const BUCKETS = 1_500
const REPORT_MS = 400
/** A running recording grows, so that its first buckets cover more than there is. */
const SPARE = 1.5
const SHORTEST_MS = 60_000

export interface ScanParts extends TimeRange {
  readonly parts: readonly RecordingPart[]
  readonly complete: boolean
  /** Where a sample has the pose; null for nowhere. */
  readonly posePath: readonly string[] | null
}

/** `detail` is a range that is shown larger than the overview allows. */
export type ToOverviewWorker = { readonly parts: ScanParts } | { readonly detail: TimeRange }
/** What was read: the whole recording, or the newest range that was read in detail. */
export type FromOverviewWorker = { readonly overview: Overview } | { readonly detail: Overview }

interface Options {
  readonly fetchRange: FetchRange
  readonly cacheBytes: number
  /** Called while a scan advances. `scannedToMs` is infinite at its end. */
  readonly onOverview: (kind: 'overview' | 'detail', overview: Overview, scannedToMs: number) => void
  readonly onError: (cause: unknown) => void
}

/** Reads a recording from its start to its end, and ranges of it in more detail. */
export function createOverviewScan({ fetchRange, cacheBytes, onOverview, onError }: Options) {
  const source = createRecordingSource(fetchRange, cacheBytes)
  let given: ScanParts | undefined
  let builder: OverviewBuilder | undefined
  let scanned = new Set<string>()
  let wanted: TimeRange | undefined
  let isRunning = false
  /** How many messages of a part the builder contains that were read before the reading failed. */
  let partial = { url: '', messages: 0 }
  const delay = createRetryDelay()
  let retryTimer: ReturnType<typeof setTimeout> | undefined

  const createBuilder = (fromMs: number, spanMs: number, grows: boolean) =>
    createOverviewBuilder({ fromMs, spanMs, grows, buckets: BUCKETS, posePath: given?.posePath ?? null })

  async function run(): Promise<void> {
    if (isRunning) return
    isRunning = true
    clearTimeout(retryTimer)
    try {
      while (given) {
        if (wanted) await scanWanted()
        else if (!(await scanNext(given))) return
        delay.succeeded()
      }
    } catch (cause) {
      onError(cause)
      // The next parts have other addresses.
      if (!(cause instanceof RangeRefused)) retryTimer = setTimeout(() => void run(), delay.failed())
    } finally {
      isRunning = false
    }
  }

  /** Scans the next part. Returns false if there is none. */
  async function scanNext({ parts, complete, fromMs, toMs }: ScanParts): Promise<boolean> {
    const part = parts.find(({ url }) => !scanned.has(url))
    if (!part) return false
    const isContinued = partial.url === part.url || parts.some(({ url }) => scanned.has(url))
    const isWhole = complete && builder !== undefined && !isContinued
    // The finished file replaces the segments. The old overview stays visible until the file has been read.
    const span = complete ? toMs - fromMs + 1 : Math.max(SHORTEST_MS, SPARE * (toMs - fromMs))
    const into = isWhole || !builder ? createBuilder(fromMs, span, true) : builder
    if (!isWhole) builder = into
    const range = timedPart(part)
    const known = !isWhole && partial.url === part.url ? partial.messages : 0
    let read = 0
    const report = every(REPORT_MS, (atMs) => !isWhole && onOverview('overview', into.build(), atMs))
    for (const topics of [SPARSE_TOPICS, DENSE_TOPICS]) {
      const reader = await source.open(range)
      if (!topics.some((topic) => reader.topics.has(topic))) continue
      for await (const message of reader.messages({ topics, fromMs: range.fromMs, toMs: range.toMs })) {
        if (read++ < known) continue
        into.add(message)
        if (!isWhole) partial = { url: part.url, messages: read }
        report(message.atMs)
        if (wanted) await scanWanted()
      }
    }
    builder = into
    scanned = isWhole ? new Set([part.url]) : scanned.add(part.url)
    const isLast = parts.every(({ url }) => scanned.has(url))
    onOverview('overview', into.build(), isLast ? Number.POSITIVE_INFINITY : range.toMs)
    return true
  }

  /** Scans the wanted range. It stays wanted after a failure. */
  async function scanWanted(): Promise<void> {
    const range = wanted
    if (!range) return
    wanted = undefined
    try {
      await scanDetail(range)
    } catch (cause) {
      wanted ??= range
      throw cause
    }
  }

  async function scanDetail({ fromMs, toMs }: TimeRange): Promise<void> {
    const detail = createBuilder(fromMs, toMs - fromMs, false)
    for await (const message of source.messages({ topics: DENSE_TOPICS, fromMs, toMs })) {
      if (wanted) return
      detail.add(message)
    }
    onOverview('detail', detail.build(), Number.POSITIVE_INFINITY)
  }

  return {
    setParts(next: ScanParts): void {
      given = next
      source.setParts(next.parts)
      void run()
    },
    /** Scans a range, before everything else. A newer range replaces one that is waiting. */
    requestDetail(range: TimeRange): void {
      wanted = range
      void run()
    },
  }
}

function every(ms: number, report: (atMs: number) => void): (atMs: number) => void {
  let dueMs = performance.now() + ms
  return (atMs) => {
    if (performance.now() < dueMs) return
    report(atMs)
    dueMs = performance.now() + ms
  }
}
