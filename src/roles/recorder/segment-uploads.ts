import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { GapReason } from '@wheelhouse/protocol'
import type { Log } from '../../core/log.ts'
import type { Guard } from '../../core/process/guard.ts'
import { type ObjectStore, StorageFullError } from '../../core/storage/object-store.ts'
import { segmentKey } from '../../modules/recordings/index.ts'
import type { RecorderServices } from './messages.ts'
import type { Segment } from './segment-builder.ts'

/** Sealed segments of one stream that are not durable yet. */
const MAX_QUEUED_BYTES = 16 * 1024 * 1024
const FIRST_RETRY_MS = 250
const LONGEST_RETRY_MS = 5_000
/** Failures for this long are an interruption that participants see. A full storage is one at once. */
const PAUSE_AFTER_MS = 3_000

/** Memory of the queued segments of all streams. */
export class MemoryBudget {
  readonly #limitBytes: number
  #usedBytes = 0
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }
  get isExhausted(): boolean {
    return this.#usedBytes >= this.#limitBytes
  }
  add(bytes: number): void {
    this.#usedBytes += bytes
  }
}

interface UploadDeps {
  readonly services: RecorderServices
  readonly store: ObjectStore
  readonly budget: MemoryBudget
  readonly guard: Guard
  readonly log: Log
  /** Aborts when the process ends. Segments that are not durable then are lost here; their sources send them again. */
  readonly stopping: AbortSignal
}

/** The events of a stream's segments. */
export interface UploadEvents {
  /** All samples up to this time are durable. */
  readonly stored: (segment: Segment) => void
  /** No segment can be stored, for this reason; null once segments are stored again. */
  readonly paused: (reason: GapReason | null) => void
  /** The database accepts no more segments of the stream. */
  readonly rejected: (reason: 'stream_closed' | 'quota_exceeded') => void
}

/** Makes the segments of one stream durable, one after another, and retries until that succeeds. */
export class SegmentUploads {
  readonly #deps: UploadDeps
  readonly #ids: { readonly streamId: string; readonly recordingId: string }
  readonly #events: UploadEvents
  readonly #queue: Segment[] = []
  #queuedBytes = 0
  #number = 0
  #running: Promise<void> | undefined
  #failingSinceMs: number | undefined
  #reason: GapReason | null = null
  #rejected = false

  constructor(deps: UploadDeps, ids: { streamId: string; recordingId: string }, events: UploadEvents) {
    this.#deps = deps
    this.#ids = ids
    this.#events = events
  }

  /** Whether no more segments should be added. */
  get isFull(): boolean {
    return this.#queuedBytes >= MAX_QUEUED_BYTES || this.#deps.budget.isExhausted
  }

  /** The reason why no segment is stored at present; null while segments are stored. */
  get pauseReason(): GapReason | null {
    return this.#reason
  }

  add(segment: Segment): void {
    if (this.#rejected) return
    this.#queue.push(segment)
    this.#count(segment.bytes.length)
    this.#start()
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#queue.length > 0) this.#start() // added after the last look at the queue
    })
  }

  /** Settles when all segments are durable, or rejected, or the process ends. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running
  }

  async #run(): Promise<void> {
    for (let segment = this.#queue[0]; segment; segment = this.#queue[0]) {
      const result = await this.#storeUntilDurable(segment)
      if (result === undefined) return this.#discard() // the process ends
      if (result === 'stream_closed') return this.#reject(result)
      this.#queue.shift()
      this.#count(-segment.bytes.length)
      this.#events.stored(segment)
      if (result === 'quota_exceeded') return this.#reject(result)
    }
  }

  #count(bytes: number): void {
    this.#queuedBytes += bytes
    this.#deps.budget.add(bytes)
  }

  #discard(): void {
    this.#queue.length = 0
    this.#count(-this.#queuedBytes)
  }

  #reject(reason: 'stream_closed' | 'quota_exceeded'): void {
    this.#rejected = true
    this.#discard()
    this.#events.rejected(reason)
  }

  async #storeUntilDurable(segment: Segment) {
    const { log, stopping } = this.#deps
    const number = this.#number
    for (let attempt = 0; !stopping.aborted; attempt++) {
      try {
        const result = await this.#store(segment, number)
        this.#number++
        this.#recovered()
        return result
      } catch (cause) {
        if (attempt === 0) log.warn({ err: cause, ...this.#ids }, 'failed to store a segment; retrying')
        this.#failed(cause)
      }
      const longestMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt)
      await delay(longestMs * (0.5 + Math.random() / 2), undefined, { signal: stopping }).catch(() => {})
    }
    return undefined
  }

  async #store({ bytes, fromMs, lastMs, messages }: Segment, number: number) {
    const { store, services } = this.#deps
    const { recordingId, streamId } = this.#ids
    await store.put(segmentKey(recordingId, streamId, number), bytes)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const sizes = { messages, sizeBytes: bytes.length, sha256 }
    return await services.streams.addSegment({ ...this.#ids, number, fromMs, lastMs, ...sizes })
  }

  #failed(cause: unknown): void {
    this.#failingSinceMs ??= performance.now()
    const reason = cause instanceof StorageFullError ? 'storage_full' : 'storage_unavailable'
    const isLong = performance.now() - this.#failingSinceMs >= PAUSE_AFTER_MS
    if (this.#reason === reason || (reason === 'storage_unavailable' && !isLong)) return
    this.#reason = reason
    this.#events.paused(reason)
  }

  #recovered(): void {
    this.#failingSinceMs = undefined
    if (this.#reason === null) return
    this.#reason = null
    this.#events.paused(null)
  }
}
