import type { FromMjpegWorker } from './mjpeg.ts'

// Reads and decodes MJPEG in a worker, so that decoding does not delay control frames on the main thread.

const MAX_PART_BYTES = 8_000_000
const HEAD_END = [13, 10, 13, 10]

let shown: (() => void) | undefined
self.addEventListener('message', ({ data }: MessageEvent<string | undefined>) => {
  if (data === undefined) shown?.()
  else play(data).then(postToPage, () => postToPage({ ended: 'the video was interrupted' }))
})

const postToPage = (message: FromMjpegWorker, transfer: Transferable[] = []) =>
  self.postMessage(message, { transfer })

async function play(url: string): Promise<FromMjpegWorker> {
  const response = await fetch(url, { credentials: 'same-origin' })
  if (!response.ok || !response.body) return { ended: `the camera answered ${response.status}` }
  await readParts(response.body, async (jpeg) => {
    const picture = await createImageBitmap(new Blob([jpeg], { type: 'image/jpeg' }))
    const { promise, resolve } = Promise.withResolvers<void>()
    shown = resolve
    postToPage({ picture }, [picture])
    await promise
  })
  return { ended: 'the camera ended the video' }
}

/**
 * Reads the parts of a `multipart/x-mixed-replace` body, each with its length. Skips to the newest part when several
 * arrived while one was drawn, because low latency matters more than every frame.
 */
async function readParts(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  show: (part: Uint8Array<ArrayBuffer>) => Promise<void>,
): Promise<void> {
  let rest = new Uint8Array()
  for await (const chunk of iterate(body)) {
    rest = concat(rest, chunk)
    let newest: Uint8Array<ArrayBuffer> | undefined
    for (let part = takePart(rest); part; part = takePart(rest)) {
      rest = part.rest
      newest = part.jpeg
    }
    if (newest) await show(newest)
    if (rest.length > MAX_PART_BYTES) throw new Error('the video contains no frame')
  }
}

async function* iterate<T>(body: ReadableStream<T>): AsyncGenerator<T> {
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}

function concat(first: Uint8Array<ArrayBuffer>, second: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (first.length === 0) return second
  const joinedBytes = new Uint8Array(first.length + second.length)
  joinedBytes.set(first)
  joinedBytes.set(second, first.length)
  return joinedBytes
}

/** Returns the first complete part and the remaining bytes. @throws for a part without a length */
function takePart(bytes: Uint8Array<ArrayBuffer>) {
  const headEnd = bytes.findIndex((_, at) => HEAD_END.every((byte, index) => bytes[at + index] === byte))
  if (headEnd < 0) return undefined
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, headEnd))
  const length = Number(/content-length:\s*(\d+)/i.exec(head)?.[1] ?? Number.NaN)
  if (!Number.isFinite(length)) throw new Error('a frame has no length')
  const start = headEnd + HEAD_END.length
  if (bytes.length < start + length) return undefined
  return { jpeg: bytes.slice(start, start + length), rest: bytes.slice(start + length) }
}
