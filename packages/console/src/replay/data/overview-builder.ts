import { recordingTopics } from '@wheelhouse/protocol'
import { type ChatEntry, type EventEntry, eachNumber, type Overview, type StopEntry } from './overview.ts'
import type { RecordedMessage } from './part-reader.ts'

/** More fields than anyone compares. Those that appear first are kept. */
const MAX_SERIES = 48
const MAX_ENTRIES = 5_000

interface OverviewOptions {
  readonly fromMs: number
  readonly spanMs: number
  readonly buckets: number
  /** Whether later messages make the buckets wider; otherwise they are left out. */
  readonly grows: boolean
  /** Where a sample has the pose; null for nowhere. */
  readonly posePath: readonly string[] | null
}

const { control, dropped, telemetry, latency, limits, stop, events, chat } = recordingTopics
/** The topics of which a recording has few messages. They are read first. */
export const SPARSE_TOPICS: readonly string[] = [stop, events, chat]
export const DENSE_TOPICS: readonly string[] = [telemetry, control, dropped, latency, limits]

const text = new TextDecoder()

/** Collects the messages of a recording. */
export class OverviewBuilder {
  readonly #options: OverviewOptions
  readonly #grid: BucketGrid
  readonly #series = new Map<string, ValueBuckets>()
  readonly #passed: CountBuckets
  readonly #dropped = new Map<string, CountBuckets>()
  readonly #poses: PoseBuckets
  readonly #stops: StopEntry[] = []
  readonly #events: EventEntry[] = []
  readonly #chat: ChatEntry[] = []

  constructor(options: OverviewOptions) {
    this.#options = options
    const { fromMs, spanMs, buckets } = options
    this.#grid = new BucketGrid({ originMs: fromMs, spanMs, count: buckets })
    this.#passed = new CountBuckets(buckets)
    this.#poses = new PoseBuckets(buckets)
  }

  /** Adds a message of any topic. A message that cannot be read is left out. */
  add({ topic, atMs, data }: RecordedMessage): void {
    const value = parse(data)
    if (value === undefined) return
    if (topic === stop) this.#addStop(atMs, value)
    else if (topic === events) this.#addEvent(atMs, value)
    else if (topic === chat) this.#addChat(atMs, value)
    else {
      const index = this.#bucketOf(atMs)
      if (index !== undefined) this.#addSample(topic, index, atMs, value)
    }
  }

