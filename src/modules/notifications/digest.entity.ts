import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/**
 * Somebody who has notifications that no mail has told of. One row a person, however many there are: whoever
 * deletes it, in one transaction with the mail, is the only one to write that mail.
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
    /** The first of them. */
    fromSeq: p.integer(),
    /** When it is to be looked at whether they are worth a mail by now. */
    dueAt: p.datetime(3),
  },
})
export type NotificationDigest = InferEntity<typeof NotificationDigest>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof NotificationDigest> {}
}
