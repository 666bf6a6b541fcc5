import type { GapReason } from '@wheelhouse/protocol'
import pTimeout from 'p-timeout'
import type { OpenStreamResult } from '../../modules/recordings/index.ts'
import type { RecordedMessage } from '../../modules/recordings/mcap/index.ts'
import { FLAG_KEYFRAME, type FromRecorder } from '../../modules/recordings/transport/index.ts'
import type { RecorderServices } from './messages.ts'
import type { StreamSource } from './sample-encoder.ts'
import { type Segment, SegmentBuilder } from './segment-builder.ts'
import type { SegmentUploads, UploadEvents } from './segment-uploads.ts'
import { type OpenGap, StreamNotes } from './stream-notes.ts'

/** Records that wait until the stream is open. Beyond it, the source waits, at most for some time. */
const MAX_WAITING_BYTES = 2 * 1024 * 1024
/** How long a source waits until a stream is open. */
const MAX_OPENING_MS = 2_000
/** How long a source waits before it opens a stream again whose recording failed here. */
const RETRY_MS = 1_000
/** How long a source waits when the account has used up its quota. */
const QUOTA_RETRY_MS = 30_000

export interface StreamDeps {
  readonly services: RecorderServices
  readonly nowMs: () => number
  readonly createUploads: (
    ids: { streamId: string; recordingId: string },
    events: UploadEvents,
  ) => SegmentUploads
  /** Sends a message to the source. */
  readonly send: (message: FromRecorder) => void
  /** Called for each period that is missing. */
  readonly onGap: () => void
  readonly report: (cause: unknown) => void
}

export interface StreamRequest extends StreamSource {
  /** The number of the stream on its connection. */
  readonly stream: number
  readonly streamId: string
  /** The first of the streams that this one continues, or its own id. */
  readonly originId: string
  readonly sessionId: string
  readonly nodeId: string
  readonly atMs: number
}

/** A sample, and the message that it became. */
export interface ReceivedSample {
  readonly message: RecordedMessage
  readonly atMs: number
  readonly flags: number
}

/** Turns the samples of one stream into durable segments, in the order in which they arrive. */
export class StreamRecorder {
  readonly #deps: StreamDeps
  readonly #request: StreamRequest
  #state: 'opening' | 'recording' | 'ended' = 'opening'
  #recordingId = ''
  /** Records up to this time are durable. */
  #durableMs = 0
  /** The value of `#durableMs` when the stream began. The source may send samples up to this time again. */
  #storedBeforeMs = 0
  readonly #notes: StreamNotes
  #uploads: SegmentUploads | undefined
  #builder: SegmentBuilder
  /** The work of the stream, one step after another. */
  #work: Promise<void>
  #waitingBytes = 0
  /** The time of the first dropped sample, while the storage does not keep up; undefined while no sample is dropped. */
  #leftOutSinceMs: number | undefined
  #lastMs: number
  /** A camera continues with a keyframe after a gap. */
  #needsKeyframe: boolean

  constructor(deps: StreamDeps, request: StreamRequest) {
    this.#deps = deps
    this.#request = request
    this.#notes = new StreamNotes(deps.services.streams)
    this.#builder = new SegmentBuilder(request)
    this.#durableMs = request.atMs
    this.#lastMs = request.atMs
    // A source that resumes continues right after what is durable.
    this.#needsKeyframe = this.#isVideo && request.originId === request.streamId
    this.#work = this.#open()
  }

