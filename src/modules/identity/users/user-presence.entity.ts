import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../../core/database/tables.ts'
import { User } from './user.entity.ts'

/** When a person was last seen at the hub. Rows are left to age: who is gone is simply not seen any more. */
export const UserPresence = defineEntity({
  name: 'UserPresence',
  tableName: 'user_presence',
  properties: {
    user: () => p.manyToOne(User).mapToPk().primary().deleteRule('cascade'),
    /** By the database's clock, so that processes need not agree on the time. */
    seenAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type UserPresence = InferEntity<typeof UserPresence>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof UserPresence> {}
}
