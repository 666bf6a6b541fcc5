import { TokenBucket } from '../../src/core/concurrency/token-bucket.ts'

/** Credentials that are remembered; of more than that, the ones that connected last. */
const MAX_REMEMBERED = 100_000
const MINUTE_MS = 60_000

/**
 * Limits how often each credential may connect: a token bucket of `perMinute` connects that refills within a minute. It
 * bounds the load of a robot that reconnects in a loop, and lets a whole fleet reconnect at once. 0 disables it.
 */
export function createConnectLimit({ perMinute, clockMs }: { perMinute: number; clockMs: () => number }) {
  /** Ordered by the last connect, the oldest first. */
  const buckets = new Map<string, TokenBucket>()

  function forgetOld(nowMs: number): void {
    for (const [key, { takenAtMs }] of buckets) {
      if (nowMs - takenAtMs < MINUTE_MS && buckets.size <= MAX_REMEMBERED) return
      buckets.delete(key) // refilled by now
    }
  }

  return {
    /** Takes one connect; returns 0, or the milliseconds until the next connect is allowed. */
    take(key: string): number {
      if (perMinute === 0) return 0
      const nowMs = clockMs()
      const bucket = buckets.get(key) ?? new TokenBucket({ burst: perMinute, refillMs: MINUTE_MS }, nowMs)
      const waitMs = bucket.take(nowMs)
      if (waitMs > 0) return waitMs
      buckets.delete(key)
      buckets.set(key, bucket)
      forgetOld(nowMs)
      return 0
    },
  }
}
export type ConnectLimit = ReturnType<typeof createConnectLimit>