  build(): Overview {
    const byTime = <T extends { atMs: number }>(entries: readonly T[]) =>
      [...entries].sort((a, b) => a.atMs - b.atMs)
    return {
      originMs: this.#grid.originMs,
      widthMs: this.#grid.widthMs,
      series: new Map([...this.#series].map(([key, values]) => [key, values.pairs()])),
      passed: this.#passed.counts.slice(),
      dropped: new Map([...this.#dropped].map(([why, { counts }]) => [why, counts.slice()])),
      poses: this.#poses.poses.slice(),
      stops: byTime(this.#stops),
      events: byTime(this.#events),
      chat: byTime(this.#chat),
    }
  }

  #bucketOf(atMs: number): number | undefined {
    let index = this.#grid.indexOf(atMs)
    while (index !== undefined && index >= this.#grid.count) {
      if (!this.#options.grows) return undefined
      this.#grid.widen()
      const stores: BucketStore[] = [
        ...this.#series.values(),
        ...this.#dropped.values(),
        this.#passed,
        this.#poses,
      ]
      for (const store of stores) store.halve()
      index = this.#grid.indexOf(atMs)
    }
    return index
  }

  #addSample(topic: string, index: number, atMs: number, message: Values): void {
    if (topic === control || topic === dropped) {
      if (topic === control) this.#passed.add(index)
      else this.#addDropped(index, message.why)
      eachNumber(message.data, (path, value) => this.#addNumber(`control:${path}`, index, atMs, value))
    } else if (topic === telemetry) {
      eachNumber(message.data, (path, value) => this.#addNumber(`telemetry:${path}`, index, atMs, value))
      this.#addPose(index, atMs, message.data)
    } else {
      const source = topic.slice(1)
      eachNumber(message, (path, value) => this.#addNumber(`${source}:${path}`, index, atMs, value))
    }
  }

  #addNumber(key: string, index: number, atMs: number, value: number): void {
    let series = this.#series.get(key)
    if (!series) {
      if (this.#series.size >= MAX_SERIES) return
      series = new ValueBuckets(this.#grid.count)
      this.#series.set(key, series)
    }
    series.add(index, atMs, value)
  }

  #addDropped(index: number, why: unknown): void {
    const reason = typeof why === 'string' ? why : ''
    let counts = this.#dropped.get(reason)
    if (!counts) {
      if (this.#dropped.size >= MAX_SERIES) return
      counts = new CountBuckets(this.#grid.count)
      this.#dropped.set(reason, counts)
    }
    counts.add(index)
  }

  #addPose(index: number, atMs: number, data: unknown): void {
    let value = data
    for (const name of this.#options.posePath ?? []) value = isRecord(value) ? value[name] : undefined
    if (!this.#options.posePath || !isRecord(value)) return
    const { x_m: x, y_m: y, heading_rad: heading } = value
    if (typeof x === 'number' && typeof y === 'number' && typeof heading === 'number')
      this.#poses.add(index, atMs, x, y, heading)
  }

  #addStop(atMs: number, value: Values): void {
    if (this.#stops.length >= MAX_ENTRIES) return
    const given = isRecord(value.stop) ? value.stop : null
    this.#stops.push({
      atMs,
      status: String(value.status),
      isConnected: value.robot_connected === true,
      stop: given && {
        reason: String(given.reason),
        latched: given.latched === true,
        byRole: typeof given.by_role === 'string' ? given.by_role : null,
      },
    })
  }

  #addEvent(atMs: number, { seq, type, data }: Values): void {
    if (this.#events.length >= MAX_ENTRIES) return
    this.#events.push({ atMs, seq: Number(seq), type: String(type), data: isRecord(data) ? data : {} })
  }

  #addChat(atMs: number, { seq, id, sender_name, sender_role, body }: Values): void {
    if (this.#chat.length >= MAX_ENTRIES) return
    const [senderName, senderRole] = [String(sender_name), String(sender_role)]
    this.#chat.push({ atMs, seq: Number(seq), id: String(id), senderName, senderRole, body: String(body) })
  }
}

type Values = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parse(data: Uint8Array): Values | undefined {
  try {
    const value: unknown = JSON.parse(text.decode(data))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Divides time into a limited number of buckets of the same width. A longer time makes the buckets wider, not more. */
class BucketGrid {
  readonly originMs: number
  readonly count: number
  #widthMs: number

  constructor({ originMs, spanMs, count }: { originMs: number; spanMs: number; count: number }) {
    this.originMs = originMs
    this.count = count
    this.#widthMs = Math.max(1, spanMs / count)
  }

  get widthMs(): number {
    return this.#widthMs
  }

  /** Returns the bucket of a time; undefined before the first one. */
  indexOf(atMs: number): number | undefined {
    const index = Math.floor((atMs - this.originMs) / this.#widthMs)
    return index < 0 ? undefined : index
  }

  widen(): void {
    this.#widthMs *= 2
  }
}

/** Values in buckets. Every store of a grid is halved when the grid is widened. */
interface BucketStore {
  halve(): void
}

/** The smallest and the largest value of each bucket, in the order in which they came. */
class ValueBuckets implements BucketStore {
  readonly #low: Float64Array
  readonly #high: Float64Array
  readonly #lowMs: Float64Array
  readonly #highMs: Float64Array

  constructor(count: number) {
    this.#low = new Float64Array(count).fill(Number.NaN)
    this.#high = new Float64Array(count).fill(Number.NaN)
    this.#lowMs = new Float64Array(count)
    this.#highMs = new Float64Array(count)
  }

  add(index: number, atMs: number, value: number): void {
    if (!((this.#low[index] ?? 0) <= value)) {
      this.#low[index] = value
      this.#lowMs[index] = atMs
    }
    if (!((this.#high[index] ?? 0) >= value)) {
      this.#high[index] = value
      this.#highMs[index] = atMs
    }
  }

  halve(): void {
    const count = this.#low.length
    for (let index = 0; index < count; index++) {
      const [left, right] = [2 * index, 2 * index + 1]
      this.#keep(this.#low, this.#lowMs, index, left, right, -1)
      this.#keep(this.#high, this.#highMs, index, left, right, 1)
    }
  }

  /** Keeps the smaller (`sign` -1) or the larger of two values with its time. */
  #keep(
    values: Float64Array,
    times: Float64Array,
    to: number,
    left: number,
    right: number,
    sign: number,
  ): void {
    const [a, b] = [values[left] ?? Number.NaN, values[right] ?? Number.NaN]
    const from = Number.isNaN(a) || sign * b > sign * a ? right : left
    values[to] = values[from] ?? Number.NaN
    times[to] = times[from] ?? 0
  }

  /** Returns two values for each bucket; NaN where nothing was sent. */
  pairs(): Float64Array<ArrayBuffer> {
    const pairs = new Float64Array(2 * this.#low.length)
    for (let index = 0; index < this.#low.length; index++) {
      const [low, high] = [this.#low[index] ?? Number.NaN, this.#high[index] ?? Number.NaN]
      const lowIsFirst = (this.#lowMs[index] ?? 0) <= (this.#highMs[index] ?? 0)
      pairs[2 * index] = lowIsFirst ? low : high
      pairs[2 * index + 1] = lowIsFirst ? high : low
    }
    return pairs
  }
}

/** How often something happened in each bucket. */
class CountBuckets implements BucketStore {
  readonly counts: Uint32Array<ArrayBuffer>

  constructor(count: number) {
    this.counts = new Uint32Array(count)
  }

  add(index: number): void {
    this.counts[index] = (this.counts[index] ?? 0) + 1
  }

  halve(): void {
    for (let index = 0; index < this.counts.length; index++)
      this.counts[index] = (this.counts[2 * index] ?? 0) + (this.counts[2 * index + 1] ?? 0)
  }
}

/** The newest pose of each bucket: time, x, y and heading. */
class PoseBuckets implements BucketStore {
  readonly poses: Float64Array<ArrayBuffer>

  constructor(count: number) {
    this.poses = new Float64Array(4 * count).fill(Number.NaN)
  }

  add(index: number, atMs: number, x: number, y: number, heading: number): void {
    if ((this.poses[4 * index] ?? 0) > atMs) return
    this.poses.set([atMs, x, y, heading], 4 * index)
  }

  halve(): void {
    const count = this.poses.length / 4
    const empty = [Number.NaN, Number.NaN, Number.NaN, Number.NaN]
    for (let index = 0; index < count; index++) {
      const pose = [2 * index + 1, 2 * index]
        .map((from) => this.poses.slice(4 * from, 4 * from + 4))
        .find(([atMs]) => atMs !== undefined && !Number.isNaN(atMs))
      this.poses.set(pose ?? empty, 4 * index)
    }
  }
}
