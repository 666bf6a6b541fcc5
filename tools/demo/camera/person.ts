import { readFileSync } from 'node:fs'
import sharp from 'sharp'

/** A person in a safety vest, seen from the front: `person.svg` as a picture, because the platform lets no decoder of images read SVG. */
const PERSON = readFileSync(new URL('person.png', import.meta.url))

export interface Sprite {
  readonly width: number
  readonly height: number
  /** As in a picture, with its own colour also where it is transparent. */
  readonly pixels: Int32Array
  readonly alpha: Uint8Array
}

async function spriteOf(height: number): Promise<Sprite> {
  const { data, info } = await sharp(PERSON)
    .resize({ height })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  const bytes = new Uint8Array(data)
  const alpha = new Uint8Array(bytes.length / 4)
  for (let index = 0; index < alpha.length; index++) {
    alpha[index] = bytes[index * 4 + 3] as number
    bytes[index * 4 + 3] = 255
  }
  return { ...info, pixels: new Int32Array(bytes.buffer), alpha }
}

/** In several sizes, because reducing it while drawing would leave out pixels. */
const sprites = await Promise.all([40, 60, 90, 135, 200, 300, 450, 675, 1_000].map(spriteOf))

/** Returns the picture of a person for a height in pixels. */
export function personAt(height: number): Sprite {
  return sprites.find((sprite) => sprite.height >= height * 0.9) ?? (sprites.at(-1) as Sprite)
}
