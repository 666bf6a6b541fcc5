import type { FreshnessAges } from './freshness.ts'

/** The ages of what arrives over a connection to the gateway. */
export type LinkAges = Pick<FreshnessAges, 'telemetryMs' | 'linkMs' | 'isLinkAwaited'>

/** Short, so that the answers show a lost connection within a second also without telemetry. */
export const PING_MS = 250

/**
 * Returns a function that returns the ages of a connection at the time of the call.
 * @param source `silentMs`: how long the present link has received no frame, null before the first one; `telemetry`:
 *   how old the newest sample is
 */
export function linkAgesOf(source: {
  readonly silentMs: () => number | null
  readonly telemetry: { ageMs(): number | undefined }
}): () => LinkAges {
  let sinceMs = performance.now()
  let isLinkAwaited = true
  return () => {
    const nowMs = performance.now()
    const silentMs = source.silentMs()
    // A new link knows nothing of the one before it, so that the last frame of that one counts.
    if (silentMs !== null) {
      sinceMs = nowMs - silentMs
      isLinkAwaited = false
    }
    return { linkMs: nowMs - sinceMs, telemetryMs: source.telemetry.ageMs(), isLinkAwaited }
  }
}
