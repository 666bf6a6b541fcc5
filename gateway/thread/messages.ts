import type { BusTopic, BusTopics } from '../../src/core/events/bus.ts'
import type { Call, CallResult } from '../../src/core/threads/remote-calls.ts'
import type { TransferredError } from '../../src/core/threads/transferred-error.ts'
import type { GatewayDeps } from '../index.ts'

// The messages between the main thread of a process and the thread of its gateway.

/** The topics that a gateway listens to. */
export const gatewayTopics = [
  'robots.changed',
  'robot.stop',
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
