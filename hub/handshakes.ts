import type { IncomingMessage } from 'node:http'
import type { Server, Socket } from 'socket.io'
import { AppError } from '../src/core/errors/errors.ts'
import { requestNetwork } from '../src/core/http/client-address.ts'
import type { Guard } from '../src/core/process/guard.ts'

const WINDOW_MS = 60_000
/** Networks that are counted at a time. Beyond it the oldest one is forgotten. */
const MAX_NETWORKS = 20_000
/** Connections of one hub that are not authenticated yet, from all networks together. */
const MAX_PENDING = 10_000
/** How long a connection stays open after its credential was refused, so that the client receives the error. */
const CLOSE_AFTER_MS = 1_000

/** Why a handshake failed: a label of the metric. */
export type AuthFailure = 'missing' | 'invalid_api_key' | 'invalid_session' | 'rate_limited'

/**
 * Limits handshakes without a valid credential for each network. A handshake counts when it begins, and no longer counts
 * once its credential proves valid.
 */
export function limitHandshakes(
  io: Server,
  deps: {
    /** The limit for each network; 0 disables it. */
    perMinute: number
    trustedProxies: number
    guard: Guard
    failed: (reason: AuthFailure) => void
  },
) {
  const { perMinute, trustedProxies, guard, failed } = deps
  const counts = createNetworkCounts()
  /** Connections that have not sent a credential yet: their handshake counts for the first one. */
  const alreadyCounted = new WeakSet<object>()
  const authenticated = new WeakSet<object>()
  const networkOf = (request: IncomingMessage) => requestNetwork(request, trustedProxies)
  const isTooMany = (network: string) => perMinute > 0 && counts.add(network, perMinute) > perMinute
  const pending = () => Math.max(0, io.engine.clientsCount - io.of('/').sockets.size)
  guard.on(io.engine, 'connection', 'engine:connection', (connection: object) =>
    alreadyCounted.add(connection),
  )
  const scheduleClose = guard.timer('timer:refused-handshake', (conn: Socket['conn']) => {
    if (!authenticated.has(conn)) conn.close()
  })

  return {
    /** The number of connections that are not authenticated yet. */
    get pending() {
      return pending()
    },

    /** Counts a new connection; returns why it is refused, or undefined. */
    problemOf(request: IncomingMessage): string | undefined {
      if (pending() >= MAX_PENDING) return 'Too many connections at once. Try again shortly.'
      if (!isTooMany(networkOf(request))) return undefined
      failed('rate_limited')
      return 'Too many connections without a valid credential from your network. Try again in a minute.'
    },

    /** Counts a further credential on a connection. @throws 429 */
    beforeCredential({ conn, request }: Socket): void {
      if (alreadyCounted.delete(conn) || !isTooMany(networkOf(request))) return
      failed('rate_limited')
      throw new AppError(
        429,
        'rate_limited',
        'Too many invalid credentials from your network. Try again in a minute.',
      )
    },

    /** Removes the handshake of a valid credential from the count. */
    accepted({ conn, request }: Socket): void {
      authenticated.add(conn)
      counts.remove(networkOf(request))
    },

    /** Counts a refused credential, and closes its connection unless another one was valid. */
    refused({ conn, request }: Socket, cause: unknown, reason: AuthFailure): void {
      const status = cause instanceof AppError ? cause.status : 500
      if (status === 401) failed(reason)
      else if (status !== 429) counts.remove(networkOf(request)) // the platform failed, not the credential
      scheduleClose(CLOSE_AFTER_MS, conn).unref()
    },
  }
}

/** Counts for each network within windows of a minute. */
function createNetworkCounts() {
  const windows = new Map<string, { count: number; readonly endsAtMs: number }>()

  function windowOf(network: string) {
    const nowMs = performance.now()
    const known = windows.get(network)
    if (known && known.endsAtMs > nowMs) return known
    windows.delete(network) // to become the newest entry
    const oldest = windows.keys().next()
    if (windows.size >= MAX_NETWORKS && !oldest.done) windows.delete(oldest.value)
    const window = { count: 0, endsAtMs: nowMs + WINDOW_MS }
    windows.set(network, window)
    return window
  }

  return {
    /** Counts one handshake, up to just above the limit, so that a flood does not outweigh later removals. */
    add(network: string, limit: number): number {
      const window = windowOf(network)
      window.count = Math.min(window.count + 1, limit + 1)
      return window.count
    },
    remove(network: string): void {
      const window = windowOf(network)
      window.count = Math.max(0, window.count - 1)
    },
  }
}
