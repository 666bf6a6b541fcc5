import { TICKET_LIFETIME_MS, type TicketClaims } from '../../src/modules/sessions/index.ts'

/** With more revocations than this within a minute the oldest are forgotten: the database refuses their tickets too. */
const MAX_REMEMBERED = 10_000

/**
 * Remembers the revocations of the last minute, so that an upgrade with a ticket that they end is refused without the
 * database. Older ones need no memory: their tickets have expired.
 */
export function createRevocations(clockMs: () => number) {
  const keys = createExpiringMap<true>(clockMs)
  const users = createExpiringMap<number>(clockMs)
  return {
    /** Remembers an API key that was revoked. */
    keyRevoked: (apiKeyId: string): void => keys.set(apiKeyId, true),

    /** Remembers that a user's permissions have changed: tickets of an earlier version have ended. */
    permissionsChanged({ id, rights_version: version }: { id: string; rights_version: number }): void {
      users.set(id, Math.max(version, users.get(id) ?? version))
    },

    /** Whether a revocation has ended this ticket, as far as this process knows. */
    isRevoked({ userId, apiKeyId, permissionsVersion }: TicketClaims): boolean {
      if (apiKeyId !== undefined && keys.get(apiKeyId)) return true
      return permissionsVersion < (users.get(userId) ?? 0)
    },
  }
}
export type Revocations = ReturnType<typeof createRevocations>

/** A map whose entries last for the life of a ticket; the oldest leave first. */
function createExpiringMap<V>(clockMs: () => number) {
  const entries = new Map<string, { readonly value: V; readonly untilMs: number }>()

  function removeOld(): void {
    const nowMs = clockMs()
    for (const [key, { untilMs }] of entries) {
      if (untilMs > nowMs && entries.size < MAX_REMEMBERED) return
      entries.delete(key)
    }
  }

  return {
    get: (key: string): V | undefined => entries.get(key)?.value,
    set(key: string, value: V): void {
      entries.delete(key) // set again it becomes the newest
      removeOld()
      entries.set(key, { value, untilMs: clockMs() + TICKET_LIFETIME_MS })
    },
  }
}
