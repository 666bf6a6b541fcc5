import { loadVideoCodecs } from '../../../tools/demo/camera/published-view.ts'
import { WAIT_LIMIT_MS } from '../wait-limit.ts'

const POLL_MS = 1

export interface Vp8Options {
  readonly count: number
  readonly width: number
  readonly height: number
  readonly fps: number
  readonly bitsPerSecond: number
  /** Frames from one keyframe to the next. */
  readonly keyframeEvery: number
  /** Returns the RGBA pixels of a picture. */
  pixels(number: number): Uint8Array
}

/** Encodes pictures as VP8, one frame for each. */
export async function encodeVp8({
  count,
  width,
  height,
  fps,
  ...options
}: Vp8Options): Promise<Uint8Array[]> {
  const codecs = loadVideoCodecs()
  if (!codecs) throw new Error('no encoder is installed on this system')
  const frames: Uint8Array[] = []
  let failure: Error | undefined
  const encoder = new codecs.VideoEncoder({
    output: (chunk) => {
      const data = new Uint8Array(chunk.byteLength)
      chunk.copyTo(data)
      frames.push(data)
    },
    error: (cause) => {
      failure = cause
    },
  })
  encoder.configure({
    codec: 'vp8',
    width,
    height,
    bitrate: options.bitsPerSecond,
    framerate: fps,
    latencyMode: 'realtime',
    hardwareAcceleration: 'prefer-software',
  })
  const limit = performance.now() + WAIT_LIMIT_MS
  const arrived = async (least: number) => {
    while (frames.length < least && !failure && performance.now() < limit)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  for (let number = 0; number < count && !failure; number++) {
    const layout = { format: 'RGBA' as const, codedWidth: width, codedHeight: height }
    const timestamp = Math.round((number * 1_000_000) / fps)
    const frame = new codecs.VideoFrame(options.pixels(number), { ...layout, timestamp })
    encoder.encode(frame, { keyFrame: number % options.keyframeEvery === 0 })
    frame.close()
    await arrived(number)
  }
  await arrived(count)
  encoder.close()
  if (failure) throw failure
  if (frames.length !== count) throw new Error(`the encoder returned ${frames.length} of ${count} frames`)
  return frames
}
