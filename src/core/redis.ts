import { Cluster, Redis } from 'ioredis'
import type { Log } from './log.ts'

const MAX_RECONNECT_DELAY_MS = 1_000

/** How often a connection is asked for a sign of life, and how long it may take with any answer. */
const PING_INTERVAL_MS = 1_000
const SOCKET_TIMEOUT_MS = 4_000

/** How long a command on a key waits for its answer. */
const COMMAND_TIMEOUT_MS = 100
/** Slots move; a command that is sent to the wrong node goes to one other. */
const MAX_REDIRECTIONS = 2

/** Connections for what hubs tell each other. */
export interface HubRedis {
  readonly publisher: Redis
  readonly subscriber: Redis
  /** Redis is a cluster: a message goes from node to node, and sharded channels are bound to their node. */
  readonly isCluster: boolean
}

/** A connection for commands on keys. */
export type KeyRedis = Redis | Cluster

interface Options {
  readonly name: string
  readonly log: Log
  /** Commands wait for Redis, as subscribing must; those of others fail soon rather than wait in a queue that grows. */
  readonly queueCommands?: boolean
}

/** Several addresses are nodes of one Redis Cluster. */
const nodesOf = (urls: string) => urls.split(',').map((url) => new URL(url))
export const isRedisCluster = (urls: string): boolean => nodesOf(urls).length > 1

/**
 * A Redis connection for messages that comes back by itself and is only worth a log line when it goes and comes.
 *
 * In a cluster a message may be published and heard at any node. All connections begin with the first one, so that
 * messages of one process stay in order and rarely depend on links between nodes, and go on to the next when it fails.
 */
export function connectRedis(urls: string, { name, log, queueCommands = false }: Options): Redis {
  const nodes = nodesOf(urls)
  let attempts = 0
  const redis = new Redis((nodes[0] as URL).href, {
    connectionName: `wheelhouse-${name}`,
    maxRetriesPerRequest: queueCommands ? null : 1,
    connectTimeout: 5_000,
    keepAlive: 5_000,
    socketTimeout: SOCKET_TIMEOUT_MS,
    retryStrategy: (attempt) => {
      attempts++
      if (nodes.length > 1) Object.assign(redis.options, addressOf(nodes[attempts % nodes.length] as URL))
      return reconnectDelayMs(attempt)
    },
  })
  subscribeWithoutRejection(redis)
  startPings(redis)
  return watched(redis, name, log)
}

/**
 * A Redis connection for commands on keys. They are given up at once or after a moment: what they ask is not worth a
 * request's waiting.
 */
export function connectKeyRedis(urls: string, { name, log }: Omit<Options, 'patient'>): KeyRedis {
  const node = {
    connectionName: `wheelhouse-${name}`,
    maxRetriesPerRequest: 1,
    connectTimeout: 5_000,
    keepAlive: 5_000,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
  }
  if (!isRedisCluster(urls)) {
    const redis = new Redis(urls, { ...node, enableOfflineQueue: false, retryStrategy: reconnectDelayMs })
    startPings(redis)
    return watched(redis, name, log)
  }
  const nodes = nodesOf(urls)
  const [{ username, password, protocol }] = nodes as [URL]
  const cluster = new Cluster(nodes.map(addressOf), {
    enableOfflineQueue: false,
    maxRedirections: MAX_REDIRECTIONS,
    // Somebody else's slots are no reason to wait.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    clusterRetryStrategy: reconnectDelayMs,
    redisOptions: {
      ...node,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
      ...(protocol === 'rediss:' && { tls: {} }),
    },
  })
  return watched(cluster, name, log)
}

const addressOf = ({ hostname, port }: URL) => ({
  host: hostname.replace(/^\[(.*)\]$/, '$1'),
  port: Number(port || 6379),
})

const reconnectDelayMs = (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 6), MAX_RECONNECT_DELAY_MS)

function watched<T extends KeyRedis>(redis: T, name: string, log: Log): T {
  let unreachable = false
  redis.on('error', (cause) => {
    if (!unreachable) log.warn({ err: cause, connection: name }, 'Redis is unreachable')
    unreachable = true
  })
  redis.on('ready', () => {
    if (unreachable) log.info({ connection: name }, 'Redis is back')
    unreachable = false
  })
  return redis
}

/**
 * A network that loses everything leaves a connection open for many minutes, and who only listens would be deaf
 * without knowing. So everybody asks from time to time; a connection without an answer is broken off and made anew.
 */
function startPings(redis: Redis): void {
  const timer = setInterval(() => {
    if (redis.status === 'ready') redis.ping().catch(() => {}) // its connection is gone, or it is in no mood to wait
  }, PING_INTERVAL_MS)
  timer.unref()
  redis.on('end', () => clearInterval(timer))
}

/**
 * After a reconnect ioredis subscribes again to what it was subscribed to, and drops the promises of that: when the
 * connection is closed before Redis has answered, nothing handles their rejection ("Connection is closed."). Callers
 * of these methods still get theirs.
 */
function subscribeWithoutRejection(redis: Redis): void {
  for (const name of ['subscribe', 'psubscribe', 'ssubscribe'] as const) {
    const subscribe = redis[name].bind(redis) as (...channels: unknown[]) => Promise<unknown>
    const watched = (...channels: unknown[]): Promise<unknown> => {
      const subscribed = subscribe(...channels)
      subscribed.catch(() => {})
      return subscribed
    }
    Reflect.set(redis, name, watched)
  }
}
