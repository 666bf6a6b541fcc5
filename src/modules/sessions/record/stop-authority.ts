import type { Role, StopClear } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { memberMay } from '../../../core/permissions/authorization.ts'

// Derives who may clear a latched remote stop from the roles of its requesters.

/** A user who requests a stop, and the organization that the user acts for. */
export interface StopRequester {
  readonly userId: string
  readonly organizationId?: string | undefined
}

/** Returns the role in which a user requests a stop. A user who is neither operator nor a member of the owner is an admin. */
export function requesterRole(
  session: { operatorId: string; clientId: string },
  { userId, organizationId }: StopRequester,
): Role {
  if (userId === session.clientId) return 'client'
  if (userId === session.operatorId) return 'operator'
  return organizationId === session.clientId ? 'client' : 'admin'
}

/** Returns the same role as columns for an update of `sessions`; null without an actor, when the platform acts. */
export function requesterColumns(actorId: string | undefined) {
  const actor = sql`${actorId ?? null}::uuid`
  return {
    stop_by_role: sql<Role | null>`case
      when ${actor} is null then null
      when ${actor} = client_id then 'client'
      when ${actor} = operator_id then 'operator'
      when ${isMember(actor)} then 'client'
      else 'admin' end`,
    stop_by_owner: sql<boolean>`coalesce(${actor} = client_id or ${actor} <> operator_id, false)`,
  }
}

const isMember = (user: ReturnType<typeof sql>) =>
  memberMay('sessions.stop', {
    user,
    organization: sql.ref('sessions.client_id'),
    group: sql`(select robots.group_id from robots where robots.id = sessions.robot_id)`,
  })

/** Returns who may clear a stop, given its requesters and the setting of the robot. */
export const clearableBy = (byOwner: boolean, stopClear: StopClear): StopClear =>
  byOwner ? stopClear : 'anyone'
