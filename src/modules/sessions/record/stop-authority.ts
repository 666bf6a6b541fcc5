import type { Role, StopClear } from '@wheelhouse/protocol'
import { sql } from 'kysely'

// Who requested the remote stop in force, and who may therefore clear it.

/** Returns in which part a user requests a stop. Who is neither side of the session is an admin. */
export function requesterRole(session: { operatorId: string; clientId: string }, userId: string): Role {
  if (userId === session.clientId) return 'client'
  return userId === session.operatorId ? 'operator' : 'admin'
}

/** The same for an update of `sessions`: null when the platform acts by itself. */
export function requesterColumns(actorId: string | undefined) {
  const actor = sql`${actorId ?? null}::uuid`
  return {
    stop_by_role: sql<Role | null>`case
      when ${actor} is null then null
      when ${actor} = client_id then 'client'
      when ${actor} = operator_id then 'operator'
      else 'admin' end`,
    stop_by_owner: sql<boolean>`coalesce(${actor} = client_id or ${actor} <> operator_id, false)`,
  }
}

/** Returns who may clear a stop, from its requesters and the setting of its robot. */
export const clearableBy = (byOwner: boolean, stopClear: StopClear): StopClear =>
  byOwner ? stopClear : 'anyone'
