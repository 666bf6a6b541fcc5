import { Redis } from 'ioredis'
import type { Log } from './log.ts'

const MAX_RECONNECT_DELAY_MS = 1_000

/**
 * A Redis connection that comes back by itself and is only worth a log line when it goes and comes. Commands
 * fail soon rather than wait in a queue that grows; the few of a `patient` one wait for Redis, as subscribing must.
 */
export function connectRedis(url: string, options: { name: string; log: Log; patient?: boolean }): Redis {
  const { name, log, patient = false } = options
  const redis = new Redis(url, {
    connectionName: `wheelhouse-${name}`,
    maxRetriesPerRequest: patient ? null : 1,
    connectTimeout: 5_000,
    keepAlive: 5_000,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 6), MAX_RECONNECT_DELAY_MS),
  })
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
