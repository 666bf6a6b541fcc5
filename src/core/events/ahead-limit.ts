import { TokenBucket } from '../concurrency/token-bucket.ts'

/** What a user may send ahead of the database: enough stops for a whole fleet. More waits for its permission first. */
const AHEAD_LIMIT = { burst: 100, refillMs: 10_000 }
/** Users whose messages are counted. Beyond that, the one known longest is forgotten. */
const MAX_USERS = 10_000

/** Creates what counts the messages that users send to gateways ahead of the database. Returns whether a user may send one more. */
export function createAheadLimit(): (userId: string) => boolean {
  const buckets = new Map<string, TokenBucket>()
  return (userId) => {
    const nowMs = performance.now()
    const bucket = buckets.get(userId) ?? new TokenBucket(AHEAD_LIMIT, nowMs)
    buckets.set(userId, bucket)
    const oldest = buckets.keys().next().value
    if (buckets.size > MAX_USERS && oldest !== undefined) buckets.delete(oldest)
    return bucket.take(nowMs) === 0
  }
}