  get #isVideo(): boolean {
    return this.#request.codec !== undefined && this.#request.codec !== 'JPEG'
  }

  /** Does work after all earlier work. A step that fails ends the stream: its source opens another one. */
  #enqueue(step: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(step).catch((cause: unknown) => {
      this.#deps.report(cause)
      if (this.#state !== 'ended') this.#refuse('internal_error', RETRY_MS)
    })
    return this.#work
  }

  /**
   * Settles when all samples are handled. While the stream is being opened, which may take long, it settles at once, unless so many
   * samples wait that a source which continues with a large backlog must wait, too.
   */
  async settled(): Promise<void> {
    if (this.#state === 'recording') return await this.#work
    if (this.#state === 'ended' || this.#waitingBytes <= MAX_WAITING_BYTES) return
    await pTimeout(this.#work, {
      milliseconds: MAX_OPENING_MS,
      fallback: () => {
        if (this.#state === 'opening') this.#refuse('overload', RETRY_MS)
      },
    })
  }

  /** Opens the stream in the database. */
  async #open(): Promise<void> {
    const { streamId, originId, sessionId, source, nodeId, atMs } = this.#request
    const result = await this.#openUntilAnswered({ streamId, originId, sessionId, source, nodeId, atMs })
    if (this.#state === 'ended') return
    if ('refused' in result) return this.#refuse(result.refused, result.retryAfterMs)
    const { recordingId, durableUpToMs } = result
    this.#recordingId = recordingId
    this.#storedBeforeMs = durableUpToMs
    if (durableUpToMs > 0) this.#durableMs = durableUpToMs
    this.#uploads = this.#deps.createUploads(
      { streamId, recordingId },
      {
        stored: (segment) => this.#acknowledge(segment),
        paused: (reason) => this.#notes.paused(recordingId, reason),
        rejected: (reason) => this.#reject(reason),
      },
    )
    this.#state = 'recording'
  }

  async #openUntilAnswered(request: Parameters<RecorderServices['streams']['openStream']>[0]) {
    try {
      return await this.#deps.services.streams.openStream(request)
    } catch {
      // The database is unavailable. The source keeps its samples, and retries.
      return { refused: 'stream_closed', retryAfterMs: RETRY_MS } satisfies OpenStreamResult
    }
  }

  /** Adds samples. */
  receive(samples: readonly ReceivedSample[]): void {
    if (this.#state === 'ended') return
    if (this.#state === 'opening')
      for (const { message } of samples) this.#waitingBytes += message.data.length
    void this.#enqueue(async () => {
      for (const sample of samples) await this.#add(sample)
    })
  }

  async #add({ message, atMs, flags }: ReceivedSample): Promise<void> {
    if (this.#state !== 'recording') return
    const isKeyframe = (flags & FLAG_KEYFRAME) !== 0
    this.#lastMs = Math.max(this.#lastMs, atMs)
    if (atMs <= this.#storedBeforeMs) return // stored by an earlier stream of this source
    if (this.#uploads?.isFull) return this.#leaveOut(atMs)
    if (this.#needsKeyframe && !isKeyframe) return
    this.#needsKeyframe = false
    this.#endGap(atMs)
    // A segment of a camera begins with a keyframe where that is possible, so that each can be played by itself.
    if (this.#builder.isFull(message.data.length, atMs)) await this.#seal()
    await this.#builder.add(message, atMs)
  }

  #leaveOut(atMs: number): void {
    this.#leftOutSinceMs ??= atMs
    this.#needsKeyframe = this.#isVideo
  }

  /** Reports the samples that were dropped before this time as a gap. */
  #endGap(toMs: number): void {
    const fromMs = this.#leftOutSinceMs
    if (fromMs === undefined) return
    this.#leftOutSinceMs = undefined
    const reason = this.#uploads?.pauseReason ?? 'storage_unavailable'
    this.#noteGap({ fromMs, toMs, reason })
  }

  /** Reports a period whose samples the source has dropped. */
  addGap(gap: { fromMs: number; toMs: number; reason: GapReason }): void {
    // After the stream was opened. If it is refused, the source reports the gap again.
    void this.#enqueue(async () => {
      if (this.#state === 'recording') this.#noteGap(gap)
    })
  }

  #noteGap(gap: { fromMs: number; toMs: number; reason: GapReason }): void {
    this.#deps.onGap()
    this.#notes.gap(this.#recordingId, { source: this.#request.source, ...gap })
  }

  /** Ends the segment that is being built. */
  async #seal(): Promise<void> {
    if (this.#builder.isEmpty || this.#state !== 'recording') return
    const builder = this.#builder
    this.#builder = new SegmentBuilder(this.#request)
    this.#uploads?.add(await builder.seal())
  }

  /** Ends the segment if it is old. Call it about once a second. */
  tick(): void {
    if (this.#builder.isDue(this.#deps.nowMs())) void this.#enqueue(() => this.#seal())
  }

  /** Makes everything durable and ends the stream. `gap`: the reason of the gap that lasts until the source continues; null for no gap. */
  async end(gap: 'source_lost' | 'recorder_lost' | null): Promise<void> {
    await this.#enqueue(async () => {
      if (this.#state !== 'recording') return
      await this.#seal()
      this.#state = 'ended'
      await this.#uploads?.idle()
      this.#endGap(this.#lastMs)
      await this.#close(gap && { fromMs: this.#lastMs, reason: gap })
    })
  }

  #close(gap: OpenGap | null): Promise<void> {
    return this.#notes.close(this.#request.streamId, { atMs: this.#deps.nowMs(), gap })
  }

  #acknowledge({ lastMs }: Segment): void {
    this.#durableMs = lastMs
    this.#deps.send({ type: 'ack', stream: this.#request.stream, upToMs: lastMs })
  }

  #reject(reason: 'stream_closed' | 'quota_exceeded'): void {
    if (reason === 'stream_closed') return this.#refuse(reason, RETRY_MS)
    this.#notes.paused(this.#recordingId, reason)
    void this.#close({ fromMs: this.#durableMs, reason })
    this.#refuse(reason, QUOTA_RETRY_MS)
  }

  #refuse(reason: string, retryAfterMs: number | null): void {
    this.#state = 'ended'
    this.#deps.send({ type: 'refused', stream: this.#request.stream, reason, retryAfterMs })
  }
}
