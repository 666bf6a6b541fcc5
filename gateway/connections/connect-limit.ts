/** Credentials whose connects are remembered; of more than these, the ones that connected last. */
const MAX_REMEMBERED = 100_000
const MINUTE_MS = 60_000

interface Bucket {
  readonly connects: number
  readonly atMs: number
}

/**
 * Limits how often each credential may connect: a token bucket that holds `perMinute` connects and refills within a
 * minute. Bounds what a robot in a tight loop costs, and lets a whole fleet come back at once. 0 is no limit.
 */
export function createConnectLimit({ perMinute, clockMs }: { perMinute: number; clockMs: () => number }) {
  /** In the order of the last connect, the oldest first. */
  const buckets = new Map<string, Bucket>()

  function forgetOld(nowMs: number): void {
    for (const [key, { atMs }] of buckets) {
      if (nowMs - atMs < MINUTE_MS && buckets.size <= MAX_REMEMBERED) return
      buckets.delete(key) // full again by now
    }
  }

  return {
    /** Takes one connect; returns 0, or after how many milliseconds the next one is allowed. */
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
