import { t } from '../texts/texts.ts'
import { follow, type Player, videoElement } from './player.ts'

const HLS_TYPE = 'application/vnd.apple.mpegurl'

/** Plays HLS with hls.js, loaded on demand, or natively. */
export const playHls: Player = async (url, hooks) => {
  const { default: Hls } = await import('hls.js')
  hooks.signal.throwIfAborted()
  const video = videoElement(hooks)
  const broken = Promise.withResolvers<never>()
  let behindS: (() => number) | undefined
  broken.promise.catch(() => undefined) // after the first frame, `onEnd` reports it
  if (!Hls.isSupported()) {
    if (video.canPlayType(HLS_TYPE) === '') throw new Error(t('video.problem.noHls'))
    video.src = url
  } else {
    const hls = new Hls({ lowLatencyMode: true, liveSyncDurationCount: 1, backBufferLength: 10 })
    hooks.signal.addEventListener('abort', () => hls.destroy())
    hls.on(Hls.Events.ERROR, (_event, { fatal }) => {
      if (!fatal) return
      broken.reject(new Error(t('video.problem.unplayable')))
      hooks.onEnd(t('video.problem.interrupted'))
    })
    behindS = () => hls.latency
    hls.loadSource(url)
    hls.attachMedia(video)
  }
  await Promise.race([follow(video, hooks), broken.promise])
  return { framesKnown: true, ...(behindS && { behindS }) }
}

/** Plays a video file natively. */
export const playFile: Player = async (url, hooks) => {
  const video = videoElement(hooks)
  video.loop = true
  video.src = url
  await follow(video, hooks)
  return { framesKnown: true }
}
