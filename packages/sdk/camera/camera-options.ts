import type { CameraCodec } from './packetizer.ts'

/** The state of a published camera. */
export type CameraState = 'connecting' | 'live' | 'offline' | 'closed'

/** How a robot publishes a camera. */
export interface CameraOptions {
  /** 1 to 32 lower-case letters, digits, `-` and `_`. */
  readonly name: string
  /** Default: VP8. */
  readonly codec?: CameraCodec
  /** A viewer needs a keyframe: encode the next frame as one. Called at most twice a second for each camera. */
  readonly onKeyframeNeeded?: () => void
  /** The network allows this bitrate: set your encoder to it. */
  readonly onBitrate?: (bitsPerSecond: number) => void
  /** Whether a client watches the camera: while none does, fewer frames save processor time and data. Called when it changes. */
  readonly onWatched?: (isWatched: boolean) => void
  readonly onState?: (state: CameraState) => void
  /** Called for failed attempts, which are repeated, and for errors of your callbacks. */
  readonly onError?: (cause: unknown) => void
}
