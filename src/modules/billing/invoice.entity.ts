import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'
import { InvoiceStatus } from './invoice.schema.ts'

/**
 * What a client owes for a UTC month. It is created after the month has ended, and its sessions reference it. Triggers
 * reject every change of an issued invoice except of its payment.
 */
export const Invoice = defineEntity({
  name: 'Invoice',
  tableName: 'invoices',
  properties: {
    id: p.uuid().primary(),
    client: () => referenceTo('User'),
    /** `YYYY-MM`. It also contains earlier sessions that ended after their own month was invoiced. */
    month: p.text(),
    status: p.enum(InvoiceStatus.options),
    currency: p.text(),
    totalCents: p.bigint('number'),
    sessionCount: p.integer(),
    minutes: p.integer(),
    /** The client's company or name, country and VAT id at the time of issue, copied by a trigger. */
    billingName: p.text().nullable(),
    billingCountry: p.text().nullable(),
    billingVatId: p.text().nullable(),
    issuedAt: p.datetime(3).nullable(),
    paidAt: p.datetime(3).nullable(),
    /** URL of the hosted invoice at Stripe. */
    hostedUrl: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type Invoice = InferEntity<typeof Invoice>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof Invoice> {}
}
