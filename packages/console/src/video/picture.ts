import { inTime, type Player } from './player.ts'

/**
 * A moving picture (MJPEG) or a still. An `<img>` needs nobody's permission to show what is at another origin, but
 * does not tell of its frames.
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
    first.reject(new Error('there is no picture'))
    onEnd('the picture broke off')
  })
  // Without this a browser goes on loading a moving picture that is no longer shown.
  signal.addEventListener('abort', () => {
    image.src = ''
    image.remove()
  })
  image.src = url
  host.replaceChildren(image)
  await inTime(first.promise, signal)
  return { framesKnown: false }
}
