import type Stripe from 'stripe'
import type { Db } from '../../core/database/tables.ts'
import { CURRENCY, type DayLine, dayLines, type SessionLine, sessionLines } from '../billing/index.ts'
import type { CollectionRow } from './collection-queue.ts'
import type { Customers } from './customer.service.ts'
import { requireText, type StripeClient } from './stripe-client.ts'

/** Maximum number of lines on a Stripe invoice. */
const MAX_LINES = 250

type NewLine = Stripe.InvoiceAddLinesParams.Line & { metadata: { line: string } }

/**
 * Returns the lines of a Stripe invoice: a line per session, or per day if the sessions exceed the limit. The result does
 * not change, because the sessions of an issued invoice do not change. `metadata.line` identifies a line.
 */
async function linesOf(db: Db, invoice: { id: string; session_count: number }): Promise<NewLine[]> {
  if (invoice.session_count > MAX_LINES) return (await dayLines(db, invoice.id)).map(dayLine)
  return (await sessionLines(db, invoice.id, { limit: MAX_LINES, offset: 0 })).map(sessionLine)
}

function sessionLine(row: SessionLine): NewLine {
  const { started_at: startedAt, ended_at: endedAt, client_charge_cents: amount } = row
  const startedIso = startedAt.toISOString()
  const remarks = [
    ...(row.paused_ms > 0 ? [`paused for ${duration(row.paused_ms)}`] : []),
    ...(row.outage_ms > 0 ? [`robot disconnected for ${duration(row.outage_ms)}, not charged`] : []),
  ]
  const summary = `${row.robot_name}, ${startedIso.slice(0, 10)} ${startedIso.slice(11, 16)} UTC, operated by ${row.operator_name}`
  const { billable_minutes: count, client_rate_cents_per_minute: rate } = row
  // Not one rate, if control passed to operators at other terms.
  const minutes = count * rate === amount ? `${count} min at ${rate} cents` : `${count} min`
  return {
    amount,
    description: truncate([`${summary}: ${minutes}`, ...remarks].join('; ')),
    period: { start: seconds(startedAt), end: seconds(endedAt) },
    metadata: { line: row.id },
  }
}

const dayLine = ({ day, session_count: count, minutes, cents, first_at, last_at }: DayLine): NewLine => ({
  amount: cents,
  description: `${day} (UTC): ${count} ${count === 1 ? 'session' : 'sessions'}, ${minutes} min`,
  period: { start: seconds(first_at), end: seconds(last_at) },
  metadata: { line: day },
})

const seconds = (at: Date): number => Math.floor(at.getTime() / 1_000)

/** Truncates a description to Stripe's limit of 500 characters, which a long robot name can exceed. */
const truncate = (text: string): string => (text.length > 500 ? `${text.slice(0, 499)}…` : text)

/** Formats a duration, rounded up to seconds: `2 h 5 min`, `3 min 20 s`, `12 s`. */
function duration(ms: number): string {
  const total = Math.ceil(ms / 1_000)
  const [hours, minutes, rest] = [Math.floor(total / 3_600), Math.floor(total / 60) % 60, total % 60]
  const parts = [hours > 0 && `${hours} h`, minutes > 0 && `${minutes} min`, rest > 0 && `${rest} s`]
  return parts.filter(Boolean).join(' ')
}

/** Payment term of clients without a payment method. Stripe sends them the invoice. */
const DAYS_UNTIL_DUE = 14
const LINES_PER_REQUEST = 100
/** Maximum number of a customer's invoices that are searched for the draft of an earlier attempt. */
const SEARCH_LIMIT = 100

/** Reports that the draft's total differs from the invoice's total. */
class DraftMismatchError extends Error {}

/**
 * Creates a Stripe invoice step by step. Each step first reads what exists, so that a retry after a crash, or after the
 * idempotency keys have expired, continues with the next step.
 */
export function createDrafts({
  stripe,
  customers,
  db,
}: {
  stripe: StripeClient
  customers: Customers
  db: Db
}) {
  async function find(invoice: CollectionRow, customer: string): Promise<string | undefined> {
    const created = { gte: Math.floor(invoice.created_at.getTime() / 1_000) - 86_400 }
    const { data } = await stripe.invoices.list({ customer, created, limit: SEARCH_LIMIT })
    return data.find(({ metadata }) => metadata?.invoice_id === invoice.id)?.id
  }

  async function create(invoice: CollectionRow, customer: string): Promise<string> {
    const { id } = await stripe.invoices.create(
      {
        customer,
        currency: CURRENCY.toLowerCase(),
        auto_advance: false,
        ...(invoice.chargeable
          ? { collection_method: 'charge_automatically' as const }
          : { collection_method: 'send_invoice' as const, days_until_due: DAYS_UNTIL_DUE }),
        pending_invoice_items_behavior: 'exclude',
        description: `Teleoperation in ${invoice.month}`,
        metadata: { invoice_id: invoice.id },
      },
      { idempotencyKey: `invoice-${invoice.request_key}-${customer}` },
    )
    return requireText(id, 'id')
  }

  /** Adds the missing lines to a draft. */
  async function fill(invoice: CollectionRow, draftId: string): Promise<void> {
    const existingLines = new Set<string | undefined>()
    for await (const line of stripe.invoices.listLineItems(draftId, { limit: 100 })) {
      existingLines.add(line.metadata.line)
    }
    const missingLines = (await linesOf(db, invoice)).filter(
      ({ metadata }) => !existingLines.has(metadata.line),
    )
    for (let from = 0; from < missingLines.length; from += LINES_PER_REQUEST) {
      const lines = missingLines.slice(from, from + LINES_PER_REQUEST)
      const [first] = lines as [NewLine]
      const idempotencyKey = `invoice-${invoice.request_key}-${draftId}-${first.metadata.line}-${lines.length}`
      await stripe.invoices.addLines(draftId, { lines }, { idempotencyKey })
    }
  }

  return {
    /** Creates the draft, unless an earlier attempt created it. Returns its Stripe id. */
    open: (invoice: CollectionRow): Promise<string> =>
      customers.forCustomer(invoice.client_id, async (customer) => {
        const existing = invoice.attempts > 1 ? await find(invoice, customer) : undefined
        return existing ?? (await create(invoice, customer))
      }),

    /**
     * Completes and finalizes a draft, so that Stripe collects it. Ignores an invoice that is already finalized.
     * @throws DraftMismatchError if the draft's total differs from the invoice's; Stripe's errors
     */
    async issue(invoice: CollectionRow, draftId: string): Promise<void> {
      const { status } = await stripe.invoices.retrieve(draftId)
      if (status !== 'draft') return
      await fill(invoice, draftId)
      const { subtotal } = await stripe.invoices.retrieve(draftId)
      if (subtotal !== invoice.total_cents) {
        throw new DraftMismatchError(
          `The Stripe draft totals ${subtotal} cents, but the invoice totals ${invoice.total_cents} cents`,
        )
      }
      await stripe.invoices.finalizeInvoice(
        draftId,
        { auto_advance: true },
        { idempotencyKey: `invoice-${invoice.request_key}-${draftId}-finalize` },
      )
    },
  }
}
export type Drafts = ReturnType<typeof createDrafts>
