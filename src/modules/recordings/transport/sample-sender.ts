import type { Log } from '../../../core/log.ts'
import type { Guard } from '../../../core/process/guard.ts'
import { type RecorderAddress, rendezvous } from './recorder-choice.ts'
import { type OpenSocket, openSocket } from './recorder-connection.ts'
import { RecorderLink } from './recorder-link.ts'
import { ChunkPool, type Period } from './sample-backlog.ts'
import { MAX_BATCH_BYTES } from './sample-wire.ts'
import { type NewSample, SentStream, type StreamDescription } from './sent-stream.ts'

const BATCH_MS = 50
/** Records that are kept for one stream: until they are sent, and then until they are acknowledged. */
const STREAM_BYTES = 2 * 1024 * 1024
/** The same of all streams. */
const TOTAL_BYTES = 16 * 1024 * 1024

/** A stream of samples to the recorders. */
export interface SampleWriter {
  /**
   * Adds a sample. It never throws and never waits. The payload is copied.
   * @param atMs when the source saw it; now by default. Times of a stream increase: an earlier one becomes the next possible.
   */
  write(sample: NewSample, atMs?: number): void
  /** Adds a period, in Unix milliseconds, that the samples lack because packets of a camera were lost. Call it before `close`. */
  gap(period: Period): void
  /** Ends the stream after its samples. */
  close(): void
}

export interface SampleSenderOptions {
  /** Returns the recorders that are alive and not about to end. */
  readonly recorders: () => readonly RecorderAddress[]
  /** Returns the header Authorization of a new connection. */
  readonly authorization: () => string
  readonly guard: Guard
  readonly log: Log
  /** Unix time in milliseconds, with fractions. It never goes back. */
  readonly nowMs: () => number
  /** How often samples are sent. */
  readonly batchMs?: number
  /** Bytes that are kept for one stream, and for all of them. */
  readonly limits?: { readonly streamBytes: number; readonly totalBytes: number }
  /** Called for a stored stream that has reached no recorder a minute after its end, or before `giveUp`: its samples are lost. */
  readonly onUnsent: (stream: StreamDescription, period: Period) => void
  /** Opens a WebSocket. Tests replace it. */
  readonly open?: OpenSocket
}

/**
 * Creates the sender of a source: it sends the samples of all its streams to the recorders, in batches, and sends those that are not
 * acknowledged again when a recorder is lost. A slow or lost recorder never delays the source.
 */
export function createSampleSender(options: SampleSenderOptions) {
  const { recorders, guard, nowMs, limits = { streamBytes: STREAM_BYTES, totalBytes: TOTAL_BYTES } } = options
  const pool = new ChunkPool(limits.totalBytes)
  const streams = new Map<number, SentStream>()
  const links = new Map<string, RecorderLink>()
  const counts = { sent: 0, leftOut: 0, reconnects: 0 }
  const linkDeps = { ...options, open: options.open ?? openSocket, counts }
  let unsentBytes = 0
  let canEvict = true
  let lastNumber = 0
  let timer: NodeJS.Timeout | undefined
  const environment = {
    pool,
    nowMs,
    evict,
    maxBytes: limits.streamBytes,
    added: (bytes: number) => {
      unsentBytes += bytes
      if (unsentBytes >= MAX_BATCH_BYTES / 2) flush()
    },
    leftOut: () => {
      counts.leftOut++
    },
    unsent: options.onUnsent,
  }

  /** Frees memory of the stream that uses most. After a failure, it looks again when more is sent: sources call it for each sample. */
  function evict(): boolean {
    if (!canEvict) return false
    const largest = [...streams.values()].toSorted((a, b) => b.bytes - a.bytes)
    canEvict = largest.some((stream) => stream.evictSent())
    return canEvict
  }

  /** Returns the connection for a new stream of a session; undefined while no recorder can be reached. */
  function linkFor(sessionId: string): RecorderLink | undefined {
    const now = nowMs()
    const usable = recorders().filter(({ id }) => links.get(id)?.isUsable(now) ?? true)
    const chosen = rendezvous(usable, sessionId)
    if (!chosen) return undefined
    const known = links.get(chosen.id)
    if (known) return known
    const link = new RecorderLink(chosen, linkDeps)
    links.set(chosen.id, link)
    return link
  }

  function flush(): void {
    unsentBytes = 0
    canEvict = true
    for (const link of links.values()) link.flush()
  }

  /** Connects the streams that wait, sends what is new, and forgets what is over. */
  function tick(): void {
    const now = nowMs()
    const listed = new Set(recorders().map(({ id }) => id))
    for (const [id, link] of links) if (link.tick(now, listed.has(id))) links.delete(id)
    for (const stream of streams.values()) {
      stream.tick(now)
      if (stream.state === 'waiting') linkFor(stream.description.sessionId)?.attach(stream)
    }
    flush()
    for (const [number, stream] of streams) if (stream.isOver(now)) streams.delete(number)
    if (streams.size > 0 || links.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    counts: counts as Readonly<typeof counts>,

    /** Opens a stream. Its samples are kept until a recorder can be reached. */
    open(description: StreamDescription): SampleWriter {
      lastNumber = (lastNumber % 0xffff_ffff) + 1
      const stream = new SentStream(lastNumber, description, environment)
      streams.set(lastNumber, stream)
      timer ??= guard.every('timer:recording-batches', options.batchMs ?? BATCH_MS, tick)
      return stream
    },

    /** Ends the streams that wait for a recorder, and reports those that have reached none. Call it before `stop`. */
    giveUp(): void {
      for (const stream of streams.values()) if (stream.state === 'waiting') stream.giveUp()
    },

    /** Ends all connections at once. Call it after the streams were closed and their samples are stored, as far as `isIdle` says. */
    stop(): void {
      clearInterval(timer)
      for (const link of links.values()) link.close()
      links.clear()
      streams.clear()
    },

    /** Whether no stream is open, and all samples are acknowledged. */
    get isIdle(): boolean {
      return streams.size === 0
    },
  }
}
export type SampleSender = ReturnType<typeof createSampleSender>
