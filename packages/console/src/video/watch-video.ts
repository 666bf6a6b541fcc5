import { createStore, type Store } from '../ui/store.ts'
import { playersFor } from './find-player.ts'
import type { Player, Playing } from './player.ts'
import { videoUrl } from './video-url.ts'

/** `looking`: finding out what answers; `showing`: there is a picture; `lost`: it will be tried again. */
export type VideoPhase = 'looking' | 'showing' | 'lost'

export interface VideoState {
  readonly phase: VideoPhase
  /** Why there is no picture; of the last attempt. */
  readonly why: string | undefined
  /** What the player tells of the picture that is shown; without one, nothing is known. */
  readonly playing: Playing
}

/** One viewer of one video. */
export interface VideoWatch {
  readonly state: Store<VideoState>
  /** When the last frame was shown, by `performance.now()`; undefined before the first. */
  lastFrameMs(): number | undefined
  /** Tries again at once. */
  retry(): void
  close(): void
}

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000
/** A picture that stood this long was a good one: its end starts the waits afresh. */
const STABLE_MS = 10_000
const NOTHING: Playing = { framesKnown: false }

/** A browser says no more of a request that failed than its own name for that. */
const whyLost = (cause: unknown): string =>
  cause instanceof Error && !(cause instanceof TypeError) ? cause.message : 'the camera does not answer'

/** Shows the video at `url` in `host`, and comes back to it as long as it takes. */
export function watchVideo(url: string, title: string, host: HTMLElement): VideoWatch {
  const state = createStore<VideoState>({ phase: 'looking', why: undefined, playing: NOTHING })
  let attempt = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let lastFrameMs: number | undefined
  let failedAttempts = 0
  let closed = false

  function lost(ownAttempt: AbortController, why: string): void {
    if (ownAttempt !== attempt || closed || ownAttempt.signal.aborted) return
    ownAttempt.abort()
    state.set({ phase: 'lost', why, playing: NOTHING })
    const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failedAttempts++)
    timer = setTimeout(() => void begin(), waitMs * (0.75 + Math.random() / 2))
  }

  async function begin(): Promise<void> {
    clearTimeout(timer)
    attempt.abort()
    const ownAttempt = new AbortController()
    attempt = ownAttempt
    state.update((old) => ({ ...old, phase: 'looking' }))
    try {
      const address = videoUrl(url)
      if (address === undefined) throw new Error('its address is none of the web')
      const playing = await playFirst(address, await playersFor(address, ownAttempt.signal), ownAttempt)
      const sinceMs = performance.now()
      state.set({ phase: 'showing', why: undefined, playing })
      ownAttempt.signal.addEventListener('abort', () => {
        if (performance.now() - sinceMs >= STABLE_MS) failedAttempts = 0
      })
    } catch (cause) {
      lost(ownAttempt, whyLost(cause))
    }
  }

  /** Tries one player after the other; each has a signal of its own, so that none leaves anything behind. */
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
      const onEnd = (why: string) => shown && lost(ownAttempt, why)
      try {
        return await play(address, { ...hooks, onFrame, onEnd })
      } catch (cause) {
        playerAbort.abort()
        ownAttempt.signal.throwIfAborted()
        problem = cause
      }
    }
    throw problem
  }

  void begin()
  return {
    state,
    lastFrameMs: () => lastFrameMs,
    retry: () => void begin(),
    close() {
      closed = true
      clearTimeout(timer)
      attempt.abort()
    },
  }
}
