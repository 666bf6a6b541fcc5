import { createStore } from '../base/store.ts'
import type { FreshnessAges } from '../freshness/freshness.ts'
import { t } from '../texts/texts.ts'
import { playersFor } from './find-player.ts'
import { type Player, type Playing, SilentCameraError } from './player.ts'

export interface VideoSource {
  readonly url: string
  /** Plays it; without one, the response of the address decides. */
  readonly player?: Player
  /** The shortest and the longest wait between two attempts. Default: 1 s and 30 s. */
  readonly minBackoffMs?: number
  readonly maxBackoffMs?: number
}

/** `connecting`: probing the address. `showing`: a picture is visible. `lost`: waiting for the next attempt. */
type VideoPhase = 'connecting' | 'showing' | 'lost'

interface VideoState {
  readonly phase: VideoPhase
  readonly reason: string | undefined
  /** When the next attempt begins, by `performance.now()`; undefined unless the video is lost. */
  readonly retryAtMs: number | undefined
  readonly playing: Playing
}

type PictureAges = Pick<
  FreshnessAges,
  'pictureMs' | 'pictureDelayMs' | 'isPictureAwaited' | 'isCameraUnreachable'
>

export type VideoWatch = ReturnType<typeof watchVideo>

const MIN_BACKOFF_MS = 1_000
const MAX_BACKOFF_MS = 30_000
/** A video that played this long resets the backoff. */
const STABLE_MS = 10_000
const UNKNOWN: Playing = { framesKnown: false }

/** Returns the reason of a failure. A TypeError of `fetch` carries no useful message. */
const whyLost = (cause: unknown): string =>
  cause instanceof Error && !(cause instanceof TypeError) ? cause.message : t('video.problem.noResponse')

/** Shows a video in `host` and retries with backoff. */
export function watchVideo(source: VideoSource, title: string, host: HTMLElement) {
  const { url, player, minBackoffMs = MIN_BACKOFF_MS, maxBackoffMs = MAX_BACKOFF_MS } = source
  const openedMs = performance.now()
  const state = createStore<VideoState>({
    phase: 'connecting',
    reason: undefined,
    retryAtMs: undefined,
    playing: UNKNOWN,
  })
  let attempt = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let lastFrameMs: number | undefined
  let failedAttempts = 0
  let closed = false

  function lost(ownAttempt: AbortController, reason: string): void {
    if (ownAttempt !== attempt || closed || ownAttempt.signal.aborted) return
    ownAttempt.abort()
    const nowMs = performance.now()
    // Its frames were not detected, so that the age is known only from now on.
    if (areFramesUnknown()) lastFrameMs = nowMs
    const waitMs = Math.min(maxBackoffMs, minBackoffMs * 2 ** failedAttempts++) * (0.75 + Math.random() / 2)
    state.set({ phase: 'lost', reason, retryAtMs: nowMs + waitMs, playing: UNKNOWN })
    timer = setTimeout(() => void begin(), waitMs)
  }

  function areFramesUnknown(): boolean {
    const { phase, playing } = state.get()
    return phase === 'showing' && !playing.framesKnown
  }

  async function begin(): Promise<void> {
    clearTimeout(timer)
    attempt.abort()
    const ownAttempt = new AbortController()
    attempt = ownAttempt
    state.update((old) => ({ ...old, phase: 'connecting', retryAtMs: undefined }))
    try {
      const address = videoUrl(url)
      if (address === undefined) throw new Error(t('video.problem.address'))
      const players = player ? [player] : await playersFor(address, ownAttempt.signal)
      const playing = await playFirst(address, players, ownAttempt)
      const sinceMs = performance.now()
      state.set({ phase: 'showing', reason: undefined, retryAtMs: undefined, playing })
      ownAttempt.signal.addEventListener('abort', () => {
        if (performance.now() - sinceMs >= STABLE_MS) failedAttempts = 0
      })
    } catch (cause) {
      lost(ownAttempt, whyLost(cause))
    }
  }

  /**
   * Tries one player after the other. Each has its own signal, so that a failed player releases its resources. A player whose
   * camera sends nothing is tried again: the next one may show pictures without their age, and would stay.
   */
  async function playFirst(address: string, players: readonly Player[], ownAttempt: AbortController) {
    let problem: unknown
    for (const play of players) {
      const playerAbort = new AbortController()
      const signal = AbortSignal.any([playerAbort.signal, ownAttempt.signal])
      let shown = false
      const hooks = { host, title, signal }
      const onFrame = () => {
        lastFrameMs = performance.now()
        shown = true
      }
      const onEnd = (reason: string) => shown && lost(ownAttempt, reason)
      try {
        return await play(address, { ...hooks, onFrame, onEnd })
      } catch (cause) {
        playerAbort.abort()
        ownAttempt.signal.throwIfAborted()
        if (cause instanceof SilentCameraError) throw cause
        problem = cause
      }
    }
    throw problem
  }

  /**
   * Returns how old the shown picture is in milliseconds, with the known delay of its transport; before the first picture,
   * how long the page has been waiting for it; `unknown` while the player cannot detect frames, or does not know their delay.
   */
  function pictureMs(): number | 'unknown' {
    const seconds = behindS()
    if (areFramesUnknown() || seconds === undefined) return 'unknown'
    return performance.now() - (lastFrameMs ?? openedMs) + seconds * 1_000
  }

  const behindS = () => {
    const { playing } = state.get()
    return playing.behindS ? playing.behindS() : 0
  }

  void begin()
  return {
    state,
    pictureMs,
    /** Returns the same as freshness needs it: with the delay of the transport, and what is wrong with the picture. */
    ages: (): PictureAges => ({
      pictureMs: pictureMs(),
      pictureDelayMs: (behindS() ?? 0) * 1_000,
      isPictureAwaited: lastFrameMs === undefined,
      // While the page tries again, the reason of the last failure remains.
      isCameraUnreachable: state.get().reason !== undefined,
    }),
    /** Returns when the shown picture was captured, by `performance.now()`; undefined while it is unknown. */
    capturedMs: () => state.get().playing.capturedMs?.(),
    retry: () => void begin(),
    /** Retries a lost picture at once, and soon again: what made the earlier attempts fail may be over. */
    reconnected(): void {
      failedAttempts = 0
      if (state.get().phase === 'lost') void begin()
    },
    close(): void {
      closed = true
      clearTimeout(timer)
      attempt.abort()
    },
  }
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Returns the address of a video. An address of this page's origin under another loopback name (localhost, 127.0.0.1)
 * becomes a path, which makes it same-origin.
 * @returns undefined for an address that is not http or https
 */
export function videoUrl(url: string): string | undefined {
  const target = URL.parse(url, location.href)
  if (!target) return undefined
  if (target.protocol !== 'http:' && target.protocol !== 'https:') return undefined
  const sameMachine = LOOPBACK.has(target.hostname) && LOOPBACK.has(location.hostname)
  if (!sameMachine || target.port !== location.port || target.protocol !== location.protocol)
    return target.href
  return target.pathname + target.search
}
