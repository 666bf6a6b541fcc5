import type Stripe from 'stripe'
import { z } from 'zod'
import { StripeInvoices } from './fake-stripe-invoices.ts'
import { checked, formBoolean, formInteger, invalid, metadata, missing, type StripeRequest } from './wire.ts'

type Customer = Pick<
  Stripe.Customer,
  'id' | 'object' | 'email' | 'name' | 'metadata' | 'livemode' | 'created'
> & { invoice_settings: { default_payment_method: string | null } }

interface Recipient {
  readonly id: string
  readonly params: Record<string, unknown>
  transfers: 'active' | 'pending' | 'restricted'
  wanted: readonly string[]
}

const NewCustomer = z.strictObject({
  email: z.email().optional(),
  name: z.string().max(256).optional(),
  metadata: metadata.optional(),
})
const ChangedCustomer = z.strictObject({
  invoice_settings: z.strictObject({ default_payment_method: z.string() }),
})
const NewSetupIntent = z.strictObject({
  customer: z.string(),
  usage: z.enum(['off_session', 'on_session']),
  automatic_payment_methods: z.strictObject({ enabled: formBoolean }).optional(),
})
const NewPortal = z.strictObject({ customer: z.string(), return_url: z.url() })
const NewRecipient = z.strictObject({
  contact_email: z.email().optional(),
  display_name: z.string().optional(),
  dashboard: z.enum(['express', 'full', 'none']),
  identity: z.strictObject({
    country: z.string().regex(/^[a-z]{2}$/),
    entity_type: z.enum(['individual', 'company']).optional(),
  }),
  configuration: z.strictObject({
    recipient: z.strictObject({
      capabilities: z.strictObject({
        stripe_balance: z.strictObject({ stripe_transfers: z.strictObject({ requested: z.literal(true) }) }),
      }),
    }),
  }),
  defaults: z.strictObject({
    currency: z.string(),
    responsibilities: z.strictObject({ fees_collector: z.string(), losses_collector: z.string() }),
  }),
  metadata: metadata.optional(),
})
const NewLink = z.strictObject({
  account: z.string(),
  use_case: z.strictObject({
    type: z.literal('account_onboarding'),
    account_onboarding: z.strictObject({ refresh_url: z.url(), return_url: z.url().optional() }),
  }),
})

const NewTransfer = z.strictObject({
  amount: formInteger.pipe(z.int().positive()),
  currency: z.literal('eur'),
  destination: z.string(),
  transfer_group: z.string(),
  metadata: metadata.optional(),
})
const TransferQuery = z.strictObject({ transfer_group: z.string(), limit: formInteger.optional() })

type Transfer = Pick<
  Stripe.Transfer,
  'id' | 'object' | 'amount' | 'amount_reversed' | 'destination' | 'transfer_group' | 'reversed'
>

/** The state of the stand-in, and its answers. */
export class StripeBooks {
  readonly customers = new Map<string, Customer>()
  readonly recipients = new Map<string, Recipient>()
  readonly transfers: Transfer[] = []
  /** Payment methods with their customers. */
  readonly methods = new Map<string, string>()
  /** The platform's balance at the provider, in cents. */
  balanceCents = 1_000_000
  private count = 0

  readonly invoices = new StripeInvoices({
    id: (prefix) => this.id(prefix),
    requireCustomer: (id) => this.customer(id),
  })

  answer(request: StripeRequest): unknown {
    if (request.path.startsWith('/v1/invoices')) return this.invoices.answer(request)
    const [, id = ''] = /\/(cus_\w+|acct_\w+|tr_\w+)(?:\/|$)/.exec(request.path) ?? []
    const route = `${request.method} ${id ? request.path.replace(id, ':id') : request.path}`
    switch (route) {
      case 'POST /v1/customers':
        return this.newCustomer(checked(NewCustomer, request.params))
      case 'GET /v1/customers/:id':
        return this.customer(id)
      case 'POST /v1/customers/:id':
        return this.changeCustomer(id, checked(ChangedCustomer, request.params))
      case 'GET /v1/customers/:id/payment_methods':
        return this.listMethods(id)
      case 'GET /v1/transfers/:id':
        return this.transfer(id)
      case 'POST /v1/setup_intents':
        return this.newSetupIntent(checked(NewSetupIntent, request.params))
      case 'POST /v1/billing_portal/sessions':
        return this.newPortal(checked(NewPortal, request.params))
      case 'POST /v2/core/accounts':
        return this.newRecipient(checked(NewRecipient, request.params))
      case 'GET /v2/core/accounts/:id':
        return this.showRecipient(id)
      case 'POST /v2/core/account_links':
        return this.newLink(checked(NewLink, request.params))
      case 'POST /v1/transfers':
        return this.newTransfer(checked(NewTransfer, request.params))
      case 'GET /v1/transfers':
        return this.listTransfers(checked(TransferQuery, request.params))
      default:
        throw invalid(`Unrecognized request URL (${route})`)
    }
  }

  /** Saves a payment method, as the client does with the provider's form. */
  saveMethod(customerId: string): string {
    this.customer(customerId)
    const id = this.id('pm')
    this.methods.set(id, customerId)
    return id
  }

  /** Removes it, as the client does in the portal. */
  removeMethod(id: string): void {
    this.methods.delete(id)
  }

