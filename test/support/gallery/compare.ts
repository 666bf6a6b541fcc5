import pixelmatch from 'pixelmatch'
import { PNG } from 'pngjs'

/** How much two pictures of the same state may differ. */
export interface Tolerance {
  /** How different a pixel may be, 0 to 1: the threshold of pixelmatch. */
  readonly threshold: number
  /** The share of pixels that may differ more, and a number that may in any case. */
  readonly share: number
  readonly pixels: number
  /** By how many pixels width and height may differ. */
  readonly size: number
}

/** The same major version of Chromium draws the same picture, except for single pixels. */
export const STRICT: Tolerance = { threshold: 0.03, share: 0.0001, pixels: 6, size: 0 }
/** Another major version may draw edges and letters differently. */
export const WIDE: Tolerance = { threshold: 0.1, share: 0.02, pixels: 40, size: 2 }

/** The result of a comparison. */
export interface Comparison {
  readonly isEqual: boolean
  /** The difference as a phrase. */
  readonly text: string
  /** A PNG with the different pixels in red; undefined for pictures of different sizes. */
  readonly difference: Buffer | undefined
}

/** Compares a picture with the accepted one. Both are PNGs. */
export function comparePictures(accepted: Buffer, actual: Buffer, tolerance: Tolerance): Comparison {
  const [before, after] = [PNG.sync.read(accepted), PNG.sync.read(actual)]
  const isSameSize =
    Math.abs(before.width - after.width) <= tolerance.size &&
    Math.abs(before.height - after.height) <= tolerance.size
  if (!isSameSize) {
    const text = `${after.width} × ${after.height} instead of ${before.width} × ${before.height} pixels`
    return { isEqual: false, text, difference: undefined }
  }
  const width = Math.min(before.width, after.width)
  const height = Math.min(before.height, after.height)
  const difference = new PNG({ width, height })
  const { threshold } = tolerance
  const different = pixelmatch(
    cropped(before, width, height),
    cropped(after, width, height),
    difference.data,
    width,
    height,
    { threshold, includeAA: tolerance === STRICT },
  )
  const allowed = Math.max(tolerance.pixels, Math.floor(tolerance.share * width * height))
  return {
    isEqual: different <= allowed,
    text: `${different} pixels differ, ${allowed} may`,
    difference: PNG.sync.write(difference),
  }
}

/** Returns the pixels of the upper left part of a picture. */
function cropped(picture: PNG, width: number, height: number): Buffer {
  if (picture.width === width && picture.height === height) return picture.data
  const part = new PNG({ width, height })
  PNG.bitblt(picture, part, 0, 0, width, height, 0, 0)
  return part.data
}
