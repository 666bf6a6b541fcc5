import type Stripe from 'stripe'
import { z } from 'zod'
import { checked, formBoolean, formInteger, invalid, metadata, missing, type StripeRequest } from './wire.ts'

/** A smaller amount is not charged, but carried over to the customer's next invoice. */
const SMALLEST_CHARGE_CENTS = 50
const MAX_LINES = 250

const NewInvoice = z.strictObject({
  customer: z.string(),
  currency: z.literal('eur'),
  auto_advance: formBoolean,
  collection_method: z.enum(['charge_automatically', 'send_invoice']),
  days_until_due: formInteger.optional(),
  pending_invoice_items_behavior: z.literal('exclude'),
  description: z.string().max(1_500).optional(),
  metadata: metadata.optional(),
})
const NewLines = z.strictObject({
  lines: z
    .array(
      z.strictObject({
        amount: formInteger,
        description: z.string().min(1).max(500),
        period: z.strictObject({ start: formInteger, end: formInteger }),
        metadata: metadata.optional(),
      }),
    )
    .min(1),
})
const InvoiceQuery = z.strictObject({
  customer: z.string(),
  created: z.strictObject({ gte: formInteger }).optional(),
  limit: formInteger.optional(),
})
const LineQuery = z.strictObject({ limit: formInteger.optional(), starting_after: z.string().optional() })
const Finalize = z.strictObject({ auto_advance: formBoolean })
const Expand = z.strictObject({
  expand: z.array(z.literal('payments.data.payment.payment_intent')).optional(),
})

type Line = Pick<Stripe.InvoiceLineItem, 'id' | 'object' | 'amount' | 'description' | 'period' | 'metadata'>
type Intent = Pick<Stripe.PaymentIntent, 'id' | 'object' | 'status'> & {
  last_payment_error: { message: string } | null
}

/** An invoice as the stand-in stores it. */
export interface BookedInvoice {
  readonly id: string
  readonly customer: string
  readonly collection_method: string
  readonly metadata: Record<string, string>
  readonly created: number
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible'
  readonly lines: Line[]
  amount_due: number
  amount_paid: number
  amount_paid_off_stripe: number
  hosted_invoice_url: string | null
  paid_at: number | null
  intent: Intent | undefined
}

/** The provider's invoices, with the actions of customers and banks. */
export class StripeInvoices {
  readonly all = new Map<string, BookedInvoice>()
  /** Debt (positive) or credit (negative) of customers, carried over between invoices. */
  readonly balances = new Map<string, number>()
  private readonly id: (prefix: string) => string
  private readonly requireCustomer: (id: string) => unknown

  constructor(parts: { id: (prefix: string) => string; requireCustomer: (id: string) => unknown }) {
    this.id = parts.id
    this.requireCustomer = parts.requireCustomer
  }

  /** Returns undefined for a request that does not concern invoices. */
  answer({ method, path, params }: StripeRequest): unknown {
    const [, id = '', what = ''] = /^\/v1\/invoices(?:\/(in_\w+))?(?:\/(\w+))?$/.exec(path) ?? []
    switch (`${method} ${id && 'one'} ${what}`.trim()) {
      case 'POST':
        return this.create(checked(NewInvoice, params))
      case 'GET':
        return this.list(checked(InvoiceQuery, params))
      case 'GET one':
        return this.show(id, checked(Expand, params).expand !== undefined)
      case 'GET one lines':
        return this.listLines(id, checked(LineQuery, params))
      case 'POST one add_lines':
        return this.addLines(id, checked(NewLines, params))
      case 'POST one finalize':
        checked(Finalize, params)
        return this.finalize(id)
      default:
        throw invalid(`Unrecognized request URL (${method} ${path})`)
    }
  }

  /** Pays, as the customer's bank. */
  pay(id: string, { offStripe = false } = {}): void {
    const invoice = this.open(id)
    invoice.status = 'paid'
    invoice.amount_paid = invoice.amount_due
    if (offStripe) invoice.amount_paid_off_stripe = invoice.amount_due
    invoice.paid_at = Math.floor(Date.now() / 1_000)
    if (invoice.intent) Object.assign(invoice.intent, { status: 'succeeded', last_payment_error: null })
  }

  /** Begins to process the payment as the bank, which takes several days. */
  begin(id: string): void {
    this.open(id).intent = this.intent('processing', null)
  }

  /** Declines, as the bank. */
  fail(id: string): void {
    this.open(id).intent = this.intent('requires_payment_method', { message: 'Your card was declined.' })
  }

  /** Voids an invoice, or writes it off, as in the provider's dashboard. */
  end(id: string, how: 'void' | 'uncollectible'): void {
    this.open(id).status = how
  }

