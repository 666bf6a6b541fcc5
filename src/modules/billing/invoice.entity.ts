import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'
import { InvoiceStatus } from './invoice.schema.ts'

/**
 * What a client owes for a month (UTC). Made when the month is over; the sessions on it name it. Triggers refuse every
 * change of an issued invoice but that of its payment.
 */
export const Invoice = defineEntity({
  name: 'Invoice',
  tableName: 'invoices',
  uniques: [{ name: 'one_invoice_per_month', properties: ['client', 'month'] }],
  indexes: [
    {
      name: 'invoices_to_collect',
      expression: `create index "invoices_to_collect" on "invoices" ("issued_at") where "status" = 'OPEN'`,
    },
  ],
  checks: [
    { name: 'invoices_month', expression: `"month" ~ '^[0-9]{4}-(0[1-9]|1[0-2])$'` },
    { name: 'invoices_total', expression: '"total_cents" >= 0' },
    { name: 'invoices_issued', expression: `"status" = 'DRAFT' or "issued_at" is not null` },
    { name: 'invoices_paid', expression: `"status" <> 'PAID' or "paid_at" is not null` },
    { name: 'invoices_billing_name', expression: `"status" = 'DRAFT' or "billing_name" is not null` },
  ],
  properties: {
    id: p.uuid().primary(),
    client: () => referenceTo('User'),
    /** `YYYY-MM`. Sessions that ended earlier but came too late for their own month are on it as well. */
    month: p.text(),
    status: p.enum(InvoiceStatus.options),
    currency: p.text(),
    totalCents: p.bigint('number'),
    sessionCount: p.integer(),
    minutes: p.integer(),
    /** The client's company or name, country and VAT id when it was made, copied by a trigger. */
    billingName: p.text().nullable(),
    billingCountry: p.text().nullable(),
    billingVatId: p.text().nullable(),
    issuedAt: p.datetime(3).nullable(),
    paidAt: p.datetime(3).nullable(),
    /** Where it can be read and paid at the payment provider. */
    hostedUrl: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type Invoice = InferEntity<typeof Invoice>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof Invoice> {}
}
