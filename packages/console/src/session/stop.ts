import { ApiError, HubClosedError, HubError } from '@wheelhouse/sdk'
import { createStore, type Store } from '../ui/store.ts'

/** `pressed`: on its way on every way there is; `recorded`: in force until it is cleared; `refused`: by all of them. */
export type StopRequestState =
  | { readonly phase: 'none' }
  | { readonly phase: 'pressed' }
  | { readonly phase: 'recorded' }
  | { readonly phase: 'refused'; readonly error: unknown }

/** One way for the stop to go. Resolves once it is recorded; whoever takes the signal is told to give up. */
export type StopRoute = (signal: AbortSignal) => Promise<unknown>

export interface StopControl {
  readonly state: Store<StopRequestState>
  /** Presses the stop. Pressing again is never wrong. */
  request(): void
}

const RETRY_DELAY_MS = 1_000

/**
 * The stop of a session, on several ways at once: the first to record it is enough. Once `onRecorded` is done, the
 * page shows the stop that is in force, and the press is forgotten.
 */
export function createStop(
  routes: () => readonly StopRoute[],
  onRecorded: () => Promise<unknown>,
): StopControl {
  const state = createStore<StopRequestState>({ phase: 'none' })
  let current = new AbortController()
  return {
    state,
    request() {
      current.abort()
      const request = new AbortController()
      current = request
      state.set({ phase: 'pressed' })
      Promise.any(routes().map((route) => untilAnswered(route, request.signal))).then(
        () => {
          if (request.signal.aborted) return
          request.abort()
          state.set({ phase: 'recorded' })
          const forget = () => {
            if (current === request) state.set({ phase: 'none' })
          }
          onRecorded().then(forget, forget)
        },
        (failure: AggregateError) => {
          if (!request.signal.aborted) state.set({ phase: 'refused', error: reasonOf(failure) })
        },
      )
    },
  }
}

/** Goes one way again and again until the platform has answered, be it with a refusal. */
async function untilAnswered(route: StopRoute, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await route(signal)
      return
    } catch (cause) {
      if (signal.aborted || isFinal(cause)) throw cause
      await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS))
      if (signal.aborted) throw cause
    }
  }
}

/** The platform has understood and refuses. Nobody's silence is final. */
function isFinal(cause: unknown): boolean {
  if (cause instanceof HubClosedError || cause instanceof RouteClosedError) return true
  if (!(cause instanceof ApiError || cause instanceof HubError)) return false
  const { status } = cause
  return status >= 400 && status < 500 && status !== 401 && status !== 408 && status !== 429
}

/** This way leads nowhere any more. */
export class RouteClosedError extends Error {}

/** What the platform says is better than that a connection has ended. */
const reasonOf = ({ errors }: AggregateError): unknown =>
  errors.find((cause) => cause instanceof ApiError || cause instanceof HubError) ?? errors[0]
