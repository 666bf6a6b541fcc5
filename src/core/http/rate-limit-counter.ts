import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { KeyRedis } from '../redis.ts'

/** Callers one process remembers for each limit; of more than that it forgets the oldest. */
const MAX_REMEMBERED = 20_000
/** After Redis failed, so long nobody asks it: a silent one would cost every request its patience. */
const REDIS_PAUSE_MS = 1_000

/** What is left after a request was counted. */
interface CountResult {
  readonly allowed: boolean
  readonly remaining: number
  readonly resetMs: number
}

/** Counts what a caller does within a window. Never fails and never waits longer than Redis is given. */
export type CountRequest = (caller: string) => Promise<CountResult>

/** One limit: how many in which time, counted in Redis when there is one, else in this process. */
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

/** Windows begin one after another and all last equally long, so the oldest that is open is the next to forget. */
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
