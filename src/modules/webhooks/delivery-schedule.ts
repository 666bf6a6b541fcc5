/** Before the second attempt, the third and so on: what the Standard Webhooks specification suggests, about three days. */
const DELAYS_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
/** Deliveries that failed together are not all tried again together. */
const JITTER = 0.2
const LONGEST_RETRY_AFTER_MS = 24 * 3_600_000

/** A receiver that has just failed is left alone for a moment, longer each time. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
/** How long all deliveries wait for a receiver that asks for it. */
const LONGEST_ASKED_PAUSE_MS = 3_600_000

/** After so long without a single success a webhook is switched off. */
export const FAILING_LIMIT_MS = 5 * 24 * 3_600_000

/**
 * Milliseconds until a delivery is tried again; undefined when it is given up.
 * @param attempts how many have failed, at least 1
 * @param retryAfterMs for how long the receiver asked not to be called, if it did
 */
export function retryDelayMs(
  attempts: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number | undefined {
  const seconds = DELAYS_SECONDS[attempts - 1]
  if (seconds === undefined) return undefined
  const planned = Math.round(seconds * 1_000 * (1 + random() * JITTER))
  return Math.max(planned, Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS))
}

/**
 * Milliseconds in which nothing more is sent to a webhook.
 * @param failures attempts in a row that did not arrive, at least 1
 */
export function pauseMs(failures: number, retryAfterMs: number | undefined): number {
  const backoffMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10), LONGEST_PAUSE_MS)
  return Math.max(backoffMs, Math.min(retryAfterMs ?? 0, LONGEST_ASKED_PAUSE_MS))
}
