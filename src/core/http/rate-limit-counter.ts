import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { KeyRedis } from '../redis.ts'

/** The number of callers that one process stores per limit. Beyond it, the oldest entry is removed. */
const MAX_REMEMBERED = 20_000
/**
 * How long requests do not query Redis after it failed. Each query of an unresponsive Redis would delay a request
 * until its timeout.
 */
const REDIS_PAUSE_MS = 1_000

/** The remaining allowance after a request was counted. */
interface CountResult {
  readonly allowed: boolean
  readonly remaining: number
  readonly resetMs: number
}

/** Counts a request of a caller within a window. Never fails, and waits for Redis no longer than its timeout. */
export type CountRequest = (caller: string) => Promise<CountResult>

/** Creates the counter of one limit. It counts in Redis when Redis is configured, otherwise in this process. */
export function createCounter(options: {
  name: string
  limit: number
  windowSeconds: number
  redis: KeyRedis | undefined
}): CountRequest {
  const { name, limit, windowSeconds, redis } = options
  const inMemory = countInMemory({ points: limit, duration: windowSeconds, keyPrefix: '' })
  if (!redis) return inMemory
  const shared = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: `wheelhouse:rate:${name}`,
    points: limit,
    duration: windowSeconds,
    rejectIfRedisNotReady: true,
  })
  let pausedUntilMs = 0
  return async (caller) => {
    if (performance.now() < pausedUntilMs) return await inMemory(caller)
    try {
      return toCountResult(await shared.consume(caller), true)
    } catch (cause) {
      if (cause instanceof RateLimiterRes) return toCountResult(cause, false)
      pausedUntilMs = performance.now() + REDIS_PAUSE_MS
      return await inMemory(caller)
    }
  }
}

/** Counts in memory. All windows have the same length, so the oldest open window is the next to remove. */
function countInMemory(options: { points: number; duration: number; keyPrefix: string }): CountRequest {
  const limiter = new RateLimiterMemory(options)
  const windows: { caller: string; endsAtMs: number }[] = []
  let next = 0
  const remember = (caller: string, endsAtMs: number) => {
    const oldest = windows[next]
    if (oldest && oldest.endsAtMs > performance.now()) void limiter.delete(oldest.caller)
    windows[next] = { caller, endsAtMs }
    next = (next + 1) % MAX_REMEMBERED
  }
  return async (caller) => {
    try {
      const result = await limiter.consume(caller)
      if (result.isFirstInDuration) remember(caller, performance.now() + result.msBeforeNext)
      return toCountResult(result, true)
    } catch (cause) {
      if (cause instanceof RateLimiterRes) return toCountResult(cause, false)
      throw cause
    }
  }
}

const toCountResult = (result: RateLimiterRes, allowed: boolean): CountResult => ({
  allowed,
  remaining: result.remainingPoints,
  resetMs: result.msBeforeNext,
})
