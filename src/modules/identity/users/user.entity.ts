import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../../core/database/reference.ts'
import type { TablesOf } from '../../../core/database/tables.ts'

/** A person known through the identity provider; created on first sight of an (issuer, subject) pair. */
export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  uniques: [{ name: 'users_issuer_subject', properties: ['issuer', 'subject'] }],
  checks: [{ name: 'users_notification_unread', expression: '"notification_unread" >= 0' }],
  indexes: [
    {
      name: 'users_operators',
      expression: 'create index "users_operators" on "users" ("id") where "is_operator"',
    },
    {
      name: 'users_permissions_changed',
      expression:
        'create index "users_permissions_changed" on "users" ("permissions_changed_at") where "permissions_changed_at" is not null',
    },
  ],
  properties: {
    id: p.uuid().primary(),
    issuer: p.text(),
    subject: p.text(),
    email: p.text().nullable(),
    emailVerified: p.boolean().default(false),
    displayName: p.text(),
    /** Whether the person chose the name themselves; then the identity provider's no longer replaces it. */
    displayNameChosen: p.boolean().default(false),
    /** The identity provider's picture; an uploaded avatar goes before it. */
    avatarUrl: p.text().nullable(),
    isClient: p.boolean().default(false),
    isOperator: p.boolean().default(false),
    /** Roles that an admin has removed: the user cannot take them again. */
    removedRoles: p.array().defaultRaw(`'{}'`),
    notificationPreferences: p.json<Record<string, boolean>>().defaultRaw(`'{}'::jsonb`),
    /** Number of the user's newest notification; the next one takes this plus one under the row's lock. */
    notificationSeq: p.integer().default(0),
    /** How many of the user's notifications are unread; changes under the same lock. */
    notificationUnread: p.integer().default(0),
    /** What the user pays as a client; null = the default plan, whichever that is. */
    plan: () => referenceTo('PricingPlan').nullable().deleteRule('restrict'),
    /** Counts the changes of what the user may do: roles, address, certifications. Kept by triggers. */
    permissionsVersion: p.integer().default(0),
    /** When that was last, by the database's clock. */
    permissionsChangedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type User = InferEntity<typeof User>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof User> {}
}
