import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'
import { deliveryColumns } from '../../core/mail/mail-columns.ts'

/** Stores a mail about notifications and the state of its delivery. */
export const NotificationMail = defineEntity({
  name: 'NotificationMail',
  tableName: 'notification_mails',
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
