import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/**
 * Marks a user who has notifications that are not mailed yet. A user has at most one row. The job that deletes the row
 * writes the mail in the same transaction. Every change of `due_at` creates a job for that time.
 */
export const NotificationDigest = defineEntity({
  name: 'NotificationDigest',
  tableName: 'notification_digests',
  properties: {
    user: () => referenceTo('User').primary().deleteRule('cascade'),
    /** The number of the first notification that is not mailed yet. */
    fromSeq: p.integer(),
    /** When a job next decides whether to write a mail. */
    dueAt: p.datetime(3),
  },
})
export type NotificationDigest = InferEntity<typeof NotificationDigest>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof NotificationDigest> {}
}
