import { t } from '../texts/texts.ts'
import type { StreamFigures } from './stream-figures.ts'

/** The callbacks of a player and the signal that ends it. */
export interface PlayerHooks {
  /** The parent element of the video. */
  readonly host: HTMLElement
  /** The accessible name of the video. */
  readonly title: string
  /** Runs for every shown frame, or only for the first one if the player cannot detect frames. */
  readonly onFrame: () => void
  /** Runs when a started video has ended or was interrupted. */
  readonly onEnd: (reason: string) => void
  /** Aborts when the viewer leaves. The player then releases all resources. */
  readonly signal: AbortSignal
}

/** The properties of a playing video. `framesKnown`: the player reports every frame, so the age is known. */
export interface Playing {
  readonly framesKnown: boolean
  /** Returns the delay behind the camera in seconds, for slow transports; undefined while it is unknown. */
  readonly behindS?: () => number | undefined
  /** Reads how the video arrives, for WebRTC. */
  readonly readFigures?: () => Promise<StreamFigures | undefined>
}

/** Plays the video at `url`. Resolves with the first picture. @throws if the video cannot be played */
export type Player = (url: string, hooks: PlayerHooks) => Promise<Playing>

const FIRST_PICTURE_TIMEOUT_MS = 8_000

/** Creates a `<video>` in the host. The signal removes it. */
export function videoElement({ host, title, signal }: PlayerHooks): HTMLVideoElement {
  const video = document.createElement('video')
  video.muted = true
  video.autoplay = true
  video.playsInline = true
  video.setAttribute('aria-label', title)
  host.replaceChildren(video)
  signal.addEventListener('abort', () => {
    video.srcObject = null
    video.removeAttribute('src')
    video.load()
    video.remove()
  })
  return video
}

/** Resolves when the video shows its first frame. Reports every frame and the end of the video. */
export async function follow(
  video: HTMLVideoElement,
  { onFrame, onEnd, signal }: PlayerHooks,
): Promise<void> {
  const first = Promise.withResolvers<void>()
  const next = () => {
    if (signal.aborted) return
    onFrame()
    first.resolve()
    video.requestVideoFrameCallback(next)
  }
  video.requestVideoFrameCallback(next)
  const failed = () => {
    const reason = video.error ? t('video.problem.unplayable') : t('video.problem.interrupted')
    first.reject(new Error(reason))
    onEnd(reason)
  }
  video.addEventListener('error', failed, { signal })
  video.addEventListener('ended', () => onEnd(t('video.problem.videoEnded')), { signal })
  void video.play().catch(() => undefined) // the `error` event or the timeout reports a failure
  await inTime(first.promise, signal)
}

/** The camera responded, but sent no picture in time. */
export class SilentCameraError extends Error {
  constructor() {
    super(t('video.problem.silent'))
  }
}

/**
 * Settles like `promise`, but rejects when the first picture takes too long or the viewer leaves.
 * @throws SilentCameraError
 */
export async function inTime<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new SilentCameraError()), FIRST_PICTURE_TIMEOUT_MS)
  const left = () => late.reject(new DOMException('The viewer has left', 'AbortError'))
  signal.addEventListener('abort', left)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', left)
  }
}
