import type { OrganizationAction, Role } from '@wheelhouse/protocol'
import { can } from '../../../core/http/authorization.ts'
import type { Caller } from '../../../core/http/endpoint.ts'

/** What decides who has which part in a session. */
export interface SessionPart {
  readonly operator_id: string
  /** The organization that owns the robot. */
  readonly client_id: string
  /** The group of the robot. */
  readonly group_id: string | null
  readonly own_operator: boolean
}

export type SessionViewer = Pick<Caller, 'userId' | 'roles' | 'organization' | 'credential'>

/** Returns whether a user operates a session. A session that is driven for a team is seen while acting for the team only. */
export const isOperatorOf = ({ userId, organization }: SessionViewer, session: SessionPart): boolean =>
  session.operator_id === userId && organization.id === (session.own_operator ? session.client_id : userId)

/**
 * Returns the parts that a user has in a session: its operator; its client, if the user may perform the action in the organization
 * that owns the robot; and admin.
 */
export function partsIn(viewer: SessionViewer, session: SessionPart, action: OrganizationAction): Role[] {
  const robot = { organizationId: session.client_id, groupId: session.group_id }
  return [
    ...(isOperatorOf(viewer, session) ? (['operator'] as const) : []),
    ...(can(viewer, action, robot) ? (['client'] as const) : []),
    ...(viewer.roles.includes('admin') ? (['admin'] as const) : []),
  ]
}

/** Returns whether a user sees a session with the eyes of the robot's owner, who pays for it. */
export const seesAsClient = (
  { organization }: Pick<SessionViewer, 'organization'>,
  session: Pick<SessionPart, 'client_id'>,
): boolean => organization.id === session.client_id
