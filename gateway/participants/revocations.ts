import { TICKET_LIFETIME_MS, type TicketClaims } from '../../src/modules/sessions/index.ts'

/** Beyond this number of revocations in a minute the oldest are forgotten: the database refuses their tickets. */
const MAX_REMEMBERED = 10_000

/**
 * Remembers the revocations of the last minute, so that the gateway refuses revoked tickets without the database. The
 * tickets of older revocations have expired.
 */
export function createRevocations(clockMs: () => number) {
  const keys = createExpiringMap<true>(clockMs)
  const users = createExpiringMap<number>(clockMs)
  return {
    /** Remembers a revoked API key. */
    keyRevoked: (apiKeyId: string): void => keys.set(apiKeyId, true),

    /** Remembers a change of a user's permissions, which revokes tickets of earlier versions. */
    permissionsChanged({
      id,
      permissions_version: version,
    }: {
      id: string
      permissions_version: number
    }): void {
      users.set(id, Math.max(version, users.get(id) ?? version))
    },

    /** Returns whether this process knows a revocation of the ticket. */
    isRevoked({ userId, apiKeyId, permissionsVersion }: TicketClaims): boolean {
      if (apiKeyId !== undefined && keys.get(apiKeyId)) return true
      return permissionsVersion < (users.get(userId) ?? 0)
    },
  }
}
export type Revocations = ReturnType<typeof createRevocations>

/** Creates a map whose entries expire after the lifetime of a ticket. */
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
      entries.delete(key) // to become the newest entry
      removeOld()
      entries.set(key, { value, untilMs: clockMs() + TICKET_LIFETIME_MS })
    },
  }
}
