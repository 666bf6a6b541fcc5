import type { RecorderAddress, UnsentGap } from '../../../modules/recordings/transport/index.ts'

// The messages between the media role and its forwarding process. `id` is the number of a peer.

/** Settings of the forwarding process, given as its argument. */
export interface MediaSettings {
  /** The address to listen on; undefined for all. */
  readonly bindAddress: string | undefined
  /** The UDP port of all peers; 0 for a free one. */
  readonly port: number
  /** The UDP port of browsers that TURN servers relay over TCP or TLS; 0 for a free one, undefined for none. */
  readonly relayPort: number | undefined
  /** The IP address that clients use, if it is not an address of this machine. */
  readonly publicAddress: string | undefined
  /** Highest bitrate of a publisher's video in bits per second. */
  readonly maxBitsPerSecond: number
}

/** The name of a camera among all robots. */
export type CameraKey = `${string}/${string}`

/** The recording of a camera: into which session, and whether it is stored or only for live readers. */
export interface RecordingTarget {
  readonly sessionId: string
  readonly stored: boolean
}

/** The recorders that are running, and the credential for them. */
export interface RecorderAccess {
  readonly recorders: readonly RecorderAddress[]
  /** A header Authorization. */
  readonly authorization: string
}

/** Counts of records since the process started. */
export type RecordingCounts = Readonly<Record<'sent' | 'leftOut' | 'reconnects', number>>

/** Why a publisher was closed: another one of its camera has come. */
export const REPLACED = 'replaced'

/** Why an offer was refused. */
export type RefusalCode =
  /** The offer is malformed, or has no codec that the platform forwards. */
  | 'offer_rejected'
  /** The camera is not sending. */
  | 'camera_offline'
  /** The camera sends what no viewer can decode. */
  | 'camera_undecodable'

export type ToMediaProcess =
  | { readonly type: 'publish'; readonly id: number; readonly camera: CameraKey; readonly sdp: string }
  | {
      readonly type: 'view'
      readonly id: number
      readonly camera: CameraKey
      readonly sdp: string
      /** Whether the viewer is the operator: its path limits the bitrate, and its microphone is heard at the robot. */
      readonly isOperator: boolean
    }
  | { readonly type: 'close'; readonly id: number }
  | RecordingMessage

/** The messages about recording. */
export type RecordingMessage =
  /** Begins to record a camera, also one that does not send yet, or goes on in another session. */
  | ({ readonly type: 'record'; readonly camera: CameraKey } & RecordingTarget)
  | { readonly type: 'end_record'; readonly camera: CameraKey }
  | ({ readonly type: 'recorders' } & RecorderAccess)
  /** Sends what is recorded, and ends the process. */
  | { readonly type: 'end' }

/** How a camera is doing. */
export interface CameraFigures {
  readonly camera: CameraKey
  /** The peer that publishes. */
  readonly id: number
  readonly hasAudio: boolean
  readonly codec: string | null
  readonly bitsPerSecond: number
  readonly framesPerSecond: number
  /** Time from capture to arrival of the newest frame in milliseconds; null if the robot does not send its clock. */
  readonly latencyMs: number | null
}

export type FromMediaProcess =
  /** The UDP port could not be opened. The process has exited. */
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'answer'; readonly id: number; readonly sdp: string }
  | { readonly type: 'refused'; readonly id: number; readonly code: RefusalCode; readonly message: string }
  /** The peer left, was abandoned or replaced. */
  | { readonly type: 'closed'; readonly id: number; readonly reason: string }
  | { readonly type: 'figures'; readonly cameras: readonly CameraFigures[] }
  | { readonly type: 'recording'; readonly counts: RecordingCounts }
  /** The stream of a camera has reached no recorder. Its records of this period are lost. */
  | ({ readonly type: 'unsent'; readonly sessionId: string } & UnsentGap)
