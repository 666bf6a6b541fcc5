import {
  type ApiKeyScope,
  type OrganizationAction,
  permissions,
  roleMay,
  scopesInclude,
} from '@wheelhouse/protocol'
import { type RawBuilder, sql } from 'kysely'
import { forbidden } from '../errors/errors.ts'
import type { Caller, Membership } from './caller.ts'

// The one decision about organizations: who may do what with which robot. Everything that asks goes through `can`, or, for lists,
// through `inScope`, which is the same decision as a condition in SQL.

/** A robot, or what belongs to one: its sessions, recordings and datasets. */
export interface OwnedObject {
  readonly organizationId: string
  /** The group of the robot; null without one. */
  readonly groupId: string | null
}

export type Member = Pick<Caller, 'organization' | 'credential'>

/**
 * Returns whether a caller may perform an action: in the organization that it acts for, or on an object. A member of some groups may
 * do nothing that concerns the whole organization.
 */
export function can(
  { organization, credential }: Member,
  action: OrganizationAction,
  object?: OwnedObject,
): boolean {
  return scopesInclude(scopesOf(credential), action) && memberCan(organization, action, object)
}

/** Returns whether a member may perform an action, with a key that has all scopes. For what a key is checked for separately. */
export function memberCan(
  { id, role, groupIds }: Membership,
  action: OrganizationAction,
  object?: OwnedObject,
): boolean {
  if (!roleMay(role, action)) return false
  if (!permissions[action].perRobot && groupIds !== null && !isReading(action)) return false
  if (object === undefined) return true
  if (object.organizationId !== id) return false
  return groupIds === null || (object.groupId !== null && groupIds.includes(object.groupId))
}

/** Members of some groups see who else is a member, as everybody does. */
const isReading = (action: OrganizationAction) => action === 'organization.read'

/** Returns what a credential is limited to; null for a session and for a key with all scopes. */
export const scopesOf = (credential: Caller['credential']): readonly ApiKeyScope[] | null =>
  credential.kind === 'api_key' ? credential.scopes : null

/** Requires that the key of a caller, if it has one, includes an action. @throws 403 */
export function requireKeyFor({ credential }: Pick<Caller, 'credential'>, action: OrganizationAction): void {
  requireScope({ credential }, ...permissions[action].scopes)
}

/** Returns the scopes of which a key needs one for a route; none means that every key may call it. */
export const scopesOfRoute = (
  { action, scope }: { readonly action?: OrganizationAction; readonly scope?: ApiKeyScope },
  method: string,
): readonly ApiKeyScope[] =>
  action ? permissions[action].scopes : [scope ?? (/^(GET|HEAD)$/i.test(method) ? 'read' : 'admin')]

/**
 * Returns whether a caller may see what belongs to a person and to no organization, such as notifications: the person who is signed in,
 * and keys of the personal organization. A key of a team is known in the team.
 */
export const isPersonal = ({ userId, organization, credential }: Pick<Caller, 'userId'> & Member): boolean =>
  credential.kind === 'session' || organization.id === userId

/** Requires that the key of a caller, if it has one, has one of some scopes. @throws 403 */
export function requireScope(
  { credential }: Pick<Caller, 'credential'>,
  ...needed: readonly ApiKeyScope[]
): void {
  if (hasScope(credential, needed)) return
  throw forbidden(
    'scope_required',
    `The API key does not have the scope ${needed.join(' or ')}. Use a key that has it.`,
  )
}

/** Returns whether a credential has one of some scopes, or none are needed. */
export function hasScope(credential: Caller['credential'], needed: readonly ApiKeyScope[]): boolean {
  const scopes = scopesOf(credential)
  return scopes === null || needed.length === 0 || needed.some((scope) => scopes.includes(scope))
}

/** @throws 403 if the caller may not perform the action, 404 for an object that it may not even see */
export function requireCan(caller: Member, action: OrganizationAction, object?: OwnedObject): void {
  if (memberCan(caller.organization, action, object)) return requireKeyFor(caller, action)
  throw forbidden(
    'permission_required',
    `You may not do this here. It takes the permission to ${permissions[action].text}.`,
  )
}

/** The robots that a query is limited to, and who asks. */
export interface Scope {
  readonly organizationId: string
  /** The groups of the robots; null for all robots of the organization. */
  readonly groupIds: readonly string[] | null
  /** The user who asks or acts. */
  readonly actorId: string
  /** With what the user is signed in, for the audit log; undefined for work of the platform itself. */
  readonly credential?: string
}

/** Returns the credential of a caller as the audit log names it. */
export const credentialOf = ({ credential }: Pick<Caller, 'credential'>): string =>
  credentialName(endingCredentialOf(credential))

/** A credential that the platform can end: an API key, or a sign-in with the provider of an organization. */
export interface EndingCredential {
  readonly apiKeyId?: string
  readonly signInId?: string
}

