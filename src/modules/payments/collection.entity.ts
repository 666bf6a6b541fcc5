import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** An invoice at the payment provider, and how far collecting its money has come. */
export const InvoiceCollection = defineEntity({
  name: 'InvoiceCollection',
  tableName: 'invoice_collections',
  indexes: [
    {
      name: 'invoice_collections_due',
      expression:
        'create index "invoice_collections_due" on "invoice_collections" ("try_at") where "try_at" is not null',
    },
  ],
  uniques: [{ name: 'invoice_collections_stripe_id', properties: ['stripeId'] }],
  properties: {
    invoice: () => referenceTo('Invoice').primary().deleteRule('restrict'),
    /** Part of the idempotency keys of all that is asked for it. */
    requestKey: p.uuid(),
    /** What the provider calls it; null until it is made there. */
    stripeId: p.text().nullable(),
    /** How often the next step was tried since the last one that worked. */
    attempts: p.integer().default(0),
    /** When it is to be worked on, or asked about, again; null when it is paid or withdrawn. */
    tryAt: p.datetime(3).nullable(),
    /** Why the last attempt did not work; null when it did. */
    failure: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type InvoiceCollection = InferEntity<typeof InvoiceCollection>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof InvoiceCollection> {}
}
