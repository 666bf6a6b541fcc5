import { answerOf, type RestClient } from '@wheelhouse/sdk'
import type { StopRoute } from './stop.ts'

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
