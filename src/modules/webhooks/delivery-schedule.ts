/** Delays before the second and later attempts, as Standard Webhooks suggests: about three days in total. */
const DELAYS_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
/** Random part of a delay, so that deliveries that failed together are not retried together. */
const JITTER = 0.2
const MAX_RETRY_AFTER_MS = 24 * 3_600_000

/** Pause of all deliveries after a failure. It doubles with each consecutive failure, up to a minute. */
const MIN_PAUSE_MS = 1_000
/** Longest pause of all deliveries of a webhook after failures. */
const MAX_PAUSE_MS = 60_000
/** Maximum pause of all deliveries that a receiver can request with Retry-After. */
const MAX_REQUESTED_PAUSE_MS = 3_600_000

/** A webhook that fails for this long without a success is disabled. */
export const FAILING_LIMIT_MS = 5 * 24 * 3_600_000

/**
 * Returns the milliseconds until the next attempt, or undefined after the last attempt.
 * @param attempts number of failed attempts, at least 1
 * @param retryAfterMs the delay that the receiver requested, if any
 */
export function retryDelayMs(
  attempts: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number | undefined {
  const seconds = DELAYS_SECONDS[attempts - 1]
  if (seconds === undefined) return undefined
  const planned = Math.round(seconds * 1_000 * (1 + random() * JITTER))
  return Math.max(planned, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS))
}

/**
 * Returns for how many milliseconds a webhook gets no deliveries after a failure.
 * @param failures number of consecutive failed attempts, at least 1
 */
export function pauseMs(failures: number, retryAfterMs: number | undefined): number {
  const backoffMs = Math.min(MIN_PAUSE_MS * 2 ** Math.min(failures - 1, 10), MAX_PAUSE_MS)
  return Math.max(backoffMs, Math.min(retryAfterMs ?? 0, MAX_REQUESTED_PAUSE_MS))
}
