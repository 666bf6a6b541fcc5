import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/**
 * Marks a user who has notifications that are not mailed yet. A user has at most one row. The worker that deletes the
 * row writes the mail in the same transaction, so no other worker writes it.
 */
export const NotificationDigest = defineEntity({
  name: 'NotificationDigest',
  tableName: 'notification_digests',
  indexes: [
    {
      name: 'notification_digests_due',
      expression: 'create index "notification_digests_due" on "notification_digests" ("due_at")',
    },
  ],
  properties: {
    user: () => referenceTo('User').primary().deleteRule('cascade'),
    /** The number of the first notification that is not mailed yet. */
    fromSeq: p.integer(),
    /** When a worker next decides whether to write a mail. */
    dueAt: p.datetime(3),
  },
})
export type NotificationDigest = InferEntity<typeof NotificationDigest>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof NotificationDigest> {}
}
