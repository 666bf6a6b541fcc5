/** Credentials that are remembered; of more than that, the ones that connected last. */
const MAX_REMEMBERED = 100_000
const MINUTE_MS = 60_000

interface Bucket {
  readonly connects: number
  readonly atMs: number
}

/**
 * Limits how often each credential may connect: a token bucket of `perMinute` connects that refills within a minute. It
 * bounds the load of a robot that reconnects in a loop, and lets a whole fleet reconnect at once. 0 disables it.
 */
export function createConnectLimit({ perMinute, clockMs }: { perMinute: number; clockMs: () => number }) {
  /** Ordered by the last connect, the oldest first. */
  const buckets = new Map<string, Bucket>()

  function forgetOld(nowMs: number): void {
    for (const [key, { atMs }] of buckets) {
      if (nowMs - atMs < MINUTE_MS && buckets.size <= MAX_REMEMBERED) return
      buckets.delete(key) // refilled by now
    }
  }

  return {
    /** Takes one connect; returns 0, or the milliseconds until the next connect is allowed. */
    take(key: string): number {
      if (perMinute === 0) return 0
      const nowMs = clockMs()
      const { connects, atMs } = buckets.get(key) ?? { connects: perMinute, atMs: nowMs }
      const left = Math.min(perMinute, connects + ((nowMs - atMs) * perMinute) / MINUTE_MS)
      if (left < 1) return Math.ceil(((1 - left) * MINUTE_MS) / perMinute)
      buckets.delete(key)
      buckets.set(key, { connects: left - 1, atMs: nowMs })
      forgetOld(nowMs)
      return 0
    },
  }
}
export type ConnectLimit = ReturnType<typeof createConnectLimit>
