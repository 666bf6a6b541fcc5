import { t } from '../texts/texts.ts'
import { inTime, type Player } from './player.ts'

/**
 * Plays MJPEG or a still image. An `<img>` can show other origins without CORS, but does not report its frames.
 */
export const playPicture: Player = async (url, { host, title, onFrame, onEnd, signal }) => {
  const image = document.createElement('img')
  image.alt = title
  const first = Promise.withResolvers<void>()
  image.addEventListener('load', () => {
    onFrame()
    first.resolve()
  })
  image.addEventListener('error', () => {
    first.reject(new Error(t('video.problem.noImage')))
    onEnd(t('video.problem.interrupted'))
  })
  // Otherwise the browser continues to load a stream that is no longer shown.
  signal.addEventListener('abort', () => {
    image.src = ''
    image.remove()
  })
  image.src = url
  host.replaceChildren(image)
  await inTime(first.promise, signal)
  return { framesKnown: false }
}

/** Plays a still image: its age is known, because no other frame follows. */
export const playSnapshot: Player = async (url, hooks) => {
  await playPicture(url, hooks)
  return { framesKnown: true }
}
