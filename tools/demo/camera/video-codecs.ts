import { createRequire } from 'node:module'

// The part of WebCodecs (W3C) that encodes a view. Its types are of browsers otherwise.

interface EncodedChunk {
  readonly byteLength: number
  /** Microseconds, as given with the frame. */
  readonly timestamp: number
  copyTo(destination: Uint8Array): void
}

interface Frame {
  close(): void
}

/** Encodes frames one after the other, in another thread. */
export interface VideoEncoder {
  /** Frames that wait for the encoder. */
  readonly encodeQueueSize: number
  configure(configuration: {
    codec: 'vp8'
    width: number
    height: number
    bitrate: number
    framerate: number
    latencyMode: 'realtime'
    hardwareAcceleration: 'prefer-software'
  }): void
  encode(frame: Frame, options: { keyFrame: boolean }): void
  close(): void
}

export interface VideoCodecs {
  readonly VideoEncoder: new (callbacks: {
    output: (chunk: EncodedChunk) => void
    error: (cause: Error) => void
  }) => VideoEncoder
  readonly VideoFrame: new (
    pixels: Uint8Array,
    layout: { format: 'RGBA'; codedWidth: number; codedHeight: number; timestamp: number },
  ) => Frame
}

/** The packages with the encoder, for both C libraries of Linux. */
const PACKAGES = ['@napi-rs/webcodecs-linux-x64-gnu', '@napi-rs/webcodecs-linux-x64-musl']

/** Returns the encoder; undefined on systems for which none is installed. */
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
