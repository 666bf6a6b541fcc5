import sharp from 'sharp'
import { ExportProblem } from '../../../core/exports/export-problem.ts'
import type { CameraFrame } from './camera-frames.ts'
import { decodeFrames, type Picture, type VideoCodecs } from './frame-decoder.ts'
import { type FrameFormat, frameHeader } from './frame-format.ts'
import type { PictureSize } from './picture-size.ts'

const JPEG_QUALITY = 90
/** Largest picture that is decoded, in pixels. */
const MAX_PIXELS = 64_000_000

interface IndexedJpeg {
  readonly index: number
  readonly jpeg: Uint8Array
}

const isSize = (a: PictureSize, b: PictureSize) => a.width === b.width && a.height === b.height

/** Returns JPEGs as they are, if they have the size of the dataset. Leaves damaged ones out. */
async function* jpegFrames(
  frames: AsyncIterable<CameraFrame>,
  isNeeded: (index: number) => boolean,
  size: PictureSize,
): AsyncGenerator<IndexedJpeg> {
  for await (const { index, data } of frames) {
    const header = isNeeded(index) ? frameHeader('jpeg', data) : undefined
    if (!header?.size) continue
    const jpeg = isSize(header.size, size) ? data : await resized(data, size)
    if (jpeg) yield { index, jpeg }
  }
}

const resized = (data: Uint8Array, { width, height }: PictureSize): Promise<Uint8Array | undefined> =>
  sharp(data, { limitInputPixels: MAX_PIXELS })
    .resize(width, height, { fit: 'fill' })
    .jpeg({ quality: JPEG_QUALITY })
    .toBuffer()
    .catch(() => undefined)

async function* encoded(
  pictures: AsyncIterable<Picture>,
  { width, height }: PictureSize,
): AsyncGenerator<IndexedJpeg> {
  for await (const picture of pictures) {
    const raw = { width: picture.width, height: picture.height, channels: 4 } as const
    const image = sharp(picture.rgba, { raw }).removeAlpha()
    const scaled = isSize(picture, { width, height }) ? image : image.resize(width, height, { fit: 'fill' })
    yield { index: picture.index, jpeg: await scaled.jpeg({ quality: JPEG_QUALITY }).toBuffer() }
  }
}

export interface RowPictureOptions {
  readonly camera: string
  readonly format: FrameFormat
  readonly size: PictureSize
  /** For each row, the frame that is shown at its time. */
  readonly shown: Int32Array
  readonly codecs: VideoCodecs | undefined
}

/** Returns a JPEG for each row: the last frame up to its time that is not damaged. */
export async function* rowPictures(
  frames: AsyncIterable<CameraFrame>,
  { camera, format, size, shown, codecs }: RowPictureOptions,
): AsyncGenerator<Uint8Array> {
  const needed = new Set(shown)
  const isNeeded = (index: number) => needed.has(index)
  if (format !== 'jpeg' && !codecs) throw new Error('no decoder of video is installed')
  const pictures =
    format === 'jpeg' || !codecs
      ? jpegFrames(frames, isNeeded, size)
      : encoded(decodeFrames(codecs, format, frames, isNeeded), size)
  let row = 0
  let previous: Uint8Array | undefined
  for await (const { index, jpeg } of pictures) {
    while (row < shown.length && (shown[row] as number) < index) {
      row++
      yield previous ?? jpeg
    }
    previous = jpeg
  }
  if (!previous) throw new ExportProblem(`The camera ${camera} has no picture that can be decoded.`)
  for (; row < shown.length; row++) yield previous
}
