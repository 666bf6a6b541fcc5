import { Cluster, Redis } from 'ioredis'
import type { Log } from './log.ts'

/** Longest pause between two attempts to reach Redis. */
const MAX_RECONNECT_DELAY_MS = 1_000

/** Interval of pings, and the longest time until any reply. */
const PING_INTERVAL_MS = 1_000
const SOCKET_TIMEOUT_MS = 4_000

/** Longest time a command on a key waits for its reply, by default. */
const COMMAND_TIMEOUT_MS = 100
/** Slots migrate: a command that reaches the wrong node is redirected once. */
const MAX_REDIRECTIONS = 2

/** Connections for messages between hubs. */
export interface HubRedis {
  readonly publisher: Redis
  readonly subscriber: Redis
  /** Whether Redis is a cluster: messages pass between nodes, and sharded channels are bound to their node. */
  readonly isCluster: boolean
}

/** A connection for commands on keys. */
export type KeyRedis = Redis | Cluster

interface Options {
  readonly name: string
  readonly log: Log
  /** Whether commands wait for Redis, as subscriptions must. Other commands fail soon, so that no queue grows. */
  readonly queueCommands?: boolean
}

/** Returns whether the URL lists several nodes, which form one Redis Cluster. */
const nodesOf = (urls: string) => urls.split(',').map((url) => new URL(url))
export const isRedisCluster = (urls: string): boolean => nodesOf(urls).length > 1

/**
 * Opens a Redis connection for messages. It reconnects by itself and logs only when it is lost and restored.
 *
 * In a cluster a message can be published and received at any node. All connections begin with the first node, so that
 * messages of one process stay in order and rarely depend on links between nodes. When it fails, they use the next.
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
 * Opens a Redis connection for commands on keys. A command fails immediately or after a short timeout, because no
 * request should wait for it.
 */
export function connectKeyRedis(
  urls: string,
  {
    name,
    log,
    commandMs = COMMAND_TIMEOUT_MS,
  }: Omit<Options, 'queueCommands'> & { commandMs?: number | undefined },
): KeyRedis {
  const node = {
    connectionName: `wheelhouse-${name}`,
    maxRetriesPerRequest: 1,
    connectTimeout: 5_000,
    keepAlive: 5_000,
    commandTimeout: commandMs,
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
    // A failed node of other slots does not block commands.
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
 * Pings the connection at an interval. A network that drops all packets leaves a connection open for many minutes, and a
 * subscriber would not notice. A connection without a reply is closed and opened again.
 */
function startPings(redis: Redis): void {
  const timer = setInterval(() => {
    if (redis.status === 'ready') redis.ping().catch(() => {}) // the connection is lost or does not queue commands
  }, PING_INTERVAL_MS)
  timer.unref()
  redis.on('end', () => clearInterval(timer))
}

/**
 * Handles the promises of ioredis' own subscriptions. After a reconnect it subscribes again and drops the promises: when
 * the connection closes before Redis replies, nothing handles their rejection ("Connection is closed."). Callers of
 * these methods still receive their own.
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
