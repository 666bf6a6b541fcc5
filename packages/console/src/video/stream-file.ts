import { follow, type Player, videoElement } from './player.ts'

const HLS_TYPE = 'application/vnd.apple.mpegurl'

/** HLS: by hls.js, which is loaded when it is needed, else by the browser itself. */
export const playHls: Player = async (url, hooks) => {
  const { default: Hls } = await import('hls.js')
  hooks.signal.throwIfAborted()
  const video = videoElement(hooks)
  const broken = Promise.withResolvers<never>()
  let behindS: (() => number) | undefined
  broken.promise.catch(() => undefined) // after the first frame, `onEnd` tells of it
  if (!Hls.isSupported()) {
    if (video.canPlayType(HLS_TYPE) === '') throw new Error('this browser plays no HLS')
    video.src = url
  } else {
    const hls = new Hls({ lowLatencyMode: true, liveSyncDurationCount: 1, backBufferLength: 10 })
    hooks.signal.addEventListener('abort', () => hls.destroy())
    hls.on(Hls.Events.ERROR, (_event, { fatal }) => {
      if (!fatal) return
      broken.reject(new Error('the video cannot be played'))
      hooks.onEnd('the video broke off')
    })
    behindS = () => hls.latency
    hls.loadSource(url)
    hls.attachMedia(video)
  }
  await Promise.race([follow(video, hooks), broken.promise])
  return { framesKnown: true, ...(behindS && { behindS }) }
}

/** A video file that the browser plays by itself. */
export const playFile: Player = async (url, hooks) => {
  const video = videoElement(hooks)
  video.loop = true
  video.src = url
  await follow(video, hooks)
  return { framesKnown: true }
}
