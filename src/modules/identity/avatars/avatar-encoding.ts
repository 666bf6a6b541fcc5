import sharp from 'sharp'
import { AppError, badRequest } from '../../../core/errors/errors.ts'
import { MAX_AVATAR_BYTES } from './avatar.entity.ts'

const SIDE = 512
/** Largest picture that may be uploaded, in megapixels. */
const MAX_MEGAPIXELS = 40
const MAX_PIXELS = MAX_MEGAPIXELS * 1_000_000
const QUALITY = 80
/** How long the re-encoding of a picture may take. */
const TIME_LIMIT_SECONDS = 10

/** The accepted formats. The content decides; the media types are documentation. */
export const AVATAR_TYPES = ['image/png', 'image/jpeg', 'image/webp'] as const
const FORMATS = AVATAR_TYPES.map((type) => type.slice('image/'.length))

/** Disables all image decoders except those of the accepted formats, so that no SVG, PDF or TIFF is parsed. */
export function allowOnlyAvatarFormats(): void {
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({
    operation: ['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer', 'VipsForeignLoadWebpBuffer'],
  })
}

/**
 * Re-encodes an uploaded image: upright, square, without metadata or other content of the file.
 * @throws 415 if the content is not PNG, JPEG or WebP, 413 above 40 megapixels, 400 if the image is damaged.
 */
export async function encodeAvatar(file: Buffer): Promise<Buffer> {
  await inspect(file)
  const image = await encodeSquare(file, SIDE)
  // Only noise exceeds the limit.
  return image.length <= MAX_AVATAR_BYTES ? image : await encodeSquare(file, SIDE / 2)
}

/** Validates the header before the image is decoded. */
async function inspect(file: Buffer): Promise<void> {
  if (!hasSignature(file))
    throw new AppError(415, 'unsupported_media_type', 'avatar: must be a PNG, JPEG or WebP image')
  const { format, width, height } = await orBadRequest(() =>
    sharp(file, { limitInputPixels: false }).metadata(),
  )
  if (!FORMATS.includes(format))
    throw new AppError(
      415,
      'unsupported_media_type',
      `avatar: must be a PNG, JPEG or WebP image, not ${format}`,
    )
  if (width * height > MAX_PIXELS) {
    throw new AppError(413, 'payload_too_large', `avatar: must have at most ${MAX_MEGAPIXELS} megapixels`)
  }
}

/** Returns whether the first bytes match an accepted format. */
function hasSignature(file: Buffer): boolean {
  const start = file.toString('latin1', 0, 12)
  return start.startsWith('\x89PNG\r\n') || start.startsWith('\xff\xd8\xff') || /^RIFF.{4}WEBP/s.test(start)
}

function encodeSquare(file: Buffer, side: number): Promise<Buffer> {
  return orBadRequest(() =>
    sharp(file, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
      .autoOrient()
      .resize(side, side, { fit: 'cover' })
      .webp({ quality: QUALITY })
      .timeout({ seconds: TIME_LIMIT_SECONDS })
      .toBuffer(),
  )
}

async function orBadRequest<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch {
    throw badRequest('avatar: is damaged and cannot be read. Send another image.')
  }
}
