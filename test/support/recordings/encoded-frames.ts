import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { NAL_DELIMITER, nalUnits } from '../../../src/modules/datasets/lerobot/frame-format.ts'
import { installOnDebian } from '../programs/debian.ts'

const run = promisify(execFile)
const MAX_BYTES = 512 * 1024 * 1024

export interface VideoOptions {
  readonly width?: number
  readonly height?: number
  readonly frames: number
  /** Distance of keyframes. */
  readonly keyframeDistance?: number
  readonly bitrate?: string
}

/** Installs ffmpeg and ffprobe where they are missing. */
export async function requireFfmpeg(): Promise<void> {
  await run('ffprobe', ['-version']).catch(() => installOnDebian('ffmpeg'))
}

async function encode(options: VideoOptions, codec: readonly string[]): Promise<Buffer> {
  await requireFfmpeg()
  const { width = 160, height = 120, frames, keyframeDistance = 30, bitrate } = options
  const source = `testsrc2=size=${width}x${height}:rate=30`
  const rate = bitrate ? ['-b:v', bitrate, '-minrate', bitrate, '-maxrate', bitrate] : []
  const input = ['-v', 'error', '-f', 'lavfi', '-i', source, '-frames:v', String(frames), '-threads', '2']
  const output = ['-g', String(keyframeDistance), ...rate, ...codec, 'pipe:1']
  const { stdout } = await run('ffmpeg', [...input, ...output], { encoding: 'buffer', maxBuffer: MAX_BYTES })
  return stdout
}

/** Returns frames of VP8. */
export async function vp8Frames(options: VideoOptions): Promise<Buffer[]> {
  const codec = ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-auto-alt-ref', '0']
  const file = await encode(options, [...codec, '-f', 'ivf'])
  const frames: Buffer[] = []
  for (let at = 32; at < file.length; ) {
    const size = file.readUInt32LE(at)
    frames.push(file.subarray(at + 12, at + 12 + size))
    at += 12 + size
  }
  return frames
}

/** Returns access units of H.264 in Annex B, with parameter sets before each keyframe. */
export async function h264Frames(options: VideoOptions): Promise<Buffer[]> {
  const codec = ['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-bf', '0', '-aud', '1']
  const file = await encode(options, [...codec, '-pix_fmt', 'yuv420p', '-f', 'h264'])
  const starts = [...nalUnits(file)].filter(({ type }) => type === NAL_DELIMITER).map(({ start }) => start)
  return starts.map((start, index) => file.subarray(start, starts[index + 1]))
}

/** Returns a JPEG of one colour. */
export const jpegFrame = (red: number, width = 160, height = 120): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: { r: red, g: 64, b: 128 } } })
    .jpeg()
    .toBuffer()
