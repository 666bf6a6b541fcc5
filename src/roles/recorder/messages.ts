import type { StorageSettings } from '../../core/storage/storage.ts'
import type { Call, CallResult } from '../../core/threads/remote-calls.ts'
import type { TransferredError } from '../../core/threads/transferred-error.ts'
import type { RecordingStreams } from '../../modules/recordings/index.ts'

// The messages between the main thread of a process and the thread of its recorder.

/** The methods of the main thread that the recorder calls: the thread does no database work. */
export const recorderMethods = {
  streams: ['openStream', 'addSegment', 'closeStream', 'addGap', 'setPaused'],
} as const

/** The services that a recorder needs. */
export interface RecorderServices {
  readonly streams: Pick<RecordingStreams, (typeof recorderMethods)['streams'][number]>
}

/** Settings of the thread, given at its start. */
export interface RecorderOptions {
  readonly nodeId: string
  readonly host: string
  readonly port: number
  readonly rootKey: string
  readonly storage: StorageSettings
  readonly logLevel: string
  readonly prettyLog: boolean
}

/** Current values of the metrics. */
export interface RecorderFigures {
  readonly sources: number
  readonly streams: number
  readonly samples: number
  readonly bytes: number
  readonly segments: number
  readonly failures: number
  readonly gaps: number
  readonly liveReaders: number
}

export type ToRecorder =
  | { readonly type: 'results'; readonly results: readonly CallResult[] }
  | { readonly type: 'drain' }
  | { readonly type: 'close' }

export type FromRecorderThread =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'failed'; readonly error: TransferredError }
  | { readonly type: 'calls'; readonly calls: readonly Call[] }
  | { readonly type: 'figures'; readonly figures: RecorderFigures }
  | { readonly type: 'handler_failed'; readonly handler: string }
  | { readonly type: 'drained' }
