import { type OrganizationAction, type Role, roleMay } from '@wheelhouse/protocol'
import { type RawBuilder, sql } from 'kysely'
import { can, inScope, memberCan } from './authorization.ts'
import type { Caller } from './caller.ts'

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

/** Returns whether a user operates a session. Of a session that is driven for a team, only while the member may drive the robot. */
export function isOperatorOf({ userId, organization }: SessionViewer, session: SessionPart): boolean {
  if (session.operator_id !== userId) return false
  const robot = { organizationId: session.client_id, groupId: session.group_id }
  return session.own_operator ? memberCan(organization, 'sessions.drive', robot) : organization.id === userId
}

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

export type PartyColumn = 'operator_id' | 'client_id'
/** What a list of sessions depends on. */
export type Lister = Pick<Caller, 'userId' | 'roles' | 'organization'>

/** A user or an organization as a party of sessions. */
export interface Party {
  readonly column: PartyColumn
  readonly id: string
  /** Of an organization: the groups whose robots count; null for all. */
  readonly groupIds: readonly string[] | null
}

/**
 * Returns the parts that a caller has in sessions: of a person, those they operate for others, those on their robots, or both; of a
 * member who acts for a team, those on its robots.
 */
export function partiesOf({ userId, roles, organization }: Lister): Party[] {
  const { id, role, groupIds } = organization
  const isTeam = id !== userId
  const operates = !isTeam && roles.includes('operator')
  const owns = roles.includes('client') && roleMay(role, 'sessions.read')
  return [
    ...(operates ? [{ column: 'operator_id', id: userId, groupIds: null } as const] : []),
    ...(owns ? [{ column: 'client_id', id, groupIds } as const] : []),
  ]
}

/** Returns the condition that a session belongs to a party. What an operator drives as a member belongs to the team. */
export const isOf = ({ column, id, groupIds }: Party, table = 'sessions'): RawBuilder<boolean> =>
  column === 'operator_id'
    ? sql<boolean>`(${sql.ref(`${table}.operator_id`)} = ${id} and not ${sql.ref(`${table}.own_operator`)})`
    : inScope(table, { organizationId: id, groupIds })