  /** Deletes a draft, as in the provider's dashboard. */
  delete(id: string): void {
    this.draft(id)
    this.all.delete(id)
  }

  private create({ customer, metadata: about = {}, ...rest }: z.output<typeof NewInvoice>) {
    this.requireCustomer(customer)
    const sends = rest.collection_method === 'send_invoice'
    if (sends !== (rest.days_until_due !== undefined)) {
      throw invalid(
        '`days_until_due` goes with `collection_method` of `send_invoice`, and must be there then',
      )
    }
    const id = this.id('in')
    this.all.set(id, {
      id,
      customer,
      metadata: about,
      collection_method: rest.collection_method,
      created: Math.floor(Date.now() / 1_000),
      status: 'draft',
      lines: [],
      intent: undefined,
      amount_due: 0,
      amount_paid: 0,
      amount_paid_off_stripe: 0,
      hosted_invoice_url: null,
      paid_at: null,
    })
    return this.show(id, false)
  }

  private list({ customer, created, limit = 10 }: z.output<typeof InvoiceQuery>) {
    const found = [...this.all.values()].filter(
      (item) => item.customer === customer && item.created >= (created?.gte ?? 0),
    )
    const data = found.reverse().slice(0, limit)
    return {
      object: 'list',
      url: '/v1/invoices',
      has_more: found.length > limit,
      data: data.map(({ id }) => this.show(id, false)),
    }
  }

  private listLines(id: string, { limit = 10, starting_after }: z.output<typeof LineQuery>) {
    const { lines } = this.find(id)
    const from = starting_after === undefined ? 0 : lines.findIndex((line) => line.id === starting_after) + 1
    const url = `/v1/invoices/${id}/lines`
    return {
      object: 'list',
      url,
      has_more: lines.length > from + limit,
      data: lines.slice(from, from + limit),
    }
  }

  private addLines(id: string, { lines }: z.output<typeof NewLines>) {
    const invoice = this.draft(id)
    if (invoice.lines.length + lines.length > MAX_LINES) throw invalid(`At most ${MAX_LINES} lines`)
    for (const { metadata: about = {}, ...line } of lines) {
      invoice.lines.push({ id: this.id('il'), object: 'line_item', ...line, metadata: about })
    }
    return this.show(id, false)
  }

  private finalize(id: string) {
    const invoice = this.draft(id)
    const before = this.balances.get(invoice.customer) ?? 0
    const due = Math.max(0, totalOf(invoice) + before)
    const putOff = due < SMALLEST_CHARGE_CENTS
    this.balances.set(invoice.customer, putOff ? totalOf(invoice) + before : 0)
    invoice.amount_due = putOff ? 0 : due
    invoice.status = putOff ? 'paid' : 'open'
    invoice.paid_at = putOff ? Math.floor(Date.now() / 1_000) : null
    invoice.hosted_invoice_url = `https://invoice.stripe.test/i/${id}`
    return this.show(id, false)
  }

  private show(id: string, expanded: boolean) {
    const { lines, intent, paid_at, ...invoice } = this.find(id)
    const total = totalOf({ lines })
    const payment = intent && {
      id: `inpay_${intent.id}`,
      object: 'invoice_payment',
      is_default: true,
      status: intent.status === 'succeeded' ? 'paid' : 'open',
      payment: { type: 'payment_intent', payment_intent: expanded ? intent : intent.id },
    }
    return {
      ...invoice,
      object: 'invoice',
      livemode: false,
      currency: 'eur',
      subtotal: total,
      total,
      lines: { object: 'list', data: lines.slice(0, 10), has_more: lines.length > 10 },
      status_transitions: { finalized_at: null, marked_uncollectible_at: null, voided_at: null, paid_at },
      payments: { object: 'list', has_more: false, data: payment ? [payment] : [] },
    }
  }

  private intent(status: Intent['status'], error: Intent['last_payment_error']): Intent {
    return { id: this.id('pi'), object: 'payment_intent', status, last_payment_error: error }
  }

  private find(id: string): BookedInvoice {
    const invoice = this.all.get(id)
    if (!invoice) throw missing('invoice', id)
    return invoice
  }

  private draft(id: string): BookedInvoice {
    const invoice = this.find(id)
    if (invoice.status !== 'draft') throw invalid(`This invoice is no draft: it is ${invoice.status}`)
    return invoice
  }

  private open(id: string): BookedInvoice {
    const invoice = this.find(id)
    if (invoice.status !== 'open') throw invalid(`This invoice is not open: it is ${invoice.status}`)
    return invoice
  }
}

const totalOf = ({ lines }: { lines: readonly Line[] }): number =>
  lines.reduce((sum, { amount }) => sum + amount, 0)
