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
  /** Operators of the marketplace to whom control of the robot was offered. They see the session. */
  readonly guests: readonly string[]
  /** Who holds control; null for nobody, and while it never changed hands. */
  readonly holder_id: string | null
}

export type SessionViewer = Pick<Caller, 'userId' | 'roles' | 'organization' | 'credential'>

/** Returns whether a user operates a session. Of a session that is driven for a team, only while the member may drive the robot. */
export function isOperatorOf({ userId, organization }: SessionViewer, session: SessionPart): boolean {
  if (session.operator_id !== userId) return false
  const robot = { organizationId: session.client_id, groupId: session.group_id }
  return session.own_operator ? memberCan(organization, 'sessions.drive', robot) : organization.id === userId
}

/** Returns whether a user takes part in a session for its control only, and not for the operator or the owner of the robot. */
export const isGuestOf = ({ userId, organization }: SessionViewer, { guests }: SessionPart): boolean =>
  organization.id === userId && guests.includes(userId)

/**
 * Returns the columns about control of a query with `sessions`. See `SessionPart`.
 */
export const controlParts = [
  sql<string[]>`array(select guest.user_id from control_participants as guest
    where guest.session_id = sessions.id and not guest.as_member)`.as('guests'),
  sql<string | null>`(select held.user_id from control_intervals as held
    where held.session_id = sessions.id and held.ended_at is null)`.as('holder_id'),
] as const

/**
 * Returns the parts that a user has in a session: its operator; its client, if the user may perform the action in the organization
 * that owns the robot; and admin.
 */
export function partsIn(viewer: SessionViewer, session: SessionPart, action: OrganizationAction): Role[] {
  const robot = { organizationId: session.client_id, groupId: session.group_id }
  return [
    ...(isOperatorOf(viewer, session) || drives(viewer, session) ? (['operator'] as const) : []),
    ...(can(viewer, action, robot) ? (['client'] as const) : []),
    ...(viewer.roles.includes('admin') ? (['admin'] as const) : []),
  ]
}

/** Returns whether a user may hold control of the robot: its operator, guests, and members who may drive it. */
export const mayHoldControl = (viewer: SessionViewer, session: SessionPart): boolean =>
  isOperatorOf(viewer, session) ||
  isGuestOf(viewer, session) ||
  memberCan(viewer.organization, 'sessions.drive', {
    organizationId: session.client_id,
    groupId: session.group_id,
  })

/** Returns whether a user holds control now, and acts for who made that possible. */
const drives = (viewer: SessionViewer, session: SessionPart): boolean =>
  session.holder_id === viewer.userId &&
  (isGuestOf(viewer, session) || viewer.organization.id === session.client_id)

/** Returns whether a user sees a session with the eyes of the robot's owner, who pays for it. */
export const seesAsClient = (
  { organization }: Pick<SessionViewer, 'organization'>,
  session: Pick<SessionPart, 'client_id'>,
): boolean => organization.id === session.client_id

type PartyColumn = 'operator_id' | 'client_id'
/** What a list of sessions depends on. */
export type Lister = Pick<Caller, 'userId' | 'roles' | 'organization'>

/** A user or an organization as a party of sessions. */
export interface Party {
  /** `guest` is an operator who held control in sessions of others. */
  readonly column: PartyColumn | 'guest'
  readonly id: string
  /** Of an organization: the groups whose robots count; null for all. */
  readonly groupIds: readonly string[] | null
}

/**
 * Returns the parts that a caller has in sessions: of a person, those they operate for others, alone or as a guest, those on their
 * robots, or all; of a member who acts for a team, those on its robots.
 */
export function partiesOf({ userId, roles, organization }: Lister): Party[] {
  const { id, role, groupIds } = organization
  const isTeam = id !== userId
  const operates = !isTeam && roles.includes('operator')
  const owns = roles.includes('client') && roleMay(role, 'sessions.read')
  return [
    ...(operates
      ? (['operator_id', 'guest'] as const).map((column) => ({ column, id: userId, groupIds: null }))
      : []),
    ...(owns ? [{ column: 'client_id', id, groupIds } as const] : []),
  ]
}

/** Returns the condition that a session belongs to a party. What an operator drives as a member belongs to the team. */
export function isOf({ column, id, groupIds }: Party, table = 'sessions'): RawBuilder<boolean> {
  if (column === 'client_id') return inScope(table, { organizationId: id, groupIds })
  return (column === 'guest' ? isDrivenAsGuest : isOperated)(sql`${id}::uuid`, table)
}

/** Returns the condition that a user operates a session, for no team. */
export const isOperated = (userId: RawBuilder<string>, table = 'sessions') =>
  sql<boolean>`(${sql.ref(`${table}.operator_id`)} = ${userId} and not ${sql.ref(`${table}.own_operator`)})`

/** Returns the condition that a user held control in a session of another operator, and earned by it. */
export const isDrivenAsGuest = (userId: RawBuilder<string>, table = 'sessions') =>
  sql<boolean>`(${sql.ref(`${table}.operator_id`)} <> ${userId} and ${sql.ref(`${table}.id`)} in (
    select held.session_id from control_intervals as held where held.user_id = ${userId} and held.plan_id is not null))`
