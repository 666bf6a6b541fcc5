import { expect, test } from 'vitest'
import type { CameraFrame } from './camera-frames.ts'
import { createKeyframeDecoder, decodeFrames, type VideoCodecs } from './frame-decoder.ts'

const DAMAGED = 0

/** Returns codecs that end at a damaged frame, and report its error only when the next tasks run, as the real ones do. */
function createCodecs(): VideoCodecs & { readonly started: () => number } {
  let started = 0
  class VideoDecoder {
    readonly #callbacks: ConstructorParameters<VideoCodecs['VideoDecoder']>[0]
    #hasEnded = false
    #needsKey = true

    constructor(callbacks: ConstructorParameters<VideoCodecs['VideoDecoder']>[0]) {
      this.#callbacks = callbacks
      started++
    }
    configure(): void {}
    decode(chunk: object): void {
      const { type, timestamp, data } = chunk as { type: string; timestamp: number; data: Uint8Array }
      this.#requireOpen()
      if (this.#needsKey && type !== 'key') throw new Error('a decoder begins with a keyframe')
      this.#needsKey = false
      if (data[0] === DAMAGED) {
        this.#hasEnded = true
        setTimeout(() => this.#callbacks.error(new Error('the frame is damaged')))
        return
      }
      const copyTo = async (rgba: Uint8Array) => rgba.set(data)
      this.#callbacks.output({ timestamp, codedWidth: 1, codedHeight: 1, copyTo, close: () => {} })
    }
    async flush(): Promise<void> {
      this.#requireOpen()
      this.#needsKey = true
    }
    close(): void {
      this.#requireOpen()
      this.#hasEnded = true
    }
    #requireOpen(): void {
      if (this.#hasEnded) throw new Error('the decoder has ended')
    }
  }
  class EncodedVideoChunk {
    constructor(chunk: object) {
      Object.assign(this, chunk)
    }
  }
  return { VideoDecoder, EncodedVideoChunk, started: () => started }
}

/** Returns frames by their names: `k` for a keyframe, `d` for one that needs those before it, upper case for a damaged one. */
async function* framesOf(names: string): AsyncGenerator<CameraFrame> {
  for (const [index, name] of [...names].entries()) {
    const isKey = name.toLowerCase() === 'k'
    const content = name === name.toLowerCase() ? index + 1 : DAMAGED
    yield { index, atMs: index, isKey, data: new Uint8Array([content]) }
  }
}

async function decodedOf(names: string): Promise<{ readonly indexes: number[]; readonly started: number }> {
  const codecs = createCodecs()
  const indexes: number[] = []
  for await (const { index, rgba } of decodeFrames(codecs, 'vp8', framesOf(names), () => true)) {
    expect(rgba[0]).toBe(index + 1)
    indexes.push(index)
  }
  return { indexes, started: codecs.started() }
}

test('after a damaged frame, another decoder continues with the next keyframe', async () => {
  expect(await decodedOf('kdDddkd')).toEqual({ indexes: [0, 1, 5, 6], started: 2 })
})

test('a keyframe right after a damaged frame is decoded, and a damaged last frame ends nothing else', async () => {
  expect(await decodedOf('kDkK')).toEqual({ indexes: [0, 2], started: 2 })
})

test('a decoder of keyframes is of use after a damaged one', async () => {
  const codecs = createCodecs()
  const decoder = createKeyframeDecoder(codecs, 'vp8')
  const decode = async (...contents: number[]) => {
    const pictures: number[] = []
    for await (const { rgba } of decoder.decode(contents.map((content) => new Uint8Array([content]))))
      pictures.push(rgba[0] as number)
    return pictures
  }
  expect(await decode(1, DAMAGED)).toEqual([1])
  expect(await decode(2, 3)).toEqual([2, 3])
  decoder.close()
})
