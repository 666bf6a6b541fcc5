import {
  FLAG_KEYFRAME,
  maxRecordBytes,
  recordBytes,
  recordEnd,
  recordFlags,
  recordTime,
  type WrittenRecord,
  writeRecord,
} from './record-wire.ts'

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
  /** Where the first record that is not acknowledged begins. */
  start: number
  /** Where the first record that is not sent begins. */
  sent: number
  end: number
  /** Time of the last record. */
  lastMs: number
  unsentRecords: number
}

/** A period, in Unix milliseconds. */
export interface Period {
  readonly fromMs: number
  readonly toMs: number
}

/** The records of one stream that are not sent, or not acknowledged, in the order of their times. */
export class RecordBacklog {
  readonly #pool: ChunkPool
  readonly #maxBytes: number
  readonly #chunks: Chunk[] = []
  #bytes = 0
  #unsentBytes = 0
  /** Whether a record had no space because of the limit of this backlog, so that memory of others would not help. */
  isAtOwnLimit = false

  constructor(pool: ChunkPool, maxBytes: number) {
    this.#pool = pool
    this.#maxBytes = maxBytes
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0
  }

  /** The time of the first record. */
  get firstMs(): number | undefined {
    const first = this.#chunks[0]
    return first && recordTime(first.bytes, first.start)
  }

  /** Bytes of records that are not sent. */
  get unsentBytes(): number {
    return this.#unsentBytes
  }

  /** Whether records were sent that are not acknowledged. */
  get hasSent(): boolean {
    const first = this.#chunks[0]
    return first !== undefined && first.sent > first.start
  }

  /** Bytes of the buffers. */
  get bytes(): number {
    return this.#bytes
  }

  /** Adds a record. Returns its length, or 0 if there is no space for it. */
  add(record: Omit<WrittenRecord, 'stream' | 'atMs'>, stream: number, atMs: number): number {
    let chunk = this.#chunks.at(-1)
    let bytes = maxRecordBytes(record.note, record.payload)
    if (!chunk || chunk.end + bytes > chunk.bytes.length) {
      bytes = exactBytes(record)
      if (!chunk || chunk.end + bytes > chunk.bytes.length)
        chunk = this.#addChunk(Math.max(CHUNK_BYTES, bytes))
    }
    if (!chunk) return 0
    const end = writeRecord(chunk.bytes, chunk.end, record, stream, atMs)
    const length = end - chunk.end
    chunk.end = end
    chunk.lastMs = atMs
    chunk.unsentRecords++
    this.#unsentBytes += length
    return length
  }

  #addChunk(size: number): Chunk | undefined {
    this.isAtOwnLimit = this.#bytes + size > this.#maxBytes
    if (this.isAtOwnLimit) return undefined
    const bytes = this.#pool.acquire(size)
    if (!bytes) return undefined
    const chunk: Chunk = { bytes, start: 0, sent: 0, end: 0, lastMs: 0, unsentRecords: 0 }
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
   * Adds records that are not sent to a list, as views, until it has `maxBytes`, or one chunk. They count as sent.
   * Returns the number of records.
   */
  takeUnsent(parts: Uint8Array[], maxBytes: number): number {
    let [records, bytes] = [0, 0]
    for (const chunk of this.#chunks) {
      const length = chunk.end - chunk.sent
      if (length === 0) continue
      if (bytes + length > maxBytes && (bytes > 0 || parts.length > 0)) break
      parts.push(chunk.bytes.subarray(chunk.sent, chunk.end))
      chunk.sent = chunk.end
      bytes += length
      records += chunk.unsentRecords
      chunk.unsentRecords = 0
    }
    this.#unsentBytes -= bytes
    return records
  }

  /** Removes the records that were sent, up to a time. */
  acknowledge(upToMs: number): void {
    for (;;) {
      const chunk = this.#chunks[0]
      if (!chunk) return
      if (chunk.lastMs > upToMs || chunk.sent < chunk.end) {
        while (chunk.start < chunk.sent && recordTime(chunk.bytes, chunk.start) <= upToMs)
          chunk.start = recordEnd(chunk.bytes, chunk.start)
        return
      }
      this.#removeFirst()
    }
  }

  /** Removes the oldest records that were sent. Returns their period; undefined if no such records exist. */
  evictSent(): Period | undefined {
    const chunk = this.#chunks[0]
    if (!chunk || chunk.sent < chunk.end) return undefined
    const fromMs = recordTime(chunk.bytes, chunk.start)
    this.#removeFirst()
    return { fromMs, toMs: chunk.lastMs }
  }

  /** Removes the records before the first keyframe. Returns their period; undefined if the first record is a keyframe. */
  dropBeforeKeyframe(): Period | undefined {
    const first = this.#chunks[0]
    if (!first) return undefined
    const fromMs = recordTime(first.bytes, first.start)
    let toMs: number | undefined
    for (let chunk = this.#chunks[0]; chunk; chunk = this.#chunks[0]) {
      while (chunk.start < chunk.end) {
        if (recordFlags(chunk.bytes, chunk.start) & FLAG_KEYFRAME)
          return toMs === undefined ? undefined : { fromMs, toMs }
        toMs = recordTime(chunk.bytes, chunk.start)
        this.#dropRecord(chunk)
      }
      this.#removeFirst()
    }
    return toMs === undefined ? undefined : { fromMs, toMs }
  }

  #dropRecord(chunk: Chunk): void {
    const end = recordEnd(chunk.bytes, chunk.start)
    if (chunk.sent < end) {
      this.#unsentBytes -= end - chunk.sent
      chunk.sent = end
      chunk.unsentRecords--
    }
    chunk.start = end
  }

  /** Makes all records unsent. */
  rewind(): void {
    this.#unsentBytes = 0
    for (const chunk of this.#chunks) {
      chunk.sent = chunk.start
      chunk.unsentRecords = 0
      for (let at = chunk.start; at < chunk.end; at = recordEnd(chunk.bytes, at)) chunk.unsentRecords++
      this.#unsentBytes += chunk.end - chunk.start
    }
  }

  /** Removes all records. */
  clear(): void {
    while (!this.isEmpty) this.#removeFirst()
  }
}

const exactBytes = ({ note, payload }: Pick<WrittenRecord, 'note' | 'payload'>): number =>
  recordBytes(note.length, typeof payload === 'string' ? Buffer.byteLength(payload) : payload.length)
