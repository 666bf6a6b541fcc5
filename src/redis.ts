import { Redis } from 'ioredis'
import type { Log } from './log.ts'

const MAX_RECONNECT_DELAY_MS = 1_000

/** How often a connection is asked for a sign of life, and how long it may take with any answer. */
const SIGN_OF_LIFE_MS = 1_000
const SILENCE_LIMIT_MS = 4_000

/** How long an `eager` one waits for an answer. */
const EAGER_LIMIT_MS = 100

/**
 * A Redis connection that comes back by itself and is only worth a log line when it goes and comes. Commands
 * fail soon rather than wait in a queue that grows; the few of a `patient` one wait for Redis, as subscribing must, and
 * those of an `eager` one are given up at once or after a moment: what they ask is not worth a request's waiting.
 */
export function connectRedis(
  url: string,
  options: { name: string; log: Log; patient?: boolean; eager?: boolean },
): Redis {
  const { name, log, patient = false, eager = false } = options
  const redis = new Redis(url, {
    connectionName: `wheelhouse-${name}`,
    maxRetriesPerRequest: patient ? null : 1,
    connectTimeout: 5_000,
    keepAlive: 5_000,
    socketTimeout: SILENCE_LIMIT_MS,
    ...(eager && { commandTimeout: EAGER_LIMIT_MS, enableOfflineQueue: false }),
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 6), MAX_RECONNECT_DELAY_MS),
  })
  askForSignsOfLife(redis)
  let away = false
  redis.on('error', (cause) => {
    if (!away) log.warn({ err: cause, connection: name }, 'Redis is unreachable')
    away = true
  })
  redis.on('ready', () => {
    if (away) log.info({ connection: name }, 'Redis is back')
    away = false
  })
  return redis
}

/**
 * A network that loses everything leaves a connection open for many minutes, and who only listens would be deaf
 * without knowing. So everybody asks from time to time; a connection without an answer is broken off and made anew.
 */
function askForSignsOfLife(redis: Redis): void {
  const timer = setInterval(() => {
    if (redis.status === 'ready') redis.ping().catch(() => {}) // its connection is gone, or it is in no mood to wait
  }, SIGN_OF_LIFE_MS)
  timer.unref()
  redis.on('end', () => clearInterval(timer))
}
