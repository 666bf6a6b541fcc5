import type Stripe from 'stripe'
import { audit } from '../../core/audit/audit.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { type InvoiceStatus, post, releaseEarnings } from '../billing/index.ts'

/** The properties of a Stripe invoice that the platform uses. Requests expand `payments` with their payment intents. */
export type StripeInvoice = Pick<
  Stripe.Invoice,
  | 'id'
  | 'status'
  | 'amount_paid'
  | 'amount_paid_off_stripe'
  | 'hosted_invoice_url'
  | 'payments'
  | 'status_transitions'
>
export const EXPAND = ['payments.data.payment.payment_intent']

/** Updates an invoice from Stripe's state in the caller's transaction. PAID and VOID are final. */
export async function bookInvoice(tx: Tx, stripeInvoice: StripeInvoice, at: Date): Promise<void> {
  const status = statusOf(stripeInvoice)
  const known = await tx.db
    .selectFrom('invoice_collections')
    .innerJoin('invoices', 'invoices.id', 'invoice_collections.invoice_id')
    .selectAll('invoices')
    .where('stripe_id', '=', stripeInvoice.id)
    .forUpdate()
    .executeTakeFirst()
  if (!status || !known || known.status === 'PAID' || known.status === 'VOID') return
  if (status === 'PAID') await releaseEarnings(tx, known, at)
  await tx.db
    .updateTable('invoices')
    .set({
      status,
      hosted_url: stripeInvoice.hosted_invoice_url ?? null,
      ...(status === 'PAID' && { paid_at: paidAt(stripeInvoice) ?? at }),
    })
    .where('id', '=', known.id)
    .execute()
  if (status === 'PAID' || status === 'VOID') {
    await tx.db
      .updateTable('invoice_collections')
      .set({ failure: null })
      .where('invoice_id', '=', known.id)
      .execute()
    await postSettlement(tx, known, status === 'PAID' ? receivedCents(stripeInvoice) : undefined, at)
  }
  if (status !== known.status && status !== 'OPEN') await recordInvoiceStatus(tx, known, status, at)
}

/** Returns the invoice's status, or undefined while it is a draft. */
function statusOf({ status, payments }: StripeInvoice): Exclude<InvoiceStatus, 'DRAFT'> | undefined {
  if (status === 'paid') return 'PAID'
  if (status === 'void') return 'VOID'
  if (status === 'uncollectible') return 'FAILED'
  if (status !== 'open') return undefined
  return payments?.data.some(hasFailed) ? 'FAILED' : 'OPEN'
}

/** Returns whether a payment attempt failed. A pending attempt, such as a bank debit of several days, has not failed. */
function hasFailed({ status, payment }: Stripe.InvoicePayment): boolean {
  const intent = payment.payment_intent
  if (status !== 'open' || typeof intent !== 'object') return false
  const needsClient = intent.status === 'requires_payment_method' && intent.last_payment_error !== null
  return needsClient || intent.status === 'requires_action'
}

function paidAt({ status_transitions: { paid_at } }: StripeInvoice): Date | undefined {
  return paid_at === null ? undefined : new Date(paid_at * 1_000)
}

/** Returns the amount that Stripe received. The rest was moved to the customer balance or paid outside Stripe. */
const receivedCents = ({ amount_paid, amount_paid_off_stripe = 0 }: StripeInvoice): number =>
  amount_paid - amount_paid_off_stripe

interface SettledInvoice {
  readonly id: string
  readonly client_id: string
  readonly month: string
  readonly total_cents: number
  readonly currency: string
}

/** Posts the end of the client's receivable: paid with money, or voided at the platform's cost. */
const postSettlement = (
  tx: Tx,
  invoice: SettledInvoice,
  cashCents: number | undefined,
  at: Date,
): Promise<void> => {
  const { id: invoiceId, client_id: userId, total_cents: totalCents } = invoice
  const claim = { account: 'client_receivable', userId, amountCents: -totalCents } as const
  if (cashCents === undefined) {
    const lines = [{ account: 'platform_revenue' as const, amountCents: totalCents }, claim]
    return post(tx, { kind: 'invoice_voided', at, invoiceId, lines })
  }
  return post(tx, {
    kind: 'invoice_paid',
    at,
    invoiceId,
    lines: [
      { account: 'provider_cash', amountCents: cashCents },
      { account: 'client_balance', userId, amountCents: totalCents - cashCents },
      claim,
    ],
  })
}

const notificationTypes = {
  PAID: 'invoice.paid',
  FAILED: 'invoice.payment_failed',
  VOID: 'invoice.voided',
} as const

async function recordInvoiceStatus(
  tx: Tx,
  invoice: SettledInvoice,
  status: keyof typeof notificationTypes,
  at: Date,
): Promise<void> {
  const { id, client_id: userId, month, total_cents, currency } = invoice
  const data = { month, status, total_cents, currency }
  await audit(tx, {
    at,
    organizationId: userId,
    actorId: undefined,
    action: notificationTypes[status],
    subject: ['invoice', id],
    data: { client_id: userId, ...data },
  })
  await tx.notify(at, [
    {
      organizationId: userId,
      action: 'billing.read',
      type: notificationTypes[status],
      data: { invoice_id: id, ...data },
    },
  ])
}
