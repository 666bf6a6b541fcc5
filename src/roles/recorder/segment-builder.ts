import {
  type McapFile,
  openMcapFile,
  type RecordedMessage,
  topicDefinition,
} from '../../modules/recordings/mcap/index.ts'
import { frameSchemaOf, type StreamSource } from './sample-encoder.ts'

/** A segment is sealed when it is this long. */
const MAX_SEGMENT_MS = 10_000
/** A segment is sealed when it is this large. */
const MAX_SEGMENT_BYTES = 4 * 1024 * 1024
/** Bytes of the index of a segment and of the schemas. */
const OVERHEAD_BYTES = 16 * 1024
/** Bytes of a message without its data: its record, and its entry in the index. */
const MESSAGE_BYTES = 48

/** A complete MCAP file in memory, and what it contains. Times are Unix milliseconds. */
export interface Segment {
  readonly bytes: Uint8Array
  readonly fromMs: number
  readonly lastMs: number
  readonly messages: number
}

/** Builds one segment, message by message. Calls must not overlap. */
export class SegmentBuilder {
  readonly #source: StreamSource
  readonly #parts: Uint8Array[] = []
  readonly #file: Promise<McapFile>
  #bytes = OVERHEAD_BYTES
  #messages = 0
  #fromMs = 0
  #lastMs = 0

  constructor(source: StreamSource) {
    this.#source = source
    const keep = async (bytes: Uint8Array) => void this.#parts.push(bytes.slice()) // the writer reuses its memory
    this.#file = openMcapFile(keep, MAX_SEGMENT_BYTES)
  }

  get isEmpty(): boolean {
    return this.#messages === 0
  }

  /** Returns whether the segment must be sealed before a message of this size and time. */
  isFull(bytes: number, atMs: number): boolean {
    if (this.isEmpty) return false
    return this.#bytes + bytes > MAX_SEGMENT_BYTES || atMs - this.#fromMs >= MAX_SEGMENT_MS
  }

  /** Returns whether the segment must be sealed now, because no message comes. */
  isDue(nowMs: number): boolean {
    return !this.isEmpty && nowMs - this.#fromMs >= MAX_SEGMENT_MS
  }

  async add(message: RecordedMessage, atMs: number): Promise<void> {
    if (this.isEmpty) this.#fromMs = atMs
    this.#lastMs = Math.max(this.#lastMs, atMs)
    this.#messages++
    this.#bytes += message.data.length + MESSAGE_BYTES
    const file = await this.#file
    await file.add(message, () => topicDefinition(message.topic, frameSchemaOf(this.#source)))
  }

  /** Ends the segment. */
  async seal(): Promise<Segment> {
    const file = await this.#file
    await file.end()
    return {
      bytes: Buffer.concat(this.#parts),
      fromMs: this.#fromMs,
      lastMs: this.#lastMs,
      messages: this.#messages,
    }
  }
}
