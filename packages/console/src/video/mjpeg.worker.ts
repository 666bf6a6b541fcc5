import type { FromMjpegWorker } from './mjpeg.ts'
import { MjpegParts } from './mjpeg-parts.ts'

// Reads and decodes MJPEG in a worker, so that decoding does not delay control frames on the main thread. It loads no catalogue:
// the page has the texts.

let shown: (() => void) | undefined
self.addEventListener('message', ({ data }: MessageEvent<string | undefined>) => {
  if (data === undefined) shown?.()
  else play(data).then(postToPage, () => postToPage({ ended: 'interrupted' }))
})

const postToPage = (message: FromMjpegWorker, transfer: Transferable[] = []) =>
  self.postMessage(message, { transfer })

/** Decodes and posts one picture after the other. Several that arrive while one is drawn are skipped for the newest. */
async function play(url: string): Promise<FromMjpegWorker> {
  const response = await fetch(url, { credentials: 'same-origin' })
  if (!response.ok || !response.body) return { ended: 'rejected', status: response.status }
  const parts = new MjpegParts(response.headers.get('Content-Type') ?? '')
  for await (const chunk of iterate(response.body)) {
    const jpeg = parts.add(chunk)
    if (jpeg) await show(jpeg)
  }
  return { ended: 'completed' }
}

async function show(jpeg: Uint8Array<ArrayBuffer>): Promise<void> {
  const picture = await createImageBitmap(new Blob([jpeg], { type: 'image/jpeg' }))
  const { promise, resolve } = Promise.withResolvers<void>()
  shown = resolve
  postToPage({ picture }, [picture])
  await promise
}

async function* iterate<T>(body: ReadableStream<T>): AsyncGenerator<T> {
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}