/** Returns the key or the sign-in of a credential; nothing for a session of the platform's provider, which ends by itself. */
export function endingCredentialOf(credential: Caller['credential']): EndingCredential {
  if (credential.kind === 'api_key') return { apiKeyId: credential.id }
  return credential.signIn ? { signInId: credential.signIn.id } : {}
}

/** Returns the name of a credential in the audit log. */
export function credentialName({ apiKeyId, signInId }: EndingCredential): string {
  if (apiKeyId !== undefined) return `api_key:${apiKeyId}`
  return signInId === undefined ? 'session' : `sign_in:${signInId}`
}

/** Returns the condition that no API key and no sign-in with this id is valid any more. */
export const hasEnded = (id: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`(not exists (
      select from api_keys k
      where k.id = ${id} and k.revoked_at is null and (k.expires_at is null or k.expires_at > now()))
    and not exists (select from sign_in_sessions where sign_in_sessions.id = ${id} and sign_in_sessions.expires_at > now()))`

/**
 * Requires a sign-in with the provider of the platform, such as to join another organization: that of an organization only says who
 * its members are.
 * @throws 403
 */
export function requirePlatformSignIn({ credential }: Pick<Caller, 'credential'>): void {
  if (credential.kind === 'session' && credential.signIn !== undefined)
    throw forbidden(
      'sign_in_required',
      'You are signed in with the provider of an organization, which counts only there. Sign in with that of the platform.',
    )
}

/** Returns the robots that a caller's requests concern. Routes check the action before. */
export const scopeOf = (caller: Pick<Caller, 'userId' | 'organization' | 'credential'>): Scope => ({
  organizationId: caller.organization.id,
  groupIds: caller.organization.groupIds,
  actorId: caller.userId,
  credential: credentialOf(caller),
})

/** Returns the scope of all robots of an organization, for work of the platform itself. */
export const wholeScope = (organizationId: string): Scope => ({
  organizationId,
  groupIds: null,
  actorId: organizationId,
})

/** Restricts a query that contains `robots` to those of a scope. */
export const ownedBy = ({ organizationId, groupIds }: Scope): RawBuilder<boolean> =>
  groupIds === null
    ? sql<boolean>`robots.owner_id = ${organizationId}`
    : sql<boolean>`(robots.owner_id = ${organizationId} and robots.group_id = any(${[...groupIds]}::uuid[]))`

/**
 * Restricts a query to rows of a scope that belong to robots.
 * @param table has the columns `client_id` and `robot_id`
 */
export const inScope = (
  table: string,
  { organizationId, groupIds }: Pick<Scope, 'organizationId' | 'groupIds'>,
): RawBuilder<boolean> =>
  groupIds === null
    ? sql<boolean>`${sql.ref(`${table}.client_id`)} = ${organizationId}`
    : sql<boolean>`(${sql.ref(`${table}.client_id`)} = ${organizationId} and ${sql.ref(`${table}.robot_id`)} in (
        select grouped.id from robots as grouped
        where grouped.owner_id = ${organizationId} and grouped.group_id = any(${[...groupIds]}::uuid[])))`

/** What an organization can grant another one to read of a robot. */
export const dataScopes = ['recordings', 'datasets', 'log', 'health'] as const
export type DataScope = (typeof dataScopes)[number]

/**
 * Returns the condition that another organization has granted the one of a scope data of a robot. Members of some groups are not
 * included: the robot is in none of their groups. The array lets the planner use an index on the robot; the row of the grant also has
 * the owner, so that what a robot recorded for an earlier owner stays with that one.
 * @param columns those with the ids of the robot and of the organization whose data it is
 */
export const grantedTo = (
  data: DataScope,
  { organizationId, groupIds }: Pick<Scope, 'organizationId' | 'groupIds'>,
  columns: { readonly robot: string; readonly owner: string },
): RawBuilder<boolean> =>
  groupIds !== null
    ? sql<boolean>`false`
    : sql<boolean>`(${sql.ref(columns.robot)} = any(array(
        select robot_id from data_grants where to_organization_id = ${organizationId})) and exists (
        select from data_grants as granted
        where granted.to_organization_id = ${organizationId} and granted.robot_id = ${sql.ref(columns.robot)}
          and granted.organization_id = ${sql.ref(columns.owner)} and ${data} = any(granted.scopes)
          and (granted.expires_at is null or granted.expires_at > now())))`

/**
 * Returns the condition that a user may perform an action as a member, for statements that check many users, or check again when they
 * write. The arguments are expressions: the ids of user, organization and the robot's group.
 */
export const memberMay = (
  action: OrganizationAction,
  { user, organization, group }: Record<'user' | 'organization' | 'group', RawBuilder<unknown>>,
): RawBuilder<boolean> =>
  sql<boolean>`exists (
    select from organization_members as member
    where member.organization_id = ${organization} and member.user_id = ${user}
      and member.role = any(${[...permissions[action].roles]}::text[])
      and (member.group_ids is null or ${group} = any(member.group_ids)))`
