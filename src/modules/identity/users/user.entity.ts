import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../../core/database/reference.ts'
import type { TablesOf } from '../../../core/database/tables.ts'

/** A user of the platform. The first token with a new (issuer, subject) pair creates the row. */
export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.uuid().primary(),
    issuer: p.text(),
    subject: p.text(),
    email: p.text().nullable(),
    emailVerified: p.boolean().default(false),
    displayName: p.text(),
    /** Whether the user chose the name. The identity provider's name does not replace a chosen name. */
    displayNameChosen: p.boolean().default(false),
    /** The identity provider's picture. An uploaded avatar takes precedence. */
    avatarUrl: p.text().nullable(),
    isClient: p.boolean().default(false),
    isOperator: p.boolean().default(false),
    /** Roles that an admin has removed. The user cannot add them again. */
    removedRoles: p.array().defaultRaw(`'{}'`),
    notificationPreferences: p.json<Record<string, boolean>>().defaultRaw(`'{}'::jsonb`),
    /** Number of the user's newest notification. The next insert increments it under the row's lock. */
    notificationSeq: p.integer().default(0),
    /** Number of the user's unread notifications. It changes under the same lock. */
    notificationUnread: p.integer().default(0),
    /** Of a program: the organization that made it. It has no sign-in and no personal organization. */
    serviceOf: () => referenceTo('Organization').nullable().deleteRule('cascade'),
    /** When an admin suspended the user; null if not. The user's credentials are refused while it is set. */
    suspendedAt: p.datetime(3).nullable(),
    suspensionReason: p.text().nullable(),
    /** When the person deleted the account. The row stays as a pseudonym, suspended and without anything personal. */
    deletedAt: p.datetime(3).nullable(),
    /** Counts changes of the user's permissions: roles, address, certifications, suspension. Triggers increment it. */
    permissionsVersion: p.integer().default(0),
    /** When the permissions last changed, by the database's clock. */
    permissionsChangedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type User = InferEntity<typeof User>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof User> {}
}
