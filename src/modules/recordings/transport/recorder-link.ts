import type { Log } from '../../../core/log.ts'
import type { Guard } from '../../../core/process/guard.ts'
import type { RecorderAddress } from './recorder-choice.ts'
import { type OpenSocket, RecorderConnection } from './recorder-connection.ts'
import { type FromRecorder, type FromSource, MAX_BATCH_BYTES } from './sample-wire.ts'
import type { SentStream } from './sent-stream.ts'

/** Bytes on one connection that the network has not taken. Beyond it, samples wait in the backlogs of their streams. */
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024
const [FIRST_RETRY_MS, MAX_RETRY_MS] = [100, 2_000]
/** A connection that breaks earlier counts as another failure. */
const STABLE_MS = 5_000
/** A connection without streams is closed after this time. */
const IDLE_MS = 10_000
/** Time for a recorder that is about to end to acknowledge the rest. */
const DRAIN_MS = 5_000

/** The reason of a refusal after which a source keeps no samples until the stream is opened again. */
const NOT_WANTED = 'quota_exceeded'

interface LinkDeps {
  readonly authorization: () => string
  readonly guard: Guard
  readonly log: Log
  readonly nowMs: () => number
  readonly open: OpenSocket
  readonly counts: { sent: number; reconnects: number }
}

/** The way to one recorder: its connection, which is opened again after a failure, and the streams that use it. */
export class RecorderLink {
  readonly #address: RecorderAddress
  readonly #deps: LinkDeps
  readonly #streams = new Map<number, SentStream>()
  #connection: RecorderConnection | undefined
  #isDraining = false
  #failures = 0
  #retryAtMs = 0
  #usedMs: number
  /** The stream with which the next batch begins, so that all get their share of a slow connection. */
  #turn = 0

  constructor(address: RecorderAddress, deps: LinkDeps) {
    this.#address = address
    this.#deps = deps
    this.#usedMs = deps.nowMs()
    this.#connect()
  }

  /** Returns whether streams may be opened here: the recorder does not drain, and no failure is recent. */
  isUsable(nowMs: number): boolean {
    return !this.#isDraining && (this.#connection !== undefined || nowMs >= this.#retryAtMs)
  }

  #connect(): void {
    const { guard, log, nowMs, authorization, open } = this.#deps
    const connection: RecorderConnection = new RecorderConnection(
      { url: this.#address.url, authorization: authorization(), open },
      { guard, log, nowMs },
      {
        opened: () => {},
        message: (message) => this.#receive(message),
        closed: (reason) => this.#closed(connection, reason),
      },
    )
    this.#connection = connection
  }

  #closed(connection: RecorderConnection, reason: string): void {
    if (this.#connection !== connection) return
    const { nowMs, log, counts } = this.#deps
    this.#connection = undefined
    const now = nowMs()
    this.#failures = now - connection.openedMs > STABLE_MS ? 1 : this.#failures + 1
    const waitMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.#failures - 1))
    this.#retryAtMs = now + waitMs * (0.5 + Math.random() / 2)
    const { size } = this.#streams
    for (const stream of this.#streams.values()) stream.lost()
    this.#streams.clear()
    if (size === 0) return
    counts.reconnects++
    log.warn({ url: this.#address.url, reason }, 'the connection to a recorder broke; its streams continue')
  }

  /** Opens a stream here, once the connection is open. */
  attach(stream: SentStream): void {
    if (!this.#connection) this.#connect()
    if (!this.#connection?.isOpen) return
    this.#streams.set(stream.number, stream)
    stream.open(this.#send)
  }

  readonly #send = (message: FromSource | Uint8Array): void => this.#connection?.send(message)

  #receive(message: FromRecorder): void {
    if (message.type === 'draining') return this.#drain()
    const stream = this.#streams.get(message.stream)
    if (!stream) return
    if (message.type === 'ack') stream.acknowledge(message.upToMs)
    else if (message.type === 'keyframe') stream.requestKeyframe()
    else {
      this.#streams.delete(message.stream)
      const { reason, retryAfterMs } = message
      const retryAtMs = retryAfterMs === null ? undefined : this.#deps.nowMs() + retryAfterMs
      stream.refuse(retryAtMs, reason === NOT_WANTED)
    }
  }

  #drain(): void {
    this.flush()
    this.#isDraining = true
    const retryAtMs = this.#deps.nowMs() + DRAIN_MS
    for (const stream of this.#streams.values()) stream.drain(this.#send, retryAtMs)
  }

  /** Sends all samples that are not sent, as far as the network takes them. */
  flush(): void {
    const connection = this.#connection
    if (!connection?.isOpen) return
    const streams = [...this.#streams.values()]
    while (connection.bufferedBytes < MAX_BUFFERED_BYTES) {
      const batch = this.#nextBatch(streams)
      if (!batch) break
      connection.send(batch)
    }
    for (const stream of streams) stream.afterSending(this.#send)
  }

  #nextBatch(streams: readonly SentStream[]): Buffer | undefined {
    const parts: Uint8Array[] = []
    let bytes = 0
    for (let index = 0; index < streams.length && bytes < MAX_BATCH_BYTES; index++) {
      const stream = streams[(this.#turn + index) % streams.length] as SentStream
      if (!stream.hasUnsent) continue
      const before = parts.length
      this.#deps.counts.sent += stream.collect(parts, MAX_BATCH_BYTES - bytes)
      for (const part of parts.slice(before)) bytes += part.length
    }
    this.#turn = (this.#turn + 1) % Math.max(1, streams.length)
    return parts.length > 0 ? Buffer.concat(parts, bytes) : undefined
  }

  /** Leaves streams that are over, or drained. Returns whether the link itself is no longer of use. */
  tick(nowMs: number, isListed: boolean): boolean {
    this.#connection?.check()
    for (const [number, stream] of this.#streams) {
      const isDrained = stream.isDrained(nowMs)
      if (!isDrained && stream.state !== 'ended') continue
      this.#streams.delete(number)
      if (isDrained) stream.lost()
    }
    if (this.#streams.size > 0) {
      this.#usedMs = nowMs
      return false
    }
    if (nowMs - this.#usedMs < IDLE_MS && (isListed || this.#connection)) return false
    this.close()
    return true
  }

  close(): void {
    const connection = this.#connection
    this.#connection = undefined
    connection?.close()
  }
}
