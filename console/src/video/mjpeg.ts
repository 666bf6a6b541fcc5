import { inTime, type Player } from './player.ts'

const MAX_PART_BYTES = 8_000_000
const HEAD_END = [13, 10, 13, 10]

/** MJPEG where this page may read it: frame by frame, so that it is known how old the picture is. */
export const playMjpeg: Player = async (url, { host, title, onFrame, onEnd, signal }) => {
  const response = await inTime(fetch(url, { signal, credentials: 'same-origin' }), signal)
  if (!response.ok || !response.body) throw new Error(`the camera answered ${response.status}`)
  const canvas = document.createElement('canvas')
  canvas.setAttribute('role', 'img')
  canvas.setAttribute('aria-label', title)
  const first = Promise.withResolvers<void>()
  const show = async (jpeg: Uint8Array<ArrayBuffer>) => {
    const picture = await createImageBitmap(new Blob([jpeg], { type: 'image/jpeg' }))
    if (!signal.aborted) {
      draw(canvas, picture)
      if (!canvas.isConnected) host.replaceChildren(canvas)
      onFrame()
      first.resolve()
    }
    picture.close()
  }
  signal.addEventListener('abort', () => canvas.remove())
  readParts(response.body, show).then(
    () => end('the camera has ended the picture'),
    () => end('the picture broke off'),
  )
  const end = (why: string) => {
    first.reject(new Error(why))
    if (!signal.aborted) onEnd(why)
  }
  await inTime(first.promise, signal)
  return { framesKnown: true }
}

function draw(canvas: HTMLCanvasElement, picture: ImageBitmap): void {
  if (canvas.width !== picture.width) canvas.width = picture.width
  if (canvas.height !== picture.height) canvas.height = picture.height
  canvas.getContext('2d')?.drawImage(picture, 0, 0)
}

/**
 * Reads the parts of a `multipart/x-mixed-replace` body, each with its length. Of several that have come while one
 * was being drawn, the newest is shown: a picture that lags behind is worse than one that misses frames.
 */
async function readParts(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  show: (part: Uint8Array<ArrayBuffer>) => Promise<void>,
): Promise<void> {
  let rest = new Uint8Array()
  for await (const chunk of iterate(body)) {
    rest = joined(rest, chunk)
    let newest: Uint8Array<ArrayBuffer> | undefined
    for (let part = takePart(rest); part; part = takePart(rest)) {
      rest = part.rest
      newest = part.jpeg
    }
    if (newest) await show(newest)
    if (rest.length > MAX_PART_BYTES) throw new Error('no frame can be found in the picture')
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

function joined(one: Uint8Array<ArrayBuffer>, other: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (one.length === 0) return other
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}

/** The first part that has all arrived, and what follows it. @throws for a part that does not tell its length */
function takePart(bytes: Uint8Array<ArrayBuffer>) {
  const headEnd = bytes.findIndex((_, at) => HEAD_END.every((byte, index) => bytes[at + index] === byte))
  if (headEnd < 0) return undefined
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, headEnd))
  const length = Number(/content-length:\s*(\d+)/i.exec(head)?.[1] ?? Number.NaN)
  if (!Number.isFinite(length)) throw new Error('a frame without a length')
  const start = headEnd + HEAD_END.length
  if (bytes.length < start + length) return undefined
  return { jpeg: bytes.slice(start, start + length), rest: bytes.slice(start + length) }
}
