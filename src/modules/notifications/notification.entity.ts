import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** Describes an event to a user. `seq` has no gaps per user, so a client can request what it missed. */
export const Notification = defineEntity({
  name: 'Notification',
  tableName: 'notifications',
  properties: {
    user: () => referenceTo('User').primary().deleteRule('cascade'),
    seq: p.integer().primary(),
    type: p.text(),
    data: p.json<Record<string, unknown>>(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    readAt: p.datetime(3).nullable(),
    /** Whether a mail includes it, unless the user reads it before. */
    byMail: p.boolean().default(false),
    /** Whether it is pushed to the browsers of the user, unless the user reads it before. */
    byPush: p.boolean().default(false),
  },
})
export type Notification = InferEntity<typeof Notification>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof Notification> {}
}
