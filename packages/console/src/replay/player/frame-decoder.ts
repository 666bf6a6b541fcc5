import type { CompressedFrame } from '../data/compressed-frame.ts'
import { codecOf, isKeyframe } from '../data/compressed-frame.ts'

const US_PER_MS = 1_000

/** A decoded picture. It holds memory of the decoder until it is closed. */
export interface DecodedFrame {
  readonly atMs: number
  readonly picture: VideoFrame | ImageBitmap
  readonly width: number
  readonly height: number
  close(): void
}

interface Options {
  /** Times are counted from here, because decoders count in microseconds. */
  readonly originMs: number
  readonly onFrame: (frame: DecodedFrame) => void
  readonly onError: (cause: unknown) => void
}

/** Decodes the frames of one camera in order. The first frame must be a keyframe. */
export interface FrameDecoder {
  readonly format: string
  /** Decodes a frame. Settles when the next one may be given. */
  decode(frame: CompressedFrame, atMs: number): Promise<void>
  /** Returns how many frames were given and not returned yet. */
  pending(): number
  /** Delivers the pictures that the decoder still holds. The next frame must be a keyframe. */
  flush(): Promise<void>
  close(): void
}

export class UnsupportedVideo extends Error {}

export const createFrameDecoder = (format: string, options: Options): FrameDecoder =>
  format === 'vp8' || format === 'h264'
    ? createVideoDecoder(format, options)
    : createImageDecoder(format, options)

function createVideoDecoder(format: string, { originMs, onFrame, onError }: Options): FrameDecoder {
  // Browsers have it on secure origins only.
  if (typeof VideoDecoder === 'undefined') throw new UnsupportedVideo()
  let given = 0
  let returned = 0
  let codec: string | undefined
  const decoder = new VideoDecoder({
    output: (picture) => {
      returned++
      onFrame({
        // Rounded as the time of the message is, so that both compare equal.
        atMs: Math.round(originMs * US_PER_MS + picture.timestamp) / US_PER_MS,
        picture,
        width: picture.displayWidth,
        height: picture.displayHeight,
        close: () => picture.close(),
      })
    },
    error: onError,
  })
  return {
    format,
    async decode(frame, atMs) {
      const isKey = isKeyframe(format, frame.data)
      const found = isKey ? codecOf(format, frame.data) : undefined
      if (found !== undefined && found !== codec) {
        codec = found
        decoder.configure({ codec, optimizeForLatency: true })
      }
      // Frames before the first keyframe cannot be decoded.
      if (codec === undefined || decoder.state !== 'configured') return
      given++
      decoder.decode(
        new EncodedVideoChunk({
          type: isKey ? 'key' : 'delta',
          timestamp: Math.round((atMs - originMs) * US_PER_MS),
          data: frame.data,
        }),
      )
    },
    pending: () => given - returned,
    async flush() {
      if (decoder.state === 'configured') await decoder.flush()
    },
    close() {
      if (decoder.state !== 'closed') decoder.close()
    },
  }
}

function createImageDecoder(format: string, { onFrame, onError }: Options): FrameDecoder {
  let isClosed = false
  let pending = 0
  return {
    format,
    async decode({ data }, atMs) {
      pending++
      try {
        const picture = await createImageBitmap(new Blob([new Uint8Array(data)], { type: 'image/jpeg' }))
        const { width, height } = picture
        if (isClosed) picture.close()
        else onFrame({ atMs, picture, width, height, close: () => picture.close() })
      } catch (cause) {
        onError(cause)
      } finally {
        pending--
      }
    },
    pending: () => pending,
    flush: async () => undefined,
    close() {
      isClosed = true
    },
  }
}
