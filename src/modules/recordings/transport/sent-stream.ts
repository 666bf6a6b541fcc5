import { randomUUID } from 'node:crypto'
import { GapList, union } from './gap-list.ts'
import { type ChunkPool, type Period, SampleBacklog } from './sample-backlog.ts'
import {
  FLAG_KEYFRAME,
  type FromSource,
  MAX_SAMPLE_BYTES,
  maxSampleBytes,
  sampleKinds,
  type WrittenSample,
  writeSample,
} from './sample-wire.ts'

type StateSample = Omit<WrittenSample, 'stream' | 'atMs'>

/** Kinds of samples that hold until the next one of their kind. */
const STATE_KINDS: ReadonlySet<number> = new Set([sampleKinds.stop, sampleKinds.limits, sampleKinds.autonomy])

/** The newest sample of each state of a stream. */
class KeptStates {
  readonly #states = new Map<number, { readonly sample: StateSample; readonly atMs: number }>()

  keep(sample: StateSample, atMs: number): void {
    if (!STATE_KINDS.has(sample.kind)) return
    const { payload } = sample
    const copy = typeof payload === 'string' ? payload : new Uint8Array(payload)
    this.#states.delete(sample.kind)
    this.#states.set(sample.kind, { sample: { ...sample, payload: copy }, atMs })
  }

