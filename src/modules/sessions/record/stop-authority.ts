import type { Role, StopClear } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { memberMay } from '../../../core/permissions/authorization.ts'

// Derives who may clear a latched remote stop from the roles of its requesters.

/** A user who requests a stop, and the organization that the user acts for. */
export interface StopRequester {
  readonly userId: string
  readonly organizationId?: string | undefined
  /** Whether the user has a connection to drive the robot. */
  readonly drives?: boolean | undefined
}

/** Returns the role in which a user requests a stop. A user who is neither an operator nor a member of the owner is an admin. */
export function requesterRole(
  session: { operatorId: string; clientId: string },
  { userId, organizationId, drives }: StopRequester,
): Role {
  if (userId === session.clientId) return 'client'
  if (userId === session.operatorId) return 'operator'
  if (organizationId === session.clientId) return 'client'
  return drives ? 'operator' : 'admin'
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
      when ${isGuest(actor)} then 'operator'
      else 'admin' end`,
    stop_by_owner: sql<boolean>`coalesce(
      ${actor} = client_id or (${actor} <> operator_id and not ${isGuest(actor)}), false)`,
  }
}

/** Whether the user is an operator of the marketplace to whom control was offered. */
const isGuest = (user: ReturnType<typeof sql>) => sql<boolean>`exists (
  select from control_participants as guest
  where guest.session_id = sessions.id and guest.user_id = ${user} and not guest.as_member)`

const isMember = (user: ReturnType<typeof sql>) =>
  memberMay('sessions.stop', {
    user,
    organization: sql.ref('sessions.client_id'),
    group: sql`(select robots.group_id from robots where robots.id = sessions.robot_id)`,
  })

/** Returns who may clear a stop, given its requesters and the setting of the robot. */
export const clearableBy = (byOwner: boolean, stopClear: StopClear): StopClear =>
  byOwner ? stopClear : 'anyone'
