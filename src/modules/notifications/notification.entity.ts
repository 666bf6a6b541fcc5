import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** Something a user should know. `seq` is gapless per user, so a client can ask for what it missed. */
export const Notification = defineEntity({
  name: 'Notification',
  tableName: 'notifications',
  indexes: [
    {
      name: 'notifications_unread',
      expression:
        'create index "notifications_unread" on "notifications" ("user_id", "seq") where "read_at" is null',
    },
  ],
  properties: {
    user: () => referenceTo('User').primary().deleteRule('cascade'),
    seq: p.integer().primary(),
    type: p.text(),
    data: p.json<Record<string, unknown>>(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    readAt: p.datetime(3).nullable(),
    /** Whether it is to be told by mail too, unless it is read before. */
    byMail: p.boolean().default(false),
  },
})
export type Notification = InferEntity<typeof Notification>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof Notification> {}
}