  /** Returns the states, in the order of their times. */
  samples(): StateSample[] {
    return [...this.#states.values()].map(({ sample }) => sample)
  }

  /** Returns the states before a time as a batch, or all; undefined if there are none. */
  encode(stream: number, beforeMs: number | undefined): Uint8Array | undefined {
    const states = [...this.#states.values()].filter(({ atMs }) => beforeMs === undefined || atMs < beforeMs)
    if (states.length === 0) return undefined
    const bytes = states.reduce((sum, { sample }) => sum + maxSampleBytes(sample.note, sample.payload), 0)
    const batch = Buffer.allocUnsafe(bytes)
    let end = 0
    for (const { sample, atMs } of states) end = writeSample(batch, end, sample, stream, atMs)
    return batch.subarray(0, end)
  }
}

/** Least time between two samples of a stream. Times are unique, so that an acknowledgement by time is exact. */
const MIN_STEP_MS = 0.001
/** A stream that was closed waits for its acknowledgement for this time. */
export const LINGER_MS = 60_000
/** A sample without its stream and its time. */
export type NewSample = Omit<WrittenSample, 'stream' | 'atMs'>

/** The subject of a stream. */
export interface StreamDescription {
  readonly sessionId: string
  /** `gateway`, or `camera/<name>`. */
  readonly source: string
  readonly codec?: 'VP8' | 'H264' | 'JPEG' | undefined
  /** Whether the samples are stored. Without, they only go to live readers. */
  readonly stored: boolean
  /** Called when only a keyframe helps. */
  readonly onKeyframeRequest?: (() => void) | undefined
}

interface StreamEnvironment {
  readonly pool: ChunkPool
  /** Most bytes of the stream that are kept. */
  readonly maxBytes: number
  readonly nowMs: () => number
  /** Frees memory of any stream. Returns false if it is impossible. */
  readonly evict: () => boolean
  /** Called after a sample was added, with its bytes. */
  readonly added: (bytes: number) => void
  readonly leftOut: () => void
  /** Called for a stream that ends without having reached a recorder. */
  readonly unsent: (description: StreamDescription, period: Period) => void
}

/**
 * The state of a stream: `waiting` for a recorder, `open` at one, `draining` while a recorder that is about to end stores the rest,
 * `refused` by the recorder, `ended`.
 */
type State = 'waiting' | 'open' | 'draining' | 'refused' | 'ended'

/** A stream of samples, on its side of the source. It continues at another recorder when one is lost. */
export class SentStream {
  readonly number: number
  readonly description: StreamDescription
  readonly #environment: StreamEnvironment
  readonly #backlog: SampleBacklog
  readonly #hasKeyframes: boolean
  readonly #states = new KeptStates()
  readonly #gaps = new GapList()
  /** Gaps that were reported. A recorder that is lost before its next acknowledgement may not have stored them. */
  readonly #reported = new GapList()
  /** Records that were sent and removed without an acknowledgement. They are lost if the recorder is. */
  #atRisk: Period | undefined
  /** The id of the first stream at a recorder. Streams that continue it after a loss refer to it. */
  #originId: string | undefined
  #lastMs = Number.NEGATIVE_INFINITY
  #firstMs: number | undefined
  #waitsForKeyframe = false
  /** Whether the last sample was left out. */
  #leavesOut = false
  #closedMs: number | undefined
  #isCloseSent = false
  /** Whether samples are not wanted at present. */
  #isDropping = false
  state: State = 'waiting'
  /** When a refused or draining stream may be opened again. */
  retryAtMs = 0

  constructor(number: number, description: StreamDescription, environment: StreamEnvironment) {
    this.number = number
    this.description = description
    this.#environment = environment
    this.#backlog = new SampleBacklog(environment.pool, environment.maxBytes)
    this.#hasKeyframes = description.codec === 'VP8' || description.codec === 'H264'
  }

  /** Bytes of memory that the stream uses. */
  get bytes(): number {
    return this.#backlog.bytes
  }

  get hasUnsent(): boolean {
    return this.#backlog.unsentBytes > 0
  }

  /** Adds a sample. It never throws and never waits. */
  write(sample: NewSample, atMs = this.#environment.nowMs()): void {
    if (this.#closedMs !== undefined || this.state === 'ended') return
    const time = Math.max(atMs, this.#lastMs + MIN_STEP_MS)
    this.#states.keep(sample, time)
    if (this.#isDropping) return
    const period = { fromMs: Math.max(this.#lastMs, 0), toMs: time }
    this.#lastMs = time
    this.#firstMs ??= time
    if (this.#waitsForKeyframe && (sample.flags & FLAG_KEYFRAME) === 0) return this.#leaveOut(period)
    const bytes = sample.payload.length > MAX_SAMPLE_BYTES ? 0 : this.#add(sample, time)
    if (bytes > 0) {
      this.#waitsForKeyframe = false
      if (this.#leavesOut) this.#addGap(period)
      this.#leavesOut = false
      this.#environment.added(bytes)
      return
    }
    this.#leaveOut(period)
    if (!this.#hasKeyframes) return
    this.#waitsForKeyframe = true
    this.requestKeyframe()
  }

  /** Adds a sample, in place of older ones that were sent if necessary. Returns its length, or 0 without space. */
  #add(sample: NewSample, atMs: number): number {
    for (;;) {
      const bytes = this.#backlog.add(sample, this.number, atMs)
      if (bytes > 0) return bytes
      if (this.evictSent()) continue
      if (this.#backlog.isAtOwnLimit || !this.#environment.evict()) return 0
    }
  }

  /** Removes the oldest samples that were sent, and are not acknowledged yet. Returns false without such samples. */
  evictSent(): boolean {
    const evicted = this.#backlog.evictSent()
    if (evicted && this.description.stored) this.#atRisk = union(this.#atRisk, evicted)
    return evicted !== undefined
  }

  /** Notes that a sample is left out. The gap lasts from the sample before to the one after, so that one picture is not overlooked. */
  #leaveOut(period: Period): void {
    this.#leavesOut = true
    this.#environment.leftOut()
    this.#addGap(period)
  }

  #addGap({ fromMs, toMs }: Period): void {
    const reason = this.state === 'open' ? 'overload' : 'recorder_lost'
    this.#gaps.add(reason, { fromMs: fromMs || toMs, toMs })
  }

  /** Notes a period whose samples the source could not make, because packets of its camera were lost. */
  gap(period: Period): void {
    if (this.#closedMs === undefined && !this.#isDropping && this.state !== 'ended')
      this.#gaps.add('packets_lost', period)
  }

  requestKeyframe(): void {
    this.description.onKeyframeRequest?.()
  }

  /** Opens the stream at a recorder. All samples that are not acknowledged are sent again. */
  open(send: (message: FromSource | Uint8Array) => void): void {
    const { sessionId, source, codec, stored } = this.description
    const streamId = randomUUID()
    const continues = this.#originId !== undefined
    this.#originId ??= streamId
    this.#isCloseSent = false
    this.state = 'open'
    send({
      type: 'open',
      stream: this.number,
      streamId,
      sessionId,
      source,
      ...(codec && { codec }),
      stored,
      originId: this.#originId,
      // Records that waited for the recorder are part of the stream.
      atMs: (continues ? undefined : this.#firstMs) ?? this.#environment.nowMs(),
    })
    // Live readers of the new recorder get the states, too. It does not store them again if an earlier one has.
    const states = continues ? this.#states.encode(this.number, this.#backlog.firstMs) : undefined
    if (states) send(states)
    if (this.#waitsForKeyframe) this.requestKeyframe()
  }

  /** Adds samples that are not sent to a batch. Returns their number. */
  collect(parts: Uint8Array[], maxBytes: number): number {
    return this.state === 'open' ? this.#backlog.takeUnsent(parts, maxBytes) : 0
  }

  /** Runs after samples were sent: reports what is missing, and the end. */
  afterSending(send: (message: FromSource) => void): void {
    if (!this.description.stored) this.#backlog.acknowledge(Number.POSITIVE_INFINITY)
    if (this.state !== 'open' || this.hasUnsent) return
    for (const gap of this.#gaps.take()) {
      send({ type: 'gap', stream: this.number, ...gap })
      this.#reported.add(gap.reason, gap)
    }
    if (this.#closedMs === undefined || this.#isCloseSent) return
    this.#isCloseSent = true
    send({ type: 'close', stream: this.number, atMs: this.#closedMs })
  }

  acknowledge(upToMs: number): void {
    this.#backlog.acknowledge(upToMs)
    this.#reported.removeUpTo(upToMs)
    const risk = this.#atRisk
    if (risk && upToMs >= risk.fromMs)
      this.#atRisk = upToMs >= risk.toMs ? undefined : { fromMs: upToMs, toMs: risk.toMs }
  }

  /** Lets a recorder that is about to end store the rest. The stream is opened again when it has, or at `retryAtMs`. */
  drain(send: (message: FromSource) => void, retryAtMs: number): void {
    if (this.state !== 'open') return
    this.state = 'draining'
    this.#isCloseSent = this.#closedMs !== undefined && !this.hasUnsent
    this.retryAtMs = retryAtMs
    const continues = !this.#isCloseSent
    send({
      type: 'close',
      stream: this.number,
      atMs: this.#environment.nowMs(),
      ...(continues && { continues }),
    })
  }

  /** Notes that the recorder is gone. */
  lost(): void {
    if (this.state === 'refused' || this.state === 'ended') return
    this.state = 'waiting'
    this.#backlog.rewind()
    for (const gap of this.#reported.take()) this.#gaps.add(gap.reason, gap)
    const risk = this.#atRisk
    this.#atRisk = undefined
    if (!risk) return
    this.#gaps.add('recorder_lost', risk)
    const dropped = this.#hasKeyframes ? this.#backlog.dropBeforeKeyframe() : undefined
    if (dropped) this.#gaps.add('recorder_lost', dropped)
  }

  /**
   * Notes that the recorder does not record the stream, maybe for some time.
   * @param drops whether the samples until then are not wanted either
   */
  refuse(retryAtMs: number | undefined, drops: boolean): void {
    if (drops || retryAtMs === undefined) this.#drop()
    else this.lost()
    const isOver = retryAtMs === undefined || (drops && this.#closedMs !== undefined)
    this.state = isOver ? 'ended' : 'refused'
    this.#isDropping = drops
    this.retryAtMs = retryAtMs ?? 0
  }

  #drop(): void {
    this.#backlog.clear()
    this.#gaps.take()
    this.#reported.take()
    this.#atRisk = undefined
    this.#originId = undefined // a new stream then continues nothing
    this.#firstMs = undefined
    this.#leavesOut = false
    this.#waitsForKeyframe = this.#hasKeyframes
  }

  /** Ends the stream after its samples. */
  close(): void {
    this.#closedMs ??= this.#environment.nowMs()
    if (this.#isDropping) this.state = 'ended'
  }

  /** Returns whether nothing is left to do, and frees the memory then. */
  isOver(nowMs: number): boolean {
    if (this.#closedMs === undefined) return this.state === 'ended'
    const isComplete = this.#isCloseSent && this.#backlog.isEmpty
    if (this.state !== 'ended' && !isComplete && nowMs - this.#closedMs < LINGER_MS) return false
    this.giveUp()
    return true
  }

  /** Ends the stream at once. Its samples are lost, as far as they have reached no recorder. */
  giveUp(): void {
    if (this.state === 'waiting') this.#reportUnsent(this.#closedMs ?? this.#environment.nowMs())
    this.state = 'ended'
    this.#backlog.clear()
  }

  /** Reports the period of a stream that no recorder knows, and that therefore no recorder lists as a gap. */
  #reportUnsent(toMs: number): void {
    if (this.#originId !== undefined || this.#firstMs === undefined || !this.description.stored) return
    this.#environment.unsent(this.description, { fromMs: this.#firstMs, toMs: Math.max(this.#firstMs, toMs) })
  }

  /** Ends a refusal when its time has come. */
  tick(nowMs: number): void {
    if (this.state !== 'refused' || nowMs < this.retryAtMs) return
    this.state = 'waiting'
    if (!this.#isDropping) return
    this.#isDropping = false
    // The recording goes on with the states that hold.
    for (const sample of this.#states.samples()) this.write(sample)
  }

  /** Returns whether a recorder that is about to end has stored the rest, or its time is up. */
  isDrained(nowMs: number): boolean {
    const isStored = this.#atRisk === undefined && !this.#backlog.hasSent
    return this.state === 'draining' && (isStored || nowMs >= this.retryAtMs)
  }
}
