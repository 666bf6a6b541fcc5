import { AppError } from '../../../core/errors/errors.ts'
import type { Guard } from '../../../core/process/guard.ts'
import { type RevocationSources, watchRevocations } from '../../../modules/identity/index.ts'
import type { ConnectedUser } from './authentication.ts'
import type { ClientConnection } from './client-connection.ts'
import { type Closing, closings } from './closings.ts'

/** Connections of Foxglove to one process. */
const MAX_CONNECTIONS = 100
/** Connections of Foxglove to one session. */
const MAX_CONNECTIONS_PER_SESSION = 20
const CHECK_MS = 500

interface Entry {
  readonly connection: ClientConnection
  readonly user: ConnectedUser
}

/** Keeps the connections of this process. Limits their number, and ends them with their credentials. */
export function createConnections(deps: RevocationSources & { readonly guard: Guard; now: () => Date }) {
  const { guard, now } = deps
  const entries = new Set<Entry>()
  const reserved = new Map<string, number>()
  let total = 0
  let watch: { close(): void } | undefined

  function closeWhere(matches: (user: ConnectedUser) => boolean, closing: Closing): void {
    for (const { connection, user } of entries) if (matches(user)) connection.close(closing)
  }

  /** Watches revocations while there are connections. A new watch also finds those of the last half minute. */
  function updateWatch(): void {
    if (entries.size === 0) {
      watch?.close()
      watch = undefined
    } else {
      watch ??= watchRevocations(deps, {
        keyRevoked: (apiKeyId) =>
          closeWhere((user) => user.apiKeyId === apiKeyId, closings.credentialRevoked),
        permissionsChanged: ({ id, permissions_version: version }) =>
          closeWhere(
            (user) => user.userId === id && user.permissionsVersion < version,
            closings.permissionsChanged,
          ),
      })
    }
  }

  const timer = guard.every('timer:foxglove-connections', CHECK_MS, () => {
    const nowMs = performance.now()
    const at = now()
    for (const { connection, user } of entries) {
      if (user.endsAt && user.endsAt <= at) connection.close(closings.credentialRevoked)
      connection.check(nowMs)
    }
  })

  return {
    get size() {
      return entries.size
    },

    /**
     * Reserves a connection of a session. Returns the function that releases it.
     * @throws 429 or 503 beyond the limits.
     */
    reserve(sessionId: string): () => void {
      const count = reserved.get(sessionId) ?? 0
      if (count >= MAX_CONNECTIONS_PER_SESSION)
        throw new AppError(
          429,
          'too_many_concurrent_requests',
          `A session has at most ${MAX_CONNECTIONS_PER_SESSION} connections of Foxglove. Close one first.`,
        )
      if (total >= MAX_CONNECTIONS)
        throw new AppError(503, 'overloaded', 'Too many connections of Foxglove are open. Try again later.')
      reserved.set(sessionId, count + 1)
      total++
      let released = false
      return () => {
        if (released) return
        released = true
        total--
        const left = (reserved.get(sessionId) ?? 1) - 1
        if (left === 0) reserved.delete(sessionId)
        else reserved.set(sessionId, left)
      }
    },

    /** Adds an open connection. Returns the function that removes it. */
    add(connection: ClientConnection, user: ConnectedUser): () => void {
      const entry = { connection, user }
      entries.add(entry)
      updateWatch()
      return () => {
        entries.delete(entry)
        updateWatch()
      }
    },

    /** Closes all connections. Their clients connect to another process. */
    close(): void {
      for (const { connection } of entries) connection.close(closings.draining)
    },

    /** Ends the watching and the connections that have not closed. */
    end(): void {
      clearInterval(timer)
      for (const { connection } of entries) connection.terminate()
      watch?.close()
    },
  }
}
