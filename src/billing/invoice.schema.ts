import { z } from 'zod'
import { timestamp } from '../http/fields.ts'
import { CURRENCY } from './money.ts'

/** DRAFT until it is issued; OPEN until it is PAID; FAILED when collecting it failed; VOID when it was withdrawn. */
export const InvoiceStatus = z.enum(['DRAFT', 'OPEN', 'PAID', 'FAILED', 'VOID'])
export type InvoiceStatus = z.infer<typeof InvoiceStatus>

export const InvoiceView = z.strictObject({
  id: z.uuid(),
  /** `YYYY-MM`, UTC. */
  month: z.string(),
  status: InvoiceStatus,
  currency: z.literal(CURRENCY),
  total_cents: z.number().int(),
  session_count: z.number().int(),
  minutes: z.number().int(),
  issued_at: timestamp.nullable(),
  paid_at: timestamp.nullable(),
  hosted_url: z.string().nullable(),
})
export type InvoiceView = z.infer<typeof InvoiceView>

export const InvoiceList = z.object({ invoices: z.array(InvoiceView) })
