import { open } from 'node:fs/promises'
import { EncodedPacket, EncodedVideoPacketSource, FilePathTarget, Mp4OutputFormat, Output } from 'mediabunny'
import { type FrameFormat, NAL_SEQUENCE_PARAMETERS, nalUnits } from './frame-format.ts'
import type { PictureSize } from './picture-size.ts'
import type { OpenDatasetFile } from './stored-file.ts'

const COPY_BYTES = 1024 * 1024
const WRITE_BYTES = 1024 * 1024

export interface VideoFileOptions {
  /** A temporary file, because the writer goes back to the start at the end. */
  readonly filePath: string
  readonly format: Exclude<FrameFormat, 'jpeg'>
  readonly size: PictureSize
  readonly fps: number
  /** Number of frames, for which the writer reserves space at the start of the file. */
  readonly frames: number
}

/** Returns the name of the codec as browsers spell it, with the profile of the first parameter set. */
function codecString(format: VideoFileOptions['format'], keyframe: Uint8Array): string {
  if (format === 'vp8') return 'vp8'
  for (const { type, payload } of nalUnits(keyframe)) {
    if (type === NAL_SEQUENCE_PARAMETERS) return `avc1.${Buffer.from(payload.subarray(1, 4)).toString('hex')}`
  }
  throw new Error('the first frame of a video has no parameter set')
}

/** Begins an MP4 file. Frame k has exactly the time k / fps, because LeRobot looks frames up by time. */
export async function openVideoFile({ filePath, format, size, fps, frames }: VideoFileOptions) {
  const output = new Output({
    format: new Mp4OutputFormat({ fastStart: 'reserve' }),
    target: new FilePathTarget(filePath, { chunkSize: WRITE_BYTES }),
  })
  const source = new EncodedVideoPacketSource(format === 'vp8' ? 'vp8' : 'avc')
  output.addVideoTrack(source, { frameRate: fps, maximumPacketCount: frames })
  await output.start()
  let count = 0
  return {
    /** Adds the next frame. */
    async add(data: Uint8Array, isKey: boolean): Promise<void> {
      const packet = new EncodedPacket(data, isKey ? 'key' : 'delta', count / fps, 1 / fps)
      const codedSize = { codedWidth: size.width, codedHeight: size.height }
      const meta =
        count === 0 ? { decoderConfig: { codec: codecString(format, data), ...codedSize } } : undefined
      count++
      await source.add(packet, meta)
    },
    /** The number of frames so far. */
    count: (): number => count,
    finish: (): Promise<void> => output.finalize(),
    cancel: (): Promise<void> => output.cancel(),
  }
}
export type VideoFile = Awaited<ReturnType<typeof openVideoFile>>

/** Copies a file of the disk into the dataset. */
export async function copyInto(file: OpenDatasetFile, filePath: string): Promise<void> {
  const handle = await open(filePath, 'r')
  try {
    for (;;) {
      const { bytesRead, buffer } = await handle.read({ buffer: Buffer.allocUnsafeSlow(COPY_BYTES) })
      if (bytesRead === 0) return
      await file.write(buffer.subarray(0, bytesRead))
    }
  } finally {
    await handle.close()
  }
}
