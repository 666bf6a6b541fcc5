import { setInterval as everyMs } from 'node:timers'
import { PublishedCamera } from '../../../packages/sdk/camera/published-camera.ts'
import { offer, sendReady } from '../processes/rpc.ts'
import { vp8Frame } from './test-frames.ts'

// A program with a camera whose frames are as large as the bitrate that the platform allows, as those of an encoder.

const FRAMES_PER_SECOND = 30

let bitsPerSecond = 0
let isKeyframeNeeded = true
let number = 0

const handlers = {
  /** Publishes the camera, and sends frames from now on. `url` is the `whip_url` of the robot. */
  publish(url: string, token: string): void {
    const camera = new PublishedCamera(
      {
        name: 'front',
        onKeyframeNeeded: () => {
          isKeyframeNeeded = true
        },
        onBitrate: (allowed) => {
          bitsPerSecond = allowed
        },
      },
      () => ({ url, token }),
    )
    everyMs(() => {
      const bytes = Math.max(100, Math.round(bitsPerSecond / 8 / FRAMES_PER_SECOND))
      if (camera.send(vp8Frame(++number, { keyframe: isKeyframeNeeded, bytes }))) isKeyframeNeeded = false
    }, 1_000 / FRAMES_PER_SECOND)
  },
  /** Returns the newest bitrate that the platform allowed. */
  bitrate: () => bitsPerSecond,
}
export type PacedCamera = typeof handlers

offer(handlers)
sendReady(0)
