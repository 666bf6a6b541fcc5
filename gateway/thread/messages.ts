import type { BusTopic, BusTopics } from '../../src/core/events/bus.ts'
import type { Call, CallResult } from '../../src/core/threads/remote-calls.ts'
import type { TransferredError } from '../../src/core/threads/transferred-error.ts'
import type { Gateway, GatewayDeps } from '../index.ts'

// The messages between the main thread of a process and the thread of its gateway.

/** The topics that a gateway listens to. */
export const gatewayTopics = [
  'robots.changed',
  'robot.stop',
  'control.changing',
  'control.transferred',
  'credential.revoked',
  'permissions.lost',
  'session.tailed',
] as const satisfies BusTopic[]

export interface BusMessage<T extends BusTopic = BusTopic> {
  readonly topic: T
  readonly message: BusTopics[T]
}

/** Settings of the thread, given at its start. */
export interface ThreadOptions {
  readonly nodeId: string
  readonly host: string
  readonly port: number
  readonly settings: GatewayDeps['settings']
  readonly handoverMs: number
  readonly allowedOrigins: readonly string[]
  readonly rootKey: string
  readonly logLevel: string
  readonly prettyLog: boolean
  /** Whether the thread asks for real-time scheduling. */
  readonly realTime: boolean
  /** Whether accounts are held to their share of the thread. */
  readonly limitsFrames: boolean
  readonly counts: SharedArrayBuffer
  /** One number: 1 once the thread has closed its sockets. */
  readonly closed: SharedArrayBuffer
}

export type ToThread =
  | { readonly type: 'results'; readonly results: readonly CallResult[] }
  | { readonly type: 'bus'; readonly messages: readonly BusMessage[] }
  | { readonly type: 'drain' }
  /** `waits`: until the ends of the last connections are recorded. */
  | { readonly type: 'close'; readonly waits: boolean }

export type FromThread =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'failed'; readonly error: TransferredError }
  | { readonly type: 'calls'; readonly calls: readonly Call[] }
  | { readonly type: 'bus'; readonly messages: readonly BusMessage[] }
  | { readonly type: 'handler_failed'; readonly handler: string }
  | { readonly type: 'handler_long'; readonly handler: string }
  | { readonly type: 'drained'; readonly error?: TransferredError }
  | { readonly type: 'unhandled_rejection' | 'uncaught_exception'; readonly error: TransferredError }

/** Every count of a gateway, once: a missing one does not compile. */
const IS_COUNT: Readonly<Record<keyof Gateway['counts'], true>> = {
  frames: true,
  framesRefused: true,
  logLines: true,
  logLinesDropped: true,
  heartbeats: true,
  heartbeatsCoalesced: true,
  heartbeatsWritten: true,
  lastFlushMs: true,
  passed: true,
  dropped: true,
  videoStale: true,
  limited: true,
  deadman: true,
  stops: true,
  ticketsRefused: true,
}
/** The counts, in the order in which they are stored. */
const COUNTS = Object.keys(IS_COUNT) as (keyof Gateway['counts'])[] // exactly these keys
const SIZES = ['connections', 'participants', 'sessions', 'limitedSessions'] as const
const FIELDS = ['progressMs', ...SIZES, ...COUNTS] as const
type Field = (typeof FIELDS)[number]

/** Returns the milliseconds of the machine's monotonic clock, which all threads share. */
const monotonicMs = () => Number(process.hrtime.bigint() / 1_000_000n)

/**
 * Numbers of a gateway that its thread writes and the main thread reads: metrics, and the time of the last progress. Reading
 * needs no answer from the thread, which may be stalled.
 */
export class SharedCounts {
  readonly buffer: SharedArrayBuffer
  readonly #values: Float64Array

  constructor(buffer = new SharedArrayBuffer(FIELDS.length * Float64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer
    this.#values = new Float64Array(buffer)
  }

  /** Stores the present numbers, and that the thread makes progress. */
  update(gateway: Gateway): void {
    this.#set('progressMs', monotonicMs())
    for (const name of SIZES) this.#set(name, gateway[name])
    const { counts } = gateway
    for (const name of COUNTS) this.#set(name, counts[name])
  }

  read(field: Field): number {
    return this.#values[FIELDS.indexOf(field)] ?? 0
  }

  counts(): Gateway['counts'] {
    return Object.fromEntries(COUNTS.map((name) => [name, this.read(name)])) as Gateway['counts']
  }

  /** Returns for how long the thread has made no progress, in milliseconds. */
  stalledMs(): number {
    return monotonicMs() - this.read('progressMs')
  }

  #set(field: Field, value: number): void {
    this.#values[FIELDS.indexOf(field)] = value
  }
}
