import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import sharp from 'sharp'

const HEAD_END = '\r\n\r\n'

/** Creates a viewer of a video with its own connection: reads parts by their length. */
export async function openMjpegStream(url: string) {
  const request = get(url, { agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const boundary = /boundary=(\w+)/.exec(response.headers['content-type'] ?? '')?.[1] ?? '?'
  const frames: Buffer[] = []
  let rest: Buffer = Buffer.alloc(0)
  const read = async (): Promise<'complete' | 'broken off'> => {
    try {
      for await (const chunk of response) {
        rest = Buffer.concat([rest, chunk])
        while (takeFrame());
      }
    } catch {
      return 'broken off'
    }
    return rest.toString('latin1') === `--${boundary}--\r\n` ? 'complete' : 'broken off'
  }
  /** Removes one complete part from the front, with the boundary before it, if all of it has arrived. */
  function takeFrame(): boolean {
    const headEnd = rest.indexOf(HEAD_END)
    if (headEnd < 0) return false
    const head = rest.toString('latin1', 0, headEnd)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
    if (!head.startsWith(`--${boundary}\r\n`) || !/image\/jpeg/.test(head) || !length) {
      throw new Error(`not the head of a frame: ${head}`)
    }
    const start = headEnd + HEAD_END.length
    if (rest.length < start + length + 2) return false
    frames.push(rest.subarray(start, start + length))
    rest = rest.subarray(start + length + 2)
    return true
  }
  const ended = read()
  return {
    status: response.statusCode,
    frames,
    /** How the stream ended: with the last boundary, or without; undefined while it is open. */
    ended,
    newest: () => {
      const frame = frames.at(-1)
      if (!frame) throw new Error('no frame yet')
      return frame
    },
    leave: async () => {
      request.destroy()
      await ended
    },
  }
}
/** Returns how much the lower two thirds of two pictures differ, 0 to 255 on average. */
export async function imageDifference(item: Buffer, other: Buffer): Promise<number> {
  const [a, b] = await Promise.all([thumbnailOf(item), thumbnailOf(other)])
  let sum = 0
  for (const [index, value] of a.entries()) sum += Math.abs(value - (b[index] as number))
  return sum / a.length
}

const thumbnailOf = (jpeg: Buffer) =>
  sharp(jpeg)
    .resize(640, 360)
    .extract({ left: 0, top: 120, width: 640, height: 240 })
    .removeAlpha()
    .raw()
    .toBuffer()
