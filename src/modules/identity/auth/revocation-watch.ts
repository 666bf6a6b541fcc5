import { coalesce } from '../../../core/concurrency/concurrency.ts'
import type { Bus } from '../../../core/events/bus.ts'
import type { Log } from '../../../core/log.ts'
import type { Guard } from '../../../core/process/guard.ts'
import type { ApiKeys } from '../api-keys/api-key.service.ts'
import type { Users } from '../users/user.service.ts'

/** A user must not receive data later than a second after losing the permission. */
const POLL_MS = 500
/** Each poll covers this much of the earlier interval too, to find transactions that committed late. */
const OVERLAP_MS = 30_000

/** The current permissions of a user, after a change. */
export interface PermissionsChange {
  readonly id: string
  readonly permissions_version: number
  /** Whether an admin has suspended the user. */
  readonly suspended: boolean
}

export interface RevocationSources {
  readonly apiKeys: Pick<ApiKeys, 'revokedWithin'>
  readonly users: Pick<Users, 'permissionsChangedWithin'>
  readonly bus: Bus
  readonly guard: Guard
  readonly log: Log
}

/**
 * Reports revoked API keys and users whose permissions changed, possibly several times each. Messages of the bus
 * report them immediately; polling finds those without a message.
 */
export function watchRevocations(
  deps: RevocationSources & { monotonicMs?: () => number },
  on: {
    keyRevoked: (apiKeyId: string) => void
    permissionsChanged: (user: PermissionsChange) => void
  },
): { close(): void } {
  const { apiKeys, users, bus, guard, log, monotonicMs = () => performance.now() } = deps
  let lastMs = monotonicMs()
  let failing = false
  // A poll that a message asks for must begin after the message.
  const poll = coalesce(async () => {
    const startedMs = monotonicMs()
    const sinceMs = startedMs - lastMs + OVERLAP_MS
    try {
      const [revoked, changed] = await Promise.all([
        apiKeys.revokedWithin(sinceMs),
        users.permissionsChangedWithin(sinceMs),
      ])
      for (const apiKeyId of revoked) on.keyRevoked(apiKeyId)
      for (const user of changed) on.permissionsChanged(user)
      lastMs = startedMs
      failing = false
    } catch (cause) {
      if (!failing) log.warn({ err: cause }, 'reading revoked keys and changed permissions failed')
      failing = true
    }
  })
  const unsubscribes = [
    guard.subscribe(bus, 'credential.revoked', ({ apiKeyId }) => on.keyRevoked(apiKeyId)),
    guard.subscribe(bus, 'permissions.lost', poll),
  ]
  const timer = guard.every('timer:revocations', POLL_MS, poll)
  return {
    close() {
      clearInterval(timer)
      for (const unsubscribe of unsubscribes) unsubscribe()
    },
  }
}
