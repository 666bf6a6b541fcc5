import { ApiError, answerOf, HubClosedError, HubError, type RestClient } from '@wheelhouse/sdk'
import { createStore, type Store } from '../base/store.ts'

/** `requested`: being sent over all routes. `recorded`: in force until cleared. `rejected`: by all routes. */
export type StopRequestState =
  | { readonly phase: 'none' }
  | { readonly phase: 'requested' }
  | { readonly phase: 'recorded' }
  | { readonly phase: 'rejected'; readonly error: unknown }

/** Sends the stop over one route and resolves once it is recorded. The signal aborts the request. */
export type StopRoute = (signal: AbortSignal) => Promise<unknown>

export interface StopControl {
  readonly state: Store<StopRequestState>
  /** Requests the stop. Safe to call again. */
  request(): void
}

const RETRY_DELAY_MS = 1_000

/**
 * Creates the stop of a session. It goes over several routes at once until the first one has recorded it. The request
 * is forgotten after `onRecorded`, when the page shows the stop in force.
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
      state.set({ phase: 'requested' })
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
          if (!request.signal.aborted) state.set({ phase: 'rejected', error: reasonOf(failure) })
        },
      )
    },
  }
}

/** Retries one route until the platform accepts or rejects the stop. */
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

/** Returns whether the platform rejected the stop. A missing response is not final. */
function isFinal(cause: unknown): boolean {
  if (cause instanceof HubClosedError || cause instanceof RouteClosedError) return true
  if (!(cause instanceof ApiError || cause instanceof HubError)) return false
  const { status } = cause
  return status >= 400 && status < 500 && status !== 401 && status !== 408 && status !== 429
}

/** The route is closed. A retry is pointless. */
export class RouteClosedError extends Error {}

/** Returns the most useful error: an answer of the platform rather than a closed connection. */
const reasonOf = ({ errors }: AggregateError): unknown =>
  errors.find((cause) => cause instanceof ApiError || cause instanceof HubError) ?? errors[0]

/** A slower request is aborted and retried. */
const REQUEST_TIMEOUT_MS = 5_000

/** Requests the stop over REST. `keepalive` lets the request finish after the page is closed. */
export const stopOverRest =
  (rest: RestClient, sessionId: string, reason?: string): StopRoute =>
  (signal) =>
    answerOf(
      rest.PATCH('/api/sessions/{id}', {
        params: { path: { id: sessionId } },
        body: { action: 'emergency_stop', ...(reason !== undefined && { reason }) },
        signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
        keepalive: true,
      }),
    )

export type StopKey = 'Escape' | 'Space'

/**
 * Returns which stop key was pressed, by what it types or by its position: a stop must not depend on the layout, on a remapped
 * key, on held modifiers, or on a keyboard that reports no positions.
 */
export function stopKeyOf({ key, code }: Pick<KeyboardEvent, 'key' | 'code'>): StopKey | undefined {
  if (key === 'Escape' || code === 'Escape') return 'Escape'
  return key === ' ' || code === 'Space' ? 'Space' : undefined
}
