import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { encodeVp8 } from './vp8-encoder.ts'

const [PICTURE_WIDTH, PICTURE_HEIGHT] = [320, 180] as const
const BITS = 16
const BLOCK_PX = 16
const [LEFT, TOP, BLOCK_HEIGHT] = [32, 40, 80] as const

/** Draws a number as black and white blocks, which survive the loss of the encoder. */
function codedPixels(number: number): Uint8Array {
  const pixels = new Uint8Array(PICTURE_WIDTH * PICTURE_HEIGHT * 4)
  for (let y = 0; y < PICTURE_HEIGHT; y++)
    for (let x = 0; x < PICTURE_WIDTH; x++) {
      const bit = Math.floor((x - LEFT) / BLOCK_PX)
      const isCode = x >= LEFT && bit < BITS && y >= TOP && y < TOP + BLOCK_HEIGHT
      const level = isCode ? ((number >> bit) & 1 ? 255 : 0) : 96
      const at = 4 * (y * PICTURE_WIDTH + x)
      pixels.set(isCode ? [level, level, level, 255] : [40, level, 130, 255], at)
    }
  return pixels
}

/** Encodes coded pictures as VP8, each with its number, with a keyframe every `keyframeEvery` frames. */
export const encodeCodedPictures = (count: number, keyframeEvery: number): Promise<Uint8Array[]> =>
  encodeVp8({
    count,
    width: PICTURE_WIDTH,
    height: PICTURE_HEIGHT,
    fps: 30,
    bitsPerSecond: 600_000,
    keyframeEvery,
    pixels: codedPixels,
  })

/** Encodes coded pictures as JPEG. */
export const encodeCodedJpegs = (count: number): Promise<Uint8Array[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, number) => {
      const raw = { width: PICTURE_WIDTH, height: PICTURE_HEIGHT, channels: 4 as const }
      return new Uint8Array(await sharp(codedPixels(number), { raw }).jpeg().toBuffer())
    }),
  )

/** Encodes coded pictures as H.264 in Annex B, in a browser; undefined if it cannot. */
export async function encodeCodedH264(page: Page, count: number, keyframeEvery: number) {
  const pictures = await encodeCodedJpegs(count)
  const given = JSON.stringify(pictures.map((jpeg) => Buffer.from(jpeg).toString('base64')))
  const encoded = (await page.evaluate(`(async () => {
    const config = {
      codec: 'avc1.42e01f', width: ${PICTURE_WIDTH}, height: ${PICTURE_HEIGHT}, bitrate: 1_000_000, framerate: 15,
      avc: { format: 'annexb' },
    }
    const { supported } = await VideoEncoder.isConfigSupported(config)
    if (!supported) return null
    const frames = []
    const encoder = new VideoEncoder({
      output: (chunk) => {
        const data = new Uint8Array(chunk.byteLength)
        chunk.copyTo(data)
        frames.push(btoa(String.fromCharCode(...data)))
      },
      error: (cause) => { throw cause },
    })
    encoder.configure(config)
    for (const [number, jpeg] of ${given}.entries()) {
      const blob = new Blob([Uint8Array.from(atob(jpeg), (byte) => byte.charCodeAt(0))], { type: 'image/jpeg' })
      const frame = new VideoFrame(await createImageBitmap(blob), { timestamp: number * 66_667 })
      encoder.encode(frame, { keyFrame: number % ${keyframeEvery} === 0 })
      frame.close()
    }
    await encoder.flush()
    return frames
  })()`)) as string[] | null
  return encoded?.map((data) => new Uint8Array(Buffer.from(data, 'base64')))
}

/** Reads the number of the picture that a canvas shows; -1 for no coded picture. */
export const shownNumber = (page: Page, selector = 'figure canvas'): Promise<number> =>
  page.evaluate(
    `(() => {
      const canvas = document.querySelector(${JSON.stringify(selector)})
      if (canvas?.width !== ${PICTURE_WIDTH}) return -1
      const { data } = canvas.getContext('2d').getImageData(0, ${TOP + BLOCK_HEIGHT / 2}, ${PICTURE_WIDTH}, 1)
      let number = 0
      for (let bit = 0; bit < ${BITS}; bit++)
        if (data[4 * (${LEFT} + bit * ${BLOCK_PX} + ${BLOCK_PX / 2}) + 1] > 128) number |= 1 << bit
      return data[4 * 4 + 3] === 255 ? number : -1
    })()`,
  )
