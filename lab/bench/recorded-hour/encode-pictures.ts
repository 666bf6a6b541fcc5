import { encodeVp8 } from '../../../test/support/recordings/vp8-encoder.ts'

export const PICTURE = { width: 640, height: 480, hz: 30 } as const

const BITS_PER_SECOND = 2_500_000
/** The pictures repeat after this many, because encoding takes long. Only the first one is a keyframe. */
const COUNT = 60
/** The noise of a sensor, in levels of a colour. */
const NOISE = 24

/** Encodes pictures of a scene that moves, with noise. The first one is a keyframe, so that they can be repeated. */
export const encodePictures = (): Promise<Uint8Array[]> =>
  encodeVp8({
    count: COUNT,
    width: PICTURE.width,
    height: PICTURE.height,
    fps: PICTURE.hz,
    bitsPerSecond: BITS_PER_SECOND,
    keyframeEvery: COUNT,
    pixels: movingPixels,
  })

function movingPixels(number: number): Uint8Array {
  const { width, height } = PICTURE
  const red = Uint8Array.from({ length: width }, (_, x) => 60 + 40 * Math.sin((x + 3 * number) / 25))
  const blue = Uint8Array.from({ length: height }, (_, y) => 120 + 40 * Math.cos((y - 2 * number) / 30))
  const pixels = new Uint8Array(width * height * 4)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const noise = Math.random() * NOISE
      const at = 4 * (y * width + x)
      pixels[at] = (red[x] ?? 0) + noise
      pixels[at + 1] = 110 + noise
      pixels[at + 2] = (blue[y] ?? 0) + noise
      pixels[at + 3] = 255
    }
  return pixels
}
