import type { Selectable } from 'kysely'
import { iso } from '../db/iso.ts'
import type { Tables } from '../db/orm.ts'
import type { InvoiceView } from './invoice.schema.ts'
import { CURRENCY } from './money.ts'

export function invoiceView(row: Selectable<Tables['invoices']>): InvoiceView {
  return {
    id: row.id,
    month: row.month,
    status: row.status,
    currency: CURRENCY,
    total_cents: row.total_cents,
    session_count: row.session_count,
    minutes: row.minutes,
    issued_at: iso(row.issued_at),
    paid_at: iso(row.paid_at),
    hosted_url: row.hosted_url,
  }
}
