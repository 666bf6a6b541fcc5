import type { Selectable } from 'kysely'
import type { z } from 'zod'
import { iso } from '../../core/database/iso.ts'
import type { Tables } from '../../core/database/tables.ts'
import type { InvoiceLine, InvoiceView } from './invoice.schema.ts'
import type { DrivenInterval, SessionLine } from './invoice-lines.ts'
import { CURRENCY } from './money.ts'

export function invoiceView(row: Selectable<Tables['invoices']>): InvoiceView {
  return {
    id: row.id,
    month: row.month,
    status: row.status,
    currency: CURRENCY,
    billing_name: row.billing_name,
    billing_country: row.billing_country,
    billing_vat_id: row.billing_vat_id,
    total_cents: row.total_cents,
    session_count: row.session_count,
    minutes: row.minutes,
    issued_at: iso(row.issued_at),
    paid_at: iso(row.paid_at),
    hosted_url: row.hosted_url,
  }
}

export const lineView = (row: SessionLine): z.input<typeof InvoiceLine> => ({
  session_id: row.id,
  robot_name: row.robot_name,
  robot_type: row.robot_type,
  operator_name: row.operator_name,
  started_at: iso(row.started_at),
  ended_at: iso(row.ended_at),
  minutes: row.billable_minutes,
  paused_seconds: Math.floor(row.paused_ms / 1_000),
  outage_seconds: Math.ceil(row.outage_ms / 1_000),
  rate_cents_per_minute: row.client_rate_cents_per_minute,
  amount_cents: row.client_charge_cents,
  ...(row.driven.length > 0 && { driven: row.driven.map(drivenView) }),
})

const drivenView = (part: DrivenInterval) => ({
  operator_name: part.name,
  kind: part.kind,
  from: iso(new Date(part.started_at)),
  to: iso(new Date(part.ended_at)),
  seconds: Math.round(part.driven_ms / 1_000),
  rate_cents_per_minute: part.rate,
  amount_cents: part.cents,
})
