import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../../core/database/tables.ts'

/**
 * The totals of all sessions, maintained by triggers. They are spread over sixteen rows, so that sessions that end at
 * the same time rarely wait for each other. Readers use the sum.
 */
export const SessionTotals = defineEntity({
  name: 'SessionTotals',
  tableName: 'session_totals',
  properties: {
    shard: p.smallint().primary().autoincrement(false),
    completed: p.bigint('number').default(0),
    /** The time from start to end of completed sessions. */
    teleopMs: p.bigint('number').default(0),
    episodes: p.bigint('number').default(0),
  },
})
export type SessionTotals = InferEntity<typeof SessionTotals>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof SessionTotals> {}
}
