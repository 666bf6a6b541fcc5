import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { OrganizationRole } from '@wheelhouse/protocol'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'
import { deliveryColumns } from '../../core/mail/mail-columns.ts'

/** The owner of robots. Every user has a personal one, with the id of the user; a trigger creates it. */
export const Organization = defineEntity({
  name: 'Organization',
  tableName: 'organizations',
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    kind: p.enum(['personal', 'team']).default('team'),
    /** The pricing plan. Null: the current default plan. */
    plan: () => referenceTo('PricingPlan').nullable().deleteRule('restrict'),
    /** Hours after which a sign-in of a member ends here; null for as long as the identity provider says. */
    sessionHours: p.integer().nullable(),
    /** How many robots one supervisor may control at a time. */
    robotsPerSupervisor: p.integer().default(8),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type Organization = InferEntity<typeof Organization>

/** A part of an organization's robots, such as those of one site. */
export const OrganizationGroup = defineEntity({
  name: 'OrganizationGroup',
  tableName: 'organization_groups',
  properties: {
    id: p.uuid().primary(),
    organization: () => p.manyToOne(Organization).mapToPk().deleteRule('cascade'),
    name: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type OrganizationGroup = InferEntity<typeof OrganizationGroup>

/** What a user may do in an organization. A change raises the `permissions_version` of the user, which ends sockets and downloads. */
export const OrganizationMember = defineEntity({
  name: 'OrganizationMember',
  tableName: 'organization_members',
  properties: {
    organization: () => p.manyToOne(Organization).mapToPk().primary().deleteRule('cascade'),
    user: () => referenceTo('User').primary().deleteRule('cascade'),
    role: p.enum(OrganizationRole.options),
    /** The groups whose robots the member may see; null for all robots. */
    groupIds: p.array().columnType('uuid[]').nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type OrganizationMember = InferEntity<typeof OrganizationMember>

/** An invitation by mail. Its token is a signature of the id, so that a copy of the database does not disclose it. */
export const OrganizationInvitation = defineEntity({
  name: 'OrganizationInvitation',
  tableName: 'organization_invitations',
  properties: {
    id: p.uuid().primary(),
    organization: () => p.manyToOne(Organization).mapToPk().deleteRule('cascade'),
    email: p.text(),
    role: p.enum(OrganizationRole.options),
    groupIds: p.array().columnType('uuid[]').nullable(),
    invitedBy: () => referenceTo('User').nullable().deleteRule('set null'),
    createdAt: p.datetime(3).defaultRaw('now()'),
    expiresAt: p.datetime(3),
    acceptedAt: p.datetime(3).nullable(),
    ...deliveryColumns(),
  },
})
export type OrganizationInvitation = InferEntity<typeof OrganizationInvitation>

declare module '../../core/database/tables.ts' {
  interface Tables
    extends TablesOf<
      | typeof Organization
      | typeof OrganizationGroup
      | typeof OrganizationMember
      | typeof OrganizationInvitation
    > {}
}
