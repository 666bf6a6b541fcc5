/** What a player tells, and what ends it. */
export interface PlayerHooks {
  /** Where the picture goes. */
  readonly host: HTMLElement
  /** What the picture shows, for those who cannot see it. */
  readonly title: string
  /** A frame has been shown. Players that cannot know call it for the first alone. */
  readonly onFrame: () => void
  /** The video has ended or broken off after it had begun. */
  readonly onEnd: (why: string) => void
  /** Aborted when the viewer leaves: the player lets go of everything it holds. */
  readonly signal: AbortSignal
}

/** What can be told of the picture: whether frames can be told apart, so that it is known when the last one came. */
export interface Playing {
  readonly framesKnown: boolean
  /** How far the picture is behind the newest that there is to be had, in seconds, where the way of it is slow. */
  readonly behindS?: () => number
}

/** Plays the video at `url`; settles with the first picture. @throws whatever stood in the way */
export type Player = (url: string, hooks: PlayerHooks) => Promise<Playing>

const FIRST_PICTURE_MS = 8_000

/** A `<video>` in the host, gone when the signal is aborted. */
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

/** Settles when the video shows its first frame; from then on tells of every frame and of its end. */
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
    const why = video.error ? 'the video cannot be played' : 'the video broke off'
    first.reject(new Error(why))
    onEnd(why)
  }
  video.addEventListener('error', failed, { signal })
  video.addEventListener('ended', () => onEnd('the video has ended'), { signal })
  void video.play().catch(() => undefined) // what stands in the way is told by `error`, or no frame comes
  await inTime(first.promise, signal)
}

/** What `promise` settles with, unless the first picture takes too long or the viewer leaves. */
export async function inTime<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('no picture came')), FIRST_PICTURE_MS)
  const left = () => late.reject(new DOMException('The viewer has left', 'AbortError'))
  signal.addEventListener('abort', left)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', left)
  }
}
