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

/** A request for a robot type that is not supported yet. */
export const RobotRequest = defineEntity({
  name: 'RobotRequest',
  tableName: 'robot_requests',
  properties: {
    id: p.uuid().primary(),
    email: p.text(),
    robotType: p.text(),
    name: p.text().nullable(),
    details: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type RobotRequest = InferEntity<typeof RobotRequest>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof ContactMessage | typeof RobotRequest> {}
}
