import { inTime, type Player } from './player.ts'

/** A picture to be shown, which is answered once it is; or why there are no more. */
export type FromMjpegWorker = { readonly picture: ImageBitmap } | { readonly ended: string }

/** MJPEG where this page may read it: frame by frame, so that it is known how old the picture is. */
export const playMjpeg: Player = async (url, { host, title, onFrame, onEnd, signal }) => {
  const canvas = document.createElement('canvas')
  canvas.setAttribute('role', 'img')
  canvas.setAttribute('aria-label', title)
  const context = canvas.getContext('bitmaprenderer')
  const worker = new Worker(new URL('./mjpeg.worker.ts', import.meta.url), { type: 'module' })
  signal.addEventListener('abort', () => {
    worker.terminate()
    canvas.remove()
  })
  const first = Promise.withResolvers<void>()
  const end = (why: string) => {
    first.reject(new Error(why))
    if (!signal.aborted) onEnd(why)
  }
  const show = (picture: ImageBitmap) => {
    if (canvas.width !== picture.width) canvas.width = picture.width
    if (canvas.height !== picture.height) canvas.height = picture.height
    context?.transferFromImageBitmap(picture)
    if (!canvas.isConnected) host.replaceChildren(canvas)
    worker.postMessage(undefined)
    onFrame()
    first.resolve()
  }
  worker.addEventListener('message', ({ data }: MessageEvent<FromMjpegWorker>) => {
    if ('ended' in data) end(data.ended)
    else if (!signal.aborted) show(data.picture)
  })
  worker.addEventListener('error', () => end('the picture cannot be read by this browser'))
  worker.postMessage(new URL(url, location.href).href)
  await inTime(first.promise, signal)
  return { framesKnown: true }
}
