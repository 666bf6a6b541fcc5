import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../../core/database/tables.ts'
import { User } from './user.entity.ts'

/** Stores when a user was last connected to the hub. A disconnected user's row is not deleted; it expires. */
export const UserPresence = defineEntity({
  name: 'UserPresence',
  tableName: 'user_presence',
  properties: {
    user: () => p.manyToOne(User).mapToPk().primary().deleteRule('cascade'),
    /** Set by the database's clock, so that the clocks of processes do not matter. */
    seenAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type UserPresence = InferEntity<typeof UserPresence>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof UserPresence> {}
}
