import { t } from '../texts/texts.ts'
import { playMjpeg } from './mjpeg.ts'
import { follow, inTime, type Player, videoElement } from './player.ts'
import { playWhep } from './whep.ts'

/**
 * Plays MJPEG or a still image. An `<img>` can show other origins without CORS, but does not report its frames.
 */
const playPicture: Player = async (url, { host, title, onFrame, onEnd, signal }) => {
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
const playSnapshot: Player = async (url, hooks) => {
  await playPicture(url, hooks)
  return { framesKnown: true }
}

const PROBE_TIMEOUT_MS = 5_000

/**
 * Returns the players to try, in order, by the response of an address. Only a camera that allows this origin (CORS)
 * can be probed. For other cameras the address itself is a hint.
 */
export async function playersFor(url: string, signal: AbortSignal): Promise<readonly Player[]> {
  const response = await probe(url, signal)
  if (response === undefined) return byAddress(url)
  if (response.type.startsWith('multipart/x-mixed-replace')) return [playMjpeg, playPicture]
  if (response.type.startsWith('image/')) return [playSnapshot]
  if (/mpegurl/.test(response.type)) return [playHls]
  if (response.type.startsWith('video/')) return [playFile]
  if (response.status >= 500) throw new Error(t('video.problem.answered', { status: response.status }))
  // WHEP servers do not identify themselves in response to a GET request.
  return [playWhep]
}

function byAddress(url: string): readonly Player[] {
  const { pathname } = new URL(url, location.href)
  if (/\.m3u8$/i.test(pathname)) return [playHls]
  if (/whep\/?$/i.test(pathname)) return [playWhep]
  // Excludes HLS, because a playlist that this page may not read cannot be played.
  return [playPicture, playWhep]
}

/** Returns the response of an address, undefined if it is unreadable or missing. */
async function probe(
  url: string,
  signal: AbortSignal,
): Promise<{ status: number; type: string } | undefined> {
  const probeAbort = new AbortController()
  const ended = AbortSignal.any([signal, probeAbort.signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)])
  try {
    const { status, headers } = await fetch(url, { signal: ended, credentials: 'omit' })
    return { status, type: headers.get('Content-Type')?.toLowerCase() ?? '' }
  } catch {
    signal.throwIfAborted()
    return undefined
  } finally {
    probeAbort.abort()
  }
}

const HLS_TYPE = 'application/vnd.apple.mpegurl'

/** Plays HLS with hls.js, loaded on demand, or natively. */
const playHls: Player = async (url, hooks) => {
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

const playFile: Player = async (url, hooks) => {
  const video = videoElement(hooks)
  video.loop = true
  video.src = url
  await follow(video, hooks)
  return { framesKnown: true }
}
