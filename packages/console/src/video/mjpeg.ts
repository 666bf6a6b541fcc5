import { t } from '../texts/texts.ts'
import { inTime, type Player } from './player.ts'

/** Why a worker has ended. `rejected`: by the status of the response. */
type MjpegEnd =
  | { readonly ended: 'interrupted' | 'completed' }
  | { readonly ended: 'rejected'; readonly status: number }

/** A picture, which the page acknowledges once it is shown, or the reason of the end. */
export type FromMjpegWorker = { readonly picture: ImageBitmap } | MjpegEnd

function endText(end: MjpegEnd): string {
  if (end.ended === 'rejected') return t('video.problem.answered', { status: end.status })
  return end.ended === 'completed' ? t('video.problem.completed') : t('video.problem.interrupted')
}

/** Plays MJPEG that this page may read, frame by frame, so that the age of the picture is known. */
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
  const end = (reason: string) => {
    first.reject(new Error(reason))
    if (!signal.aborted) onEnd(reason)
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
    if ('ended' in data) end(endText(data))
    else if (!signal.aborted) show(data.picture)
  })
  worker.addEventListener('error', () => end(t('video.problem.unreadable')))
  worker.postMessage(new URL(url, location.href).href)
  await inTime(first.promise, signal)
  return { framesKnown: true }
}
