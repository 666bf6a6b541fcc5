import type { WebSocket } from 'ws'
import type { Guard } from '../../core/process/guard.ts'
import type { RecordedMessage } from '../../modules/recordings/mcap/index.ts'
import type { StreamDeps } from './stream-recorder.ts'

/** Receives every message, for live readers. */
export interface LiveSink {
  publish(
    sessionId: string,
    message: RecordedMessage,
    camera: { readonly flags: number; readonly codec: 'VP8' | 'H264' | 'JPEG' | undefined },
  ): void
}

/** The parts that the connections of a recorder share. */
export interface RecorderContext extends Omit<StreamDeps, 'send'> {
  readonly nodeId: string
  readonly guard: Guard
  readonly counts: { samples: number; bytes: number }
  readonly live: LiveSink
  /** Called when a connection has closed. */
  readonly closed: () => void
}

/** Accepts an upgrade, and passes the WebSocket on. */
export type AcceptUpgrade = (use: (socket: WebSocket) => void) => void
