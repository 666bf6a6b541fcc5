import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { User } from '../../identity/user.entity.ts'

/** How many tickets a user was issued, so that only the newest ones are valid. No row before the first one. */
export const TicketCounter = defineEntity({
  name: 'TicketCounter',
  tableName: 'ticket_counters',
  checks: [{ name: 'ticket_counters_issued', expression: '"issued" > 0' }],
  properties: {
    user: () => p.manyToOne(User).mapToPk().primary().deleteRule('cascade'),
    issued: p.bigint('number'),
  },
})
export type TicketCounter = InferEntity<typeof TicketCounter>
