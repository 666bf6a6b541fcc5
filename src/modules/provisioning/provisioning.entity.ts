import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { OrganizationRole } from '@wheelhouse/protocol'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** A domain of an organization. It is verified once its TXT record has the value. */
export const OrganizationDomain = defineEntity({
  name: 'OrganizationDomain',
  tableName: 'organization_domains',
  properties: {
    id: p.uuid().primary(),
    organization: () => referenceTo('Organization').deleteRule('cascade'),
    domain: p.text(),
    txtValue: p.text(),
    verifiedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type OrganizationDomain = InferEntity<typeof OrganizationDomain>

/** The role and the group of robots that members of a group of the identity provider get. */
export const RoleMapping = defineEntity({
  name: 'RoleMapping',
  tableName: 'role_mappings',
  properties: {
    id: p.uuid().primary(),
    organization: () => referenceTo('Organization').deleteRule('cascade'),
    /** The name of the group. */
    name: p.text(),
    role: p.enum(OrganizationRole.options).nullable(),
    groupId: p.uuid().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type RoleMapping = InferEntity<typeof RoleMapping>

/** The credential of an identity provider that provisions members. Only its hash is stored. */
export const ScimToken = defineEntity({
  name: 'ScimToken',
  tableName: 'scim_tokens',
  properties: {
    id: p.uuid().primary(),
    organization: () => referenceTo('Organization').deleteRule('cascade'),
    name: p.text(),
    hash: p.text().unique('scim_tokens_hash'),
    createdBy: () => referenceTo('User').nullable().deleteRule('set null'),
    createdAt: p.datetime(3).defaultRaw('now()'),
    lastUsedAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
  },
})
export type ScimToken = InferEntity<typeof ScimToken>

/** A person as the identity provider of an organization describes it, known before the first sign-in. */
export const ScimUser = defineEntity({
  name: 'ScimUser',
  tableName: 'scim_users',
  properties: {
    id: p.uuid().primary(),
    organization: () => referenceTo('Organization').deleteRule('cascade'),
    externalId: p.text().nullable(),
    userName: p.text(),
    active: p.boolean().default(true),
    /** The other attributes of the resource. */
    attributes: p.json<Record<string, unknown>>().defaultRaw(`'{}'::jsonb`),
    /** The user; null until the person signs in. */
    user: () => referenceTo('User').nullable().deleteRule('set null'),
    /** The role that provisioning has given; null while it has given none. */
    role: p.enum(OrganizationRole.options).nullable(),
    /** The groups of a person whose sign-ins say what the role is; null where SCIM says it. */
    claimedGroups: p.array().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type ScimUser = InferEntity<typeof ScimUser>

/** A group of the identity provider. */
export const ScimGroup = defineEntity({
  name: 'ScimGroup',
  tableName: 'scim_groups',
  properties: {
    id: p.uuid().primary(),
    organization: () => referenceTo('Organization').deleteRule('cascade'),
    externalId: p.text().nullable(),
    displayName: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type ScimGroup = InferEntity<typeof ScimGroup>

export const ScimGroupMember = defineEntity({
  name: 'ScimGroupMember',
  tableName: 'scim_group_members',
  properties: {
    group: () => p.manyToOne(ScimGroup).mapToPk().primary().deleteRule('cascade'),
    user: () => p.manyToOne(ScimUser).mapToPk().primary().deleteRule('cascade'),
  },
})
export type ScimGroupMember = InferEntity<typeof ScimGroupMember>

/** The identity provider of an organization, with which its members sign in. */
export const OrganizationSignIn = defineEntity({
  name: 'OrganizationSignIn',
  tableName: 'organization_sign_ins',
  properties: {
    organization: () => referenceTo('Organization').primary().deleteRule('cascade'),
    issuer: p.text(),
    clientId: p.text(),
    /** Encrypted with the key of the platform. */
    clientSecret: p.text(),
    scopes: p.array(),
    /** The claim with the names of a person's groups. */
    groupsClaim: p.text(),
    /** Whether a sign-in makes somebody a member. */
    createsMembers: p.boolean(),
    /** Whether members must sign in here to act for the organization. Owners need not. */
    enforced: p.boolean().default(false),
    /** When an owner has signed in with these settings; null before. */
    ownerSignedInAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type OrganizationSignIn = InferEntity<typeof OrganizationSignIn>

/** Who a subject of an organization's provider is. It ends with the membership, the domain of the address, and the settings. */
export const OrganizationIdentity = defineEntity({
  name: 'OrganizationIdentity',
  tableName: 'organization_identities',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    subject: p.text(),
    userId: p.uuid(),
    domain: () => p.manyToOne(OrganizationDomain).mapToPk().deleteRule('cascade'),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type OrganizationIdentity = InferEntity<typeof OrganizationIdentity>

/** A person who is signed in with the provider of an organization. */
export const SignInSession = defineEntity({
  name: 'SignInSession',
  tableName: 'sign_in_sessions',
  properties: {
    id: p.uuid().primary(),
    identity: () => p.manyToOne(OrganizationIdentity).mapToPk().deleteRule('cascade'),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3),
  },
})
export type SignInSession = InferEntity<typeof SignInSession>

declare module '../../core/database/tables.ts' {
  interface Tables
    extends TablesOf<
      | typeof OrganizationDomain
      | typeof RoleMapping
      | typeof ScimToken
      | typeof ScimUser
      | typeof ScimGroup
      | typeof ScimGroupMember
      | typeof OrganizationSignIn
      | typeof OrganizationIdentity
      | typeof SignInSession
    > {}
}
