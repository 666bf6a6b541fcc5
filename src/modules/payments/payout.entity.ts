import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { z } from 'zod'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

export const PayoutStatus = z.enum(['PENDING', 'PAID', 'FAILED'])
export type PayoutStatus = z.infer<typeof PayoutStatus>

/**
 * A transfer of earnings to an operator. The ledger reserves the amount while the payout is PENDING. A payout whose
 * transfer has an unknown outcome stays PENDING, because its amount is neither paid nor available.
 */
export const Payout = defineEntity({
  name: 'Payout',
  tableName: 'payouts',
  properties: {
    id: p.uuid().primary(),
    operator: () => referenceTo('User').deleteRule('restrict'),
    amountCents: p.bigint('number'),
    currency: p.text(),
    /** The connected account that receives the transfer, as of the request. */
    destination: p.text(),
    status: p.enum(PayoutStatus.options).default('PENDING'),
    /** Number of attempts to request the transfer. */
    attempts: p.integer().default(0),
    transferId: p.text().nullable(),
    /** The amount that Stripe reversed later. */
    reversedCents: p.bigint('number').default(0),
    /** Why it failed, in Stripe's words. */
    failure: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    settledAt: p.datetime(3).nullable(),
  },
})
export type Payout = InferEntity<typeof Payout>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof Payout> {}
}
