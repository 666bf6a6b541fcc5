import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../core/database/tables.ts'

/**
 * What all sessions come to, kept by triggers. Spread over sixteen rows, so that sessions that end at the same
 * time rarely wait for each other; the sum is what counts.
 */
export const SessionTotals = defineEntity({
  name: 'SessionTotals',
  tableName: 'session_totals',
  properties: {
    shard: p.smallint().primary().autoincrement(false),
    completed: p.bigint('number').default(0),
    /** From start to end of completed sessions. */
    teleopMs: p.bigint('number').default(0),
    episodes: p.bigint('number').default(0),
  },
})
export type SessionTotals = InferEntity<typeof SessionTotals>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof SessionTotals> {}
}
