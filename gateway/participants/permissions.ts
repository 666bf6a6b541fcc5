import { coalesce } from '../../src/core/concurrency/concurrency.ts'
import type { Bus } from '../../src/core/events/bus.ts'
import type { Log } from '../../src/core/log.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import { type RevocationSources, watchRevocations } from '../../src/modules/identity/index.ts'
import {
  type ControlPersistence,
  type SessionMembership,
  TICKET_LIFETIME_MS,
  type TicketClaims,
} from '../../src/modules/sessions/index.ts'
import type { ParticipantConnection } from './participant-connection.ts'
import type { Participants } from './participants.ts'

/** Closes the connections of participants whose credentials or permissions have ended. */
export function createPermissions(deps: {
  participants: Pick<Participants, 'credentials' | 'connected' | 'revoke' | 'suspend'>
  revocations: Revocations
  controlPersistence: Pick<ControlPersistence, 'endedCredentials' | 'revokedParticipants'>
  accounts: Pick<RevocationSources, 'apiKeys' | 'users'>
  bus: Bus
  guard: Guard
  log: Log
}) {
  const { participants, revocations, controlPersistence, accounts, bus, guard, log } = deps

  async function check(): Promise<void> {
    const credentials = participants.credentials()
    if (credentials.length > 0) participants.revoke(await controlPersistence.endedCredentials(credentials))
    const connections = participants.connected()
    if (connections.length === 0) return
    const memberships = connections.map(membershipOf)
    const keyOf = ({ sessionId, userId, organizationId, part, byPlatform }: SessionMembership) =>
      `${sessionId} ${userId} ${organizationId} ${part} ${byPlatform}`
    const revoked = new Set((await controlPersistence.revokedParticipants(memberships)).map(keyOf))
    for (const connection of connections)
      if (revoked.has(keyOf(membershipOf(connection)))) connection.close('notAllowed')
  }

  // A check that runs may have read what a later change ends, so that a call during it needs a check of its own.
  const runCheck = coalesce(() =>
    check().catch((cause) => log.debug({ err: cause }, 'failed to check the permissions of participants')),
  )

  return {
    /** Subscribes to revocations; returns a function that unsubscribes. */
    listen(): () => void {
      const watch = watchRevocations(
        { ...accounts, bus, guard, log },
        {
          keyRevoked(apiKeyId) {
            revocations.keyRevoked(apiKeyId)
            participants.revoke([apiKeyId])
          },
          permissionsChanged(user) {
            const isNews = revocations.permissionsChanged(user)
            if (user.suspended) participants.suspend(user.id, user.permissions_version)
            // Whose membership has ended takes no further part. One check serves all changes that are reported meanwhile.
            else if (isNews) void runCheck()
          },
        },
      )
      return () => watch.close()
    },

    /** Finds revoked credentials whose hint was lost, and participants without permission. Call it periodically. */
    check: runCheck,
  }
}

function membershipOf({ ticketClaims, credentialId }: ParticipantConnection): SessionMembership {
  const { sessionId, userId, organizationId, part } = ticketClaims
  return { sessionId, userId, organizationId, part, byPlatform: credentialId === undefined }
}

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

    /** Remembers a change of a user's permissions, which revokes tickets of earlier versions. Returns whether it is news. */
    permissionsChanged({
      id,
      permissions_version: version,
    }: {
      id: string
      permissions_version: number
    }): boolean {
      const known = users.get(id) ?? 0
      users.set(id, Math.max(version, known))
      return version > known
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
