import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../../core/database/reference.ts'
import type { TablesOf } from '../../../core/database/tables.ts'

/** The number of tickets issued to a user. Only the newest tickets are valid. A user without tickets has no row. */
export const TicketCounter = defineEntity({
  name: 'TicketCounter',
  tableName: 'ticket_counters',
  properties: {
    user: () => referenceTo('User').primary().deleteRule('cascade'),
    issued: p.bigint('number'),
  },
})
export type TicketCounter = InferEntity<typeof TicketCounter>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof TicketCounter> {}
}
