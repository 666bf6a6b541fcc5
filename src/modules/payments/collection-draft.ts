import type { Db } from '../../core/database/tables.ts'
import { CURRENCY } from '../billing/money.ts'
import type { CollectionRow } from './collection-claim.ts'
import { linesOf, type NewLine } from './collection-lines.ts'
import type { Customers } from './customer.service.ts'
import { type Provider, textOf } from './provider.ts'

/** Who has no payment method is sent the invoice, and has this long to pay it. */
const DAYS_UNTIL_DUE = 14
const LINES_PER_REQUEST = 100
/** Invoices of a customer looked through for one that an earlier attempt made. */
const LOOKED_THROUGH = 100

/** The draft at the provider does not hold what the invoice says. */
export class DraftDiffers extends Error {}

/**
 * Makes an invoice at the provider, step by step. Each step finds out what is there already, so that whoever comes
 * after a crash, or after the idempotency keys have expired, goes on where it was left.
 */
export function createDrafts({
  provider,
  customers,
  db,
}: {
  provider: Provider
  customers: Customers
  db: Db
}) {
  async function find(invoice: CollectionRow, customer: string): Promise<string | undefined> {
    const created = { gte: Math.floor(invoice.created_at.getTime() / 1_000) - 86_400 }
    const { data } = await provider.invoices.list({ customer, created, limit: LOOKED_THROUGH })
    return data.find(({ metadata }) => metadata?.invoice_id === invoice.id)?.id
  }

  async function create(invoice: CollectionRow, customer: string): Promise<string> {
    const { id } = await provider.invoices.create(
      {
        ...{ customer, currency: CURRENCY.toLowerCase(), auto_advance: false },
        ...(invoice.chargeable
          ? { collection_method: 'charge_automatically' as const }
          : { collection_method: 'send_invoice' as const, days_until_due: DAYS_UNTIL_DUE }),
        pending_invoice_items_behavior: 'exclude',
        description: `Teleoperation in ${invoice.month}`,
        metadata: { invoice_id: invoice.id },
      },
      { idempotencyKey: `invoice-${invoice.request_key}-${customer}` },
    )
    return textOf(id, 'id')
  }

  /** Adds what is not on the draft yet. */
  async function fill(invoice: CollectionRow, draftId: string): Promise<void> {
    const there = new Set<string | undefined>()
    for await (const line of provider.invoices.listLineItems(draftId, { limit: 100 })) {
      there.add(line.metadata.line)
    }
    const wanted = (await linesOf(db, invoice)).filter(({ metadata }) => !there.has(metadata.line))
    for (let from = 0; from < wanted.length; from += LINES_PER_REQUEST) {
      const lines = wanted.slice(from, from + LINES_PER_REQUEST)
      const [first] = lines as [NewLine]
      const idempotencyKey = `invoice-${invoice.request_key}-${draftId}-${first.metadata.line}-${lines.length}`
      await provider.invoices.addLines(draftId, { lines }, { idempotencyKey })
    }
  }

  return {
    /** Has the draft made, unless an earlier attempt has; answers its id at the provider. */
    open: (invoice: CollectionRow): Promise<string> =>
      customers.forCustomer(invoice.client_id, async (customer) => {
        const made = invoice.attempts > 1 ? await find(invoice, customer) : undefined
        return made ?? (await create(invoice, customer))
      }),

    /**
     * Completes a draft and lets the provider collect it. One that was finalized before is left as it is.
     * @throws DraftDiffers when it does not add up to the invoice; the provider's own errors
     */
    async issue(invoice: CollectionRow, draftId: string): Promise<void> {
      const { status } = await provider.invoices.retrieve(draftId)
      if (status !== 'draft') return
      await fill(invoice, draftId)
      const { subtotal } = await provider.invoices.retrieve(draftId)
      if (subtotal !== invoice.total_cents) {
        throw new DraftDiffers(
          `the draft at the provider says ${subtotal}, the invoice ${invoice.total_cents} cents`,
        )
      }
      await provider.invoices.finalizeInvoice(
        draftId,
        { auto_advance: true },
        { idempotencyKey: `invoice-${invoice.request_key}-${draftId}-finalize` },
      )
    },
  }
}
export type Drafts = ReturnType<typeof createDrafts>
