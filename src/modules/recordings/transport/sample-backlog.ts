import {
  FLAG_KEYFRAME,
  maxSampleBytes,
  sampleBytes,
  sampleEnd,
  sampleFlags,
  sampleTime,
  type WrittenSample,
  writeSample,
} from './sample-wire.ts'

/** Bytes of a chunk: about a second of control and telemetry of one session. */
const CHUNK_BYTES = 16 * 1024
/** Free chunks that are kept. */
const MAX_FREE = 256

/** Memory of all backlogs of one sender. Chunks are used again, because new buffers would cost garbage collections. */
export class ChunkPool {
  readonly #free: Buffer[] = []
  readonly #maxBytes: number
  #usedBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Returns a buffer; undefined if the pool has reached its limit. */
  acquire(bytes: number): Buffer | undefined {
    if (this.#usedBytes + bytes > this.#maxBytes) return undefined
    this.#usedBytes += bytes
    return (bytes === CHUNK_BYTES && this.#free.pop()) || Buffer.allocUnsafeSlow(bytes)
  }

  release(buffer: Buffer): void {
    this.#usedBytes -= buffer.length
    if (buffer.length === CHUNK_BYTES && this.#free.length < MAX_FREE) this.#free.push(buffer)
  }
}

/** Records on the wire, one after another. `start` ≤ `sent` ≤ `end`. */
interface Chunk {
  readonly bytes: Buffer
  /** Where the first sample that is not acknowledged begins. */
  start: number
  /** Where the first sample that is not sent begins. */
  sent: number
  end: number
  /** Time of the last sample. */
  lastMs: number
  unsentSamples: number
}

/** A period, in Unix milliseconds. */
export interface Period {
  readonly fromMs: number
  readonly toMs: number
}

/** The samples of one stream that are not sent, or not acknowledged, in the order of their times. */
export class SampleBacklog {
  readonly #pool: ChunkPool
  readonly #maxBytes: number
  readonly #chunks: Chunk[] = []
  #bytes = 0
  #unsentBytes = 0
  /** Whether a sample had no space because of the limit of this backlog, so that memory of others would not help. */
  isAtOwnLimit = false

  constructor(pool: ChunkPool, maxBytes: number) {
    this.#pool = pool
    this.#maxBytes = maxBytes
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0
  }

  /** The time of the first sample. */
  get firstMs(): number | undefined {
    const first = this.#chunks[0]
    return first && sampleTime(first.bytes, first.start)
  }

  /** Bytes of samples that are not sent. */
  get unsentBytes(): number {
    return this.#unsentBytes
  }

  /** Whether samples were sent that are not acknowledged. */
  get hasSent(): boolean {
    const first = this.#chunks[0]
    return first !== undefined && first.sent > first.start
  }

  /** Bytes of the buffers. */
  get bytes(): number {
    return this.#bytes
  }

  /** Adds a sample. Returns its length, or 0 if there is no space for it. */
  add(sample: Omit<WrittenSample, 'stream' | 'atMs'>, stream: number, atMs: number): number {
    let chunk = this.#chunks.at(-1)
    let bytes = maxSampleBytes(sample.note, sample.payload)
    if (!chunk || chunk.end + bytes > chunk.bytes.length) {
      bytes = exactBytes(sample)
      if (!chunk || chunk.end + bytes > chunk.bytes.length)
        chunk = this.#addChunk(Math.max(CHUNK_BYTES, bytes))
    }
    if (!chunk) return 0
    const end = writeSample(chunk.bytes, chunk.end, sample, stream, atMs)
    const length = end - chunk.end
    chunk.end = end
    chunk.lastMs = atMs
    chunk.unsentSamples++
    this.#unsentBytes += length
    return length
  }

  #addChunk(size: number): Chunk | undefined {
    this.isAtOwnLimit = this.#bytes + size > this.#maxBytes
    if (this.isAtOwnLimit) return undefined
    const bytes = this.#pool.acquire(size)
    if (!bytes) return undefined
    const chunk: Chunk = { bytes, start: 0, sent: 0, end: 0, lastMs: 0, unsentSamples: 0 }
    this.#bytes += size
    this.#chunks.push(chunk)
    return chunk
  }

  #removeFirst(): void {
    const chunk = this.#chunks.shift()
    if (!chunk) return
    this.#bytes -= chunk.bytes.length
    this.#unsentBytes -= chunk.end - chunk.sent
    this.#pool.release(chunk.bytes)
  }

  /**
   * Adds samples that are not sent to a list, as views, until it has `maxBytes`, or one chunk. They count as sent.
   * Returns the number of samples.
   */
  takeUnsent(parts: Uint8Array[], maxBytes: number): number {
    let [samples, bytes] = [0, 0]
    for (const chunk of this.#chunks) {
      const length = chunk.end - chunk.sent
      if (length === 0) continue
      if (bytes + length > maxBytes && (bytes > 0 || parts.length > 0)) break
      parts.push(chunk.bytes.subarray(chunk.sent, chunk.end))
      chunk.sent = chunk.end
      bytes += length
      samples += chunk.unsentSamples
      chunk.unsentSamples = 0
    }
    this.#unsentBytes -= bytes
    return samples
  }

  /** Removes the samples that were sent, up to a time. */
  acknowledge(upToMs: number): void {
    for (;;) {
      const chunk = this.#chunks[0]
      if (!chunk) return
      if (chunk.lastMs > upToMs || chunk.sent < chunk.end) {
        while (chunk.start < chunk.sent && sampleTime(chunk.bytes, chunk.start) <= upToMs)
          chunk.start = sampleEnd(chunk.bytes, chunk.start)
        return
      }
      this.#removeFirst()
    }
  }

  /** Removes the oldest samples that were sent. Returns their period; undefined if no such samples exist. */
  evictSent(): Period | undefined {
    const chunk = this.#chunks[0]
    if (!chunk || chunk.sent < chunk.end) return undefined
    const fromMs = sampleTime(chunk.bytes, chunk.start)
    this.#removeFirst()
    return { fromMs, toMs: chunk.lastMs }
  }

  /** Removes the samples before the first keyframe. Returns their period; undefined if the first sample is a keyframe. */
  dropBeforeKeyframe(): Period | undefined {
    const first = this.#chunks[0]
    if (!first) return undefined
    const fromMs = sampleTime(first.bytes, first.start)
    let toMs: number | undefined
    for (let chunk = this.#chunks[0]; chunk; chunk = this.#chunks[0]) {
      while (chunk.start < chunk.end) {
        if (sampleFlags(chunk.bytes, chunk.start) & FLAG_KEYFRAME)
          return toMs === undefined ? undefined : { fromMs, toMs }
        toMs = sampleTime(chunk.bytes, chunk.start)
        this.#dropSample(chunk)
      }
      this.#removeFirst()
    }
    return toMs === undefined ? undefined : { fromMs, toMs }
  }

  #dropSample(chunk: Chunk): void {
    const end = sampleEnd(chunk.bytes, chunk.start)
    if (chunk.sent < end) {
      this.#unsentBytes -= end - chunk.sent
      chunk.sent = end
      chunk.unsentSamples--
    }
    chunk.start = end
  }

  /** Makes all samples unsent. */
  rewind(): void {
    this.#unsentBytes = 0
    for (const chunk of this.#chunks) {
      chunk.sent = chunk.start
      chunk.unsentSamples = 0
      for (let at = chunk.start; at < chunk.end; at = sampleEnd(chunk.bytes, at)) chunk.unsentSamples++
      this.#unsentBytes += chunk.end - chunk.start
    }
  }

  /** Removes all samples. */
  clear(): void {
    while (!this.isEmpty) this.#removeFirst()
  }
}

const exactBytes = ({ note, payload }: Pick<WrittenSample, 'note' | 'payload'>): number =>
  sampleBytes(note.length, typeof payload === 'string' ? Buffer.byteLength(payload) : payload.length)
