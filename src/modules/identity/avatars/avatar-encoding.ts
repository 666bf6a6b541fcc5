import sharp from 'sharp'
import { AppError, badRequest } from '../../../core/errors/errors.ts'
import { MAX_AVATAR_BYTES } from './avatar.entity.ts'

const SIDE = 512
const MAX_MEGAPIXELS = 40
const MAX_PIXELS = MAX_MEGAPIXELS * 1_000_000
const QUALITY = 80
const TIME_LIMIT_SECONDS = 10

/** What is taken, by content; the media types are for the description. */
export const AVATAR_TYPES = ['image/png', 'image/jpeg', 'image/webp'] as const
const FORMATS = AVATAR_TYPES.map((type) => type.slice('image/'.length))

/** Leaves the image library with the readers of these formats only: nobody's SVG, PDF or TIFF is even looked at. */
export function allowOnlyAvatarFormats(): void {
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({
    operation: ['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer', 'VipsForeignLoadWebpBuffer'],
  })
}

/**
 * Draws an uploaded picture anew: upright, square, without metadata or anything else that was in the file.
 * @throws 415 no PNG, JPEG or WebP by its content, 413 over 40 megapixels, 400 damaged.
 */
export async function encodeAvatar(file: Buffer): Promise<Buffer> {
  await inspect(file)
  const image = await encodeSquare(file, SIDE)
  // Hardly anything but noise gets that large.
  return image.length <= MAX_AVATAR_BYTES ? image : await encodeSquare(file, SIDE / 2)
}

/** Looks at the header alone, before anything is decoded. */
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

/** Whether the first bytes are those of a format that is taken. */
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
