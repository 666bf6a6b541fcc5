import { answerOf, type RestClient } from '@wheelhouse/sdk'
import type { StopRoute } from './stop.ts'

/** A request that takes longer is made again: networks swallow some. */
const REQUEST_MS = 5_000

/** The stop as a request, which the browser carries to its end even when the page is closed meanwhile. */
export const stopOverRest =
  (rest: RestClient, sessionId: string, reason?: string): StopRoute =>
  (signal) =>
    answerOf(
      rest.PATCH('/api/sessions/{id}', {
        params: { path: { id: sessionId } },
        body: { action: 'emergency_stop', ...(reason !== undefined && { reason }) },
        signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
        keepalive: true,
      }),
    )
