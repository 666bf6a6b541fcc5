import { ApiError, HubClosedError, HubError } from '@wheelhouse/sdk'
import { createStore, type Store } from '../ui/store.ts'

/** `pressed`: on its way on every way there is; `recorded`: in force until it is cleared; `refused`: by all of them. */
export type StopPress =
  | { readonly phase: 'none' }
  | { readonly phase: 'pressed' }
  | { readonly phase: 'recorded' }
  | { readonly phase: 'refused'; readonly error: unknown }

/** One way for the stop to go. Resolves once it is recorded; whoever takes the signal is told to give up. */
export type StopWay = (signal: AbortSignal) => Promise<unknown>

export interface Stop {
  readonly state: Store<StopPress>
  /** Presses the stop. Pressing again is never wrong. */
  press(): void
}

const AGAIN_MS = 1_000

/**
 * The stop of a session, on several ways at once: the first to record it is enough. Once `onRecorded` is done, the
 * page shows the stop that is in force, and the press is forgotten.
 */
export function createStop(ways: () => readonly StopWay[], onRecorded: () => Promise<unknown>): Stop {
  const state = createStore<StopPress>({ phase: 'none' })
  let current = new AbortController()
  return {
    state,
    press() {
      current.abort()
      const press = new AbortController()
      current = press
      state.set({ phase: 'pressed' })
      Promise.any(ways().map((way) => untilAnswered(way, press.signal))).then(
        () => {
          if (press.signal.aborted) return
          press.abort()
          state.set({ phase: 'recorded' })
          const forget = () => {
            if (current === press) state.set({ phase: 'none' })
          }
          onRecorded().then(forget, forget)
        },
        (failure: AggregateError) => {
          if (!press.signal.aborted) state.set({ phase: 'refused', error: reasonOf(failure) })
        },
      )
    },
  }
}

/** Goes one way again and again until the platform has answered, be it with a refusal. */
async function untilAnswered(way: StopWay, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await way(signal)
      return
    } catch (cause) {
      if (signal.aborted || isFinal(cause)) throw cause
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      if (signal.aborted) throw cause
    }
  }
}

/** The platform has understood and refuses. Nobody's silence is final. */
function isFinal(cause: unknown): boolean {
  if (cause instanceof HubClosedError || cause instanceof WayEndedError) return true
  if (!(cause instanceof ApiError || cause instanceof HubError)) return false
  const { status } = cause
  return status >= 400 && status < 500 && status !== 401 && status !== 408 && status !== 429
}

/** This way leads nowhere any more. */
export class WayEndedError extends Error {}

/** What the platform says is better than that a connection has ended. */
const reasonOf = ({ errors }: AggregateError): unknown =>
  errors.find((cause) => cause instanceof ApiError || cause instanceof HubError) ?? errors[0]
