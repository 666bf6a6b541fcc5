import { createRequire } from 'node:module'
import type { CameraFrame } from './camera-frames.ts'
import type { FrameFormat } from './frame-format.ts'

/** Frames that may be in the decoder at a time. */
const MAX_PENDING = 8
const OUTPUT_LIMIT_MS = 100
const BYTES_PER_PIXEL = 4

// The part of WebCodecs (W3C) that decodes video. Its types are of browsers otherwise.

interface DecodedFrame {
  /** Microseconds, as given with the chunk. Here: the index of the frame. */
  readonly timestamp: number
  readonly codedWidth: number
  readonly codedHeight: number
  copyTo(destination: Uint8Array, options: { format: 'RGBA' }): Promise<unknown>
  close(): void
}

interface VideoDecoder {
  configure(configuration: {
    codec: string
    optimizeForLatency: boolean
    hardwareAcceleration: 'prefer-software'
  }): void
  decode(chunk: object): void
  flush(): Promise<void>
  close(): void
}

export interface VideoCodecs {
  readonly VideoDecoder: new (callbacks: {
    output: (frame: DecodedFrame) => void
    error: (cause: Error) => void
  }) => VideoDecoder
  readonly EncodedVideoChunk: new (chunk: {
    type: 'key' | 'delta'
    timestamp: number
    data: Uint8Array
  }) => object
}

/** Optional packages with the decoder, for both C libraries of Linux. */
const PACKAGES = ['@napi-rs/webcodecs-linux-x64-gnu', '@napi-rs/webcodecs-linux-x64-musl']

/** Returns the decoder; undefined on systems for which none is installed. */
export function loadVideoCodecs(): VideoCodecs | undefined {
  const load = createRequire(import.meta.url)
  for (const name of PACKAGES) {
    try {
      return load(name) as VideoCodecs
    } catch {
      // It is not installed on this system.
    }
  }
  return undefined
}

export interface Picture {
  /** The index of its frame. */
  readonly index: number
  readonly width: number
  readonly height: number
  /** Valid until the next picture is requested. */
  readonly rgba: Uint8Array
}

const CODECS = { vp8: 'vp8', h264: 'avc1.640033' } as const

/** Decodes video, one frame after the other. After a damaged frame, it continues with the next keyframe. */
class Decoder {
  readonly #codecs: VideoCodecs
  readonly #codec: string
  readonly #isNeeded: (index: number) => boolean
  readonly #ready: DecodedFrame[] = []
  /** For all pictures, because the memory of large buffers in a thread is not returned to the system. */
  #rgba = new Uint8Array()
  #decoder: VideoDecoder | undefined
  #pending = 0
  #wake = () => {}

  constructor(codecs: VideoCodecs, codec: string, isNeeded: (index: number) => boolean) {
    this.#codecs = codecs
    this.#codec = codec
    this.#isNeeded = isNeeded
  }

  #start(): VideoDecoder {
    const decoder = new this.#codecs.VideoDecoder({
      output: (frame) => {
        if (this.#decoder === decoder) this.#pending--
        if (this.#isNeeded(frame.timestamp)) this.#ready.push(frame)
        else frame.close()
        this.#wake()
      },
      error: () => this.#forget(decoder),
    })
    decoder.configure({
      codec: this.#codec,
      optimizeForLatency: true,
      hardwareAcceleration: 'prefer-software',
    })
    this.#pending = 0
    return decoder
  }

  /** Forgets a decoder that has ended. The next keyframe begins another one. */
  #forget(decoder: VideoDecoder): void {
    if (this.#decoder !== decoder) return
    this.#decoder = undefined
    this.#pending = 0
    this.#wake()
  }

  /** Passes a frame to the decoder. Returns false if the decoder has ended: the error of a damaged frame arrives later than that. */
  #accepts(decoder: VideoDecoder, { index, isKey, data }: CameraFrame): boolean {
    try {
      const type = isKey ? 'key' : 'delta'
      decoder.decode(new this.#codecs.EncodedVideoChunk({ type, timestamp: index, data }))
      this.#pending++
      return true
    } catch {
      this.#forget(decoder)
      return false
    }
  }

  async add(frame: CameraFrame): Promise<void> {
    const { isKey } = frame
    if (!this.#decoder && !isKey) return
    this.#decoder ??= this.#start()
    if (!this.#accepts(this.#decoder, frame)) {
      if (!isKey) return
      this.#decoder = this.#start()
      if (!this.#accepts(this.#decoder, frame)) return
    }
    while (this.#pending > MAX_PENDING && (await this.#hasOutput())) {
      // The decoder keeps up.
    }
  }

  /** Waits for the next picture. Returns false without one, because some decoders return none until they have more frames. */
  async #hasOutput(): Promise<boolean> {
    return await new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), OUTPUT_LIMIT_MS)
      this.#wake = () => {
        clearTimeout(timer)
        resolve(true)
      }
    })
  }

  async finish(): Promise<void> {
    const decoder = this.#decoder
    if (!decoder) return
    await flush(decoder).catch(() => this.#forget(decoder)) // frames that cannot be decoded are left out
  }

  /** Takes the pictures so far. */
  async *take(): AsyncGenerator<Picture> {
    for (let frame = this.#ready.shift(); frame; frame = this.#ready.shift()) {
      const { timestamp: index, codedWidth: width, codedHeight: height } = frame
      const bytes = width * height * BYTES_PER_PIXEL
      if (this.#rgba.length !== bytes) this.#rgba = new Uint8Array(bytes)
      await frame.copyTo(this.#rgba, { format: 'RGBA' })
      frame.close()
      yield { index, width, height, rgba: this.#rgba }
    }
  }

  close(): void {
    for (const frame of this.#ready.splice(0)) frame.close()
    const decoder = this.#decoder
    this.#decoder = undefined
    try {
      decoder?.close()
    } catch {
      // It has ended by itself.
    }
  }
}

/** Rejects also where the decoder throws. */
const flush = async (decoder: VideoDecoder): Promise<void> => await decoder.flush()

/** Decodes frames. Returns the pictures of those that are needed, except for damaged ones. */
export async function* decodeFrames(
  codecs: VideoCodecs,
  format: Exclude<FrameFormat, 'jpeg'>,
  frames: AsyncIterable<CameraFrame>,
  isNeeded: (index: number) => boolean,
): AsyncGenerator<Picture> {
  const decoder = new Decoder(codecs, CODECS[format], isNeeded)
  try {
    for await (const frame of frames) {
      await decoder.add(frame)
      yield* decoder.take()
    }
    await decoder.finish()
    yield* decoder.take()
  } finally {
    decoder.close()
  }
}

/** Creates a decoder of single keyframes. It is used again and again, because each decoder takes memory that stays reserved. */
export function createKeyframeDecoder(codecs: VideoCodecs, format: Exclude<FrameFormat, 'jpeg'>) {
  const decoder = new Decoder(codecs, CODECS[format], () => true)
  return {
    async *decode(keyframes: readonly Uint8Array[]): AsyncGenerator<Picture> {
      for (const [index, data] of keyframes.entries()) {
        await decoder.add({ index, atMs: 0, isKey: true, data })
        yield* decoder.take()
      }
      await decoder.finish()
      yield* decoder.take()
    },
    close: (): void => decoder.close(),
  }
}
export type KeyframeDecoder = ReturnType<typeof createKeyframeDecoder>
