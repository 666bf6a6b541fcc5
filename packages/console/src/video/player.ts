import { t } from '../texts/texts.ts'

/** The callbacks of a player and the signal that ends it. */
export interface PlayerHooks {
  readonly host: HTMLElement
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
  /** Returns when the newest shown frame was captured, by `performance.now()`; undefined while it is unknown. For WebRTC. */
  readonly capturedMs?: () => number | undefined
  /** Reads how the video arrives, for WebRTC. */
  readonly readFigures?: () => Promise<StreamFigures | undefined>
  /** The sound beside the picture, for WebRTC with sound. The video itself is muted. */
  readonly sound?: SoundLine
}

/** The sound of a camera, and the way of speech to its robot. */
export interface SoundLine {
  /** Silent while the camera sends none. */
  readonly track: MediaStreamTrack
  /** Sends a microphone in place of what was sent before, null for nothing. Undefined if the robot does not take this page's sound. */
  readonly send?: (microphone: MediaStreamTrack | null) => Promise<void>
  /** Aborts together with the picture. */
  readonly ended: AbortSignal
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

export interface StreamFigures {
  /** Time from the capture of the newest frame to its display; undefined if the server does not send the capture times. */
  readonly latencyMs: number | undefined
  readonly framesPerSecond: number
  readonly bitsPerSecond: number
  /** Lost packets of the last interval, 0 to 1. */
  readonly lostShare: number
  /** Number of times that the picture froze since the video began. */
  readonly freezes: number
}

/** Returns a function that reads the figures since its last call; undefined on the first one. */
export function createFigureReader(
  peer: Pick<RTCPeerConnection, 'getStats'>,
  latencyMs: () => number | undefined,
): () => Promise<StreamFigures | undefined> {
  let before: ReturnType<typeof countersOf>
  return async () => {
    const now = countersOf(await peer.getStats())
    const last = before
    before = now
    if (!now || !last || now.atMs <= last.atMs) return undefined
    const seconds = (now.atMs - last.atMs) / 1_000
    const lost = Math.max(0, now.lost - last.lost)
    const packets = now.packets - last.packets + lost
    return {
      latencyMs: latencyMs(),
      framesPerSecond: (now.frames - last.frames) / seconds,
      bitsPerSecond: ((now.bytes - last.bytes) * 8) / seconds,
      lostShare: packets > 0 ? lost / packets : 0,
      freezes: now.freezes,
    }
  }
}

/** Returns the counters of a video since it began. */
function countersOf(report: RTCStatsReport) {
  const all = [...report.values()] as readonly (RTCInboundRtpStreamStats & { freezeCount?: number })[]
  const stats = all.find(({ type, kind }) => type === 'inbound-rtp' && kind === 'video')
  return (
    stats && {
      atMs: stats.timestamp,
      bytes: stats.bytesReceived ?? 0,
      packets: stats.packetsReceived ?? 0,
      lost: stats.packetsLost ?? 0,
      frames: stats.framesDecoded ?? 0,
      freezes: stats.freezeCount ?? 0,
    }
  )
}