  /** Reverses a transfer, or a part of it. */
  reverse(transferId: string, amountReversed: number): void {
    const transfer = this.transfer(transferId)
    transfer.amount_reversed = amountReversed
    transfer.reversed = amountReversed === transfer.amount
  }

  /** Deletes a customer, as in the provider's dashboard. */
  forget(id: string): void {
    this.customers.delete(id)
    this.recipients.delete(id)
  }

  /** Meets all requirements of the provider, as the operator. */
  finishOnboarding(accountId: string): void {
    const recipient = this.recipient(accountId)
    recipient.transfers = 'active'
    recipient.wanted = []
  }

  /** Requires more data as the provider, which makes no transfers until then. */
  restrict(accountId: string, wanted: readonly string[]): void {
    const recipient = this.recipient(accountId)
    recipient.transfers = 'restricted'
    recipient.wanted = wanted
  }

  private id(prefix: string): string {
    return `${prefix}_${String(++this.count).padStart(14, '0')}`
  }

  private newCustomer(params: z.output<typeof NewCustomer>): Customer {
    const customer: Customer = {
      id: this.id('cus'),
      object: 'customer',
      livemode: false,
      email: params.email ?? null,
      name: params.name ?? null,
      metadata: params.metadata ?? {},
      created: Math.floor(Date.now() / 1_000),
      invoice_settings: { default_payment_method: null },
    }
    this.customers.set(customer.id, customer)
    return customer
  }

  private changeCustomer(id: string, { invoice_settings }: z.output<typeof ChangedCustomer>): Customer {
    const { default_payment_method: method } = invoice_settings
    if (this.methods.get(method) !== id) throw missing('payment_method', method)
    const customer = this.customer(id)
    customer.invoice_settings = { default_payment_method: method }
    return customer
  }

  private listMethods(customerId: string) {
    this.customer(customerId)
    const own = [...this.methods].filter(([, owner]) => owner === customerId)
    return { object: 'list', has_more: false, data: own.map(([id]) => ({ id, object: 'payment_method' })) }
  }

  private transfer(id: string): Transfer {
    const transfer = this.transfers.find((item) => item.id === id)
    if (!transfer) throw missing('transfer', id)
    return transfer
  }

  private newSetupIntent({ customer, usage }: z.output<typeof NewSetupIntent>) {
    this.customer(customer)
    const id = this.id('seti')
    return { id, object: 'setup_intent', customer, usage, client_secret: `${id}_secret_${this.count}` }
  }

  private newPortal({ customer, return_url }: z.output<typeof NewPortal>) {
    this.customer(customer)
    const id = this.id('bps')
    const url = `https://billing.stripe.test/p/session/${id}`
    return { id, object: 'billing_portal.session', customer, return_url, url }
  }

  private newRecipient(params: z.output<typeof NewRecipient>) {
    const id = this.id('acct')
    this.recipients.set(id, {
      id,
      params,
      transfers: 'restricted' as const,
      wanted: ['identity.individual.date_of_birth', 'configuration.recipient.default_outbound_destination'],
    })
    return this.showRecipient(id)
  }

  private showRecipient(id: string) {
    const { params, transfers, wanted } = this.recipient(id)
    const entry = (description: string) => ({
      description,
      awaiting_action_from: 'user',
      errors: [],
      impact: {},
      requested_reasons: [],
      minimum_deadline: { status: 'currently_due' },
    })
    return {
      id,
      object: 'v2.core.account',
      livemode: false,
      applied_configurations: ['recipient'],
      metadata: params.metadata ?? {},
      dashboard: 'express',
      configuration: {
        recipient: {
          applied: true,
          capabilities: { stripe_balance: { stripe_transfers: { status: transfers, status_details: [] } } },
        },
      },
      requirements: { entries: wanted.map(entry) },
    }
  }

  private newLink({ account, use_case }: z.output<typeof NewLink>) {
    this.recipient(account)
    const url = `https://connect.stripe.test/setup/${this.id('link')}`
    return { object: 'v2.core.account_link', account, livemode: false, url, use_case }
  }

  private newTransfer({
    amount,
    destination,
    transfer_group,
    metadata: about = {},
  }: z.output<typeof NewTransfer>) {
    if (this.recipient(destination).transfers !== 'active') {
      throw invalid('Your destination account needs to have transfers enabled', {
        code: 'insufficient_capabilities_for_transfer',
      })
    }
    if (amount > this.balanceCents) {
      throw invalid('You have insufficient available funds in your Stripe account', {
        code: 'balance_insufficient',
      })
    }
    this.balanceCents -= amount
    const id = this.id('tr')
    const transfer = {
      id,
      object: 'transfer' as const,
      amount,
      currency: 'eur',
      destination,
      transfer_group,
      metadata: about,
      reversed: false,
      amount_reversed: 0,
    }
    this.transfers.push(transfer)
    return transfer
  }

  private listTransfers({ transfer_group, limit = 10 }: z.output<typeof TransferQuery>) {
    const found = this.transfers.filter((transfer) => transfer.transfer_group === transfer_group)
    return {
      object: 'list',
      url: '/v1/transfers',
      has_more: found.length > limit,
      data: found.slice(0, limit),
    }
  }

  private customer(id: string): Customer {
    const customer = this.customers.get(id)
    if (!customer) throw missing('customer', id)
    return customer
  }

  private recipient(id: string): Recipient {
    const recipient = this.recipients.get(id)
    if (!recipient) throw missing('account', id)
    return recipient
  }
}
