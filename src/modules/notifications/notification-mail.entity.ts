import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'
import { deliveryColumns } from '../../core/mail/mail-columns.ts'

/** Stores a mail about notifications and the state of its delivery. The table is the queue. */
export const NotificationMail = defineEntity({
  name: 'NotificationMail',
  tableName: 'notification_mails',
  indexes: [
    {
      name: 'notification_mails_due',
      expression:
        'create index "notification_mails_due" on "notification_mails" ("urgent" desc, "next_attempt_at") where "delivered_at" is null',
    },
    {
      name: 'notification_mails_claimed',
      expression:
        'create index "notification_mails_claimed" on "notification_mails" ("claimed_until") where "claimed_until" is not null',
    },
    {
      name: 'notification_mails_of_user',
      expression:
        'create index "notification_mails_of_user" on "notification_mails" ("user_id", "created_at")',
    },
    {
      name: 'notification_mails_delivered',
      expression:
        'create index "notification_mails_delivered" on "notification_mails" ("delivered_at") where "delivered_at" is not null',
    },
  ],
  checks: [
    { name: 'notification_mails_claim', expression: '("claim" is null) = ("claimed_until" is null)' },
    { name: 'notification_mails_delivered', expression: '"delivered_at" is null or "claim" is null' },
    { name: 'notification_mails_seqs', expression: 'cardinality("seqs") > 0' },
  ],
  properties: {
    id: p.uuid().primary(),
    user: () => referenceTo('User').deleteRule('cascade'),
    /** The notifications in the mail, oldest first. The text is rendered from them, so each attempt sends the same mail. */
    seqs: p.array<number>(Number, String).columnType('int[]'),
    /** The number of older notifications that the mail only counts. */
    more: p.integer(),
    urgent: p.boolean(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    ...deliveryColumns(),
  },
})
export type NotificationMail = InferEntity<typeof NotificationMail>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof NotificationMail> {}
}
