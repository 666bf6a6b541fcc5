import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../core/database/tables.ts'
import { deliveryColumns } from '../../core/mail/mail-columns.ts'
import { ContactCategory } from './contact.schema.ts'

/** A message of the contact form and the state of its delivery by mail. */
export const ContactMessage = defineEntity({
  name: 'ContactMessage',
  tableName: 'contact_messages',
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    email: p.text(),
    category: p.enum(ContactCategory.options),
    subject: p.text(),
    message: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    ...deliveryColumns(),
  },
})
export type ContactMessage = InferEntity<typeof ContactMessage>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof ContactMessage> {}
}
