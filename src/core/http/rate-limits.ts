import { AppError } from '../errors/errors.ts'
import type { KeyRedis } from '../redis.ts'
import { type CountRequest, createCounter } from './rate-limit-counter.ts'

const WINDOW_SECONDS = 60

/**
 * The name of a rate limit, as `RateLimit-Policy` states it.
 *
 * | name | counts | per |
 * | --- | --- | --- |
 * | default | authenticated requests | credential |
 * | sessions | PATCH /api/sessions/{id}, so that a program at its limit can still pause and end a session | credential |
 * | public | reads of public routes and of the identity provider | network |
 * | public-writes | writes on public routes | network |
 * | video | offers of cameras and of their viewers, which have their own credentials | network |
 * | pairing-code | attempts to pair with one code | network |
 * | pairing | all attempts to pair | network |
 * | replay | reads of recordings with a link, which need many requests | network |
 * | login | login and logout requests | network |
 * | failed-auth | requests with an invalid credential | network |
 */
export type Policy =
  | 'default'
  | 'sessions'
  | 'public'
  | 'public-writes'
  | 'video'
  | 'pairing'
  | 'pairing-code'
  | 'replay'
  | 'login'
  | 'failed-auth'

export interface RateLimits {
  /**
   * Counts a request and sets the rate limit headers.
   * @throws 429 with Retry-After when the limit is exceeded.
   */
  consume(response: ResponseHeaders, policy: Policy, caller: string): Promise<void>
}

/** The headers of a response, such as the context of Koa. */
interface ResponseHeaders {
  set(name: string, value: string): void
}

/**
 * @param settings requests a minute; 0 switches those limits off
 * @param refused counts refusals
 */
export function createRateLimits(
  settings: { perMinute: number; publicPerMinute: number },
  deps: { redis: KeyRedis | undefined; countRejected: (policy: Policy) => void },
): RateLimits {
  const { perMinute, publicPerMinute } = settings
  const limits: Record<Policy, number> = {
    default: perMinute,
    sessions: perMinute,
    public: publicPerMinute,
    'public-writes': Math.ceil(publicPerMinute / 15),
    video: perMinute,
    pairing: perMinute,
    'pairing-code': Math.ceil(publicPerMinute / 15),
    replay: perMinute,
    login: Math.ceil(publicPerMinute / 10),
    'failed-auth': Math.ceil(publicPerMinute / 10),
  }
  const counters = new Map<Policy, { limit: number; count: CountRequest; policyHeader: string }>()
  for (const [name, limit] of Object.entries(limits) as [Policy, number][]) {
    if (limit === 0) continue
    const count = createCounter({ name, limit, windowSeconds: WINDOW_SECONDS, redis: deps.redis })
    counters.set(name, { limit, count, policyHeader: `"${name}";q=${limit};w=${WINDOW_SECONDS}` })
  }

  return {
    async consume(response, policy, caller) {
      const counter = counters.get(policy)
      if (!counter) return
      const { allowed, remaining, resetMs } = await counter.count(caller)
      const seconds = Math.max(1, Math.ceil(resetMs / 1000))
      response.set('RateLimit-Policy', counter.policyHeader)
      response.set('RateLimit', `"${policy}";r=${remaining};t=${seconds}`)
      if (allowed) return
      deps.countRejected(policy)
      throw new AppError(429, 'rate_limited', `Too many requests (${policy}). Try again in ${seconds} s.`, {
        headers: { 'Retry-After': String(seconds) },
      })
    },
  }
}
