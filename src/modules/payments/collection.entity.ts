import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** Stores the state of an invoice's collection through Stripe. */
export const InvoiceCollection = defineEntity({
  name: 'InvoiceCollection',
  tableName: 'invoice_collections',
  properties: {
    invoice: () => referenceTo('Invoice').primary().deleteRule('restrict'),
    /** Part of the idempotency keys of all requests about this invoice. */
    requestKey: p.uuid(),
    /** The Stripe id; null until Stripe has created the invoice. */
    stripeId: p.text().nullable(),
    /** Number of attempts since the last successful step. */
    attempts: p.integer().default(0),
    /** Why the last attempt failed; null if it succeeded. */
    failure: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type InvoiceCollection = InferEntity<typeof InvoiceCollection>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof InvoiceCollection> {}
}
