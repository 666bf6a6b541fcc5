import { hash } from 'node:crypto'
import type { Bus } from '../../../core/events/bus.ts'
import type { Caller } from '../../../core/http/endpoint.ts'

/** Callers that are remembered; of more than that, the newest. */
const MAX_CALLERS = 10_000
/** How long after its last use a credential is remembered. */
const REMEMBERED_MS = 60 * 60_000

/**
 * Remembers the callers of credentials that this process has accepted. Only what halts a robot may rely on it. A credential that is
 * revoked, refused or expired, and those of users who lose a permission, are forgotten.
 */
export function createRememberedCallers(bus: Bus, clockMs: () => number = Date.now) {
  const callers = new Map<string, { readonly caller: Caller; readonly untilMs: number }>()
  // No credentials in memory. A credential is another caller in another organization.
  const keyOf = (credential: string, organizationId = '') =>
    hash('sha256', `${organizationId} ${credential}`, 'base64url')

  function forget(matches: (caller: Caller) => boolean): void {
    for (const [key, { caller }] of callers) if (matches(caller)) callers.delete(key)
  }
  bus.subscribe('credential.revoked', ({ apiKeyId }) =>
    forget(({ credential }) => credential.kind === 'api_key' && credential.id === apiKeyId),
  )
  bus.subscribe('permissions.lost', (lost) => forget(({ userId }) => userId === lost.userId))

  return {
    remember(credential: string, caller: Caller, organizationId?: string): void {
      const key = keyOf(credential, organizationId)
      callers.delete(key) // the newest is the last
      const expiresMs = caller.credential.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY
      callers.set(key, { caller, untilMs: Math.min(clockMs() + REMEMBERED_MS, expiresMs) })
      const oldest = callers.keys().next().value
      if (callers.size > MAX_CALLERS && oldest !== undefined) callers.delete(oldest)
    },
    forget(credential: string, organizationId?: string): void {
      callers.delete(keyOf(credential, organizationId))
    },
    find(credential: string, organizationId?: string): Caller | undefined {
      const known = callers.get(keyOf(credential, organizationId?.toLowerCase()))
      return known && clockMs() < known.untilMs ? known.caller : undefined
    },
  }
}
