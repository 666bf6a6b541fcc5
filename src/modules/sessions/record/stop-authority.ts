import type { Role, StopClear } from '@wheelhouse/protocol'
import { sql } from 'kysely'

// Derives who may clear a latched remote stop from the roles of its requesters.

/** Returns the role in which a user requests a stop. A user who is neither client nor operator is an admin. */
export function requesterRole(session: { operatorId: string; clientId: string }, userId: string): Role {
  if (userId === session.clientId) return 'client'
  return userId === session.operatorId ? 'operator' : 'admin'
}

/** Returns the same role as columns for an update of `sessions`; null without an actor, when the platform acts. */
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

/** Returns who may clear a stop, given its requesters and the setting of the robot. */
export const clearableBy = (byOwner: boolean, stopClear: StopClear): StopClear =>
  byOwner ? stopClear : 'anyone'
