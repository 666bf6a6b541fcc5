import type { Db } from '../../core/database/tables.ts'
import type { Transact } from '../../core/events/transactor.ts'
import { cronQueue } from '../../core/jobs/cron-queue.ts'
import type { Jobs } from '../../core/jobs/jobs.ts'
import type { Log } from '../../core/log.ts'
import type { Users } from '../identity/index.ts'
import { createCollections } from './collection.service.ts'
import { createDrafts } from './collection-draft.ts'
import { enqueueOpenInvoices, INVOICE_COLLECTIONS } from './collection-queue.ts'
import { type ClientProfileReader, createCustomers } from './customer.service.ts'
import { createPayouts } from './payout.service.ts'
import { createPayoutTransfers, PAYOUTS } from './payout-transfers.ts'
import { createRecipients, type OperatorProfileReader } from './recipient.service.ts'
import { createStripeAccounts } from './stripe-accounts.ts'
import { createStripeClient, type StripeClient } from './stripe-client.ts'
import { createStripeSync } from './stripe-sync.ts'
import { createStripeWebhook, type StripeWebhookOptions } from './stripe-webhook.service.ts'

const STRIPE_EVENT_CLEAN_UP = cronQueue('stripe-event-clean-up', '17 * * * *', 'Removes old Stripe events')

/** Creates the payment services. Returns undefined if no Stripe key is configured; the rest of the platform works without. */
export function createPayments(deps: {
  settings: StripeWebhookOptions['settings'] | undefined
  users: Users
  clientProfiles: ClientProfileReader
  operatorProfiles: OperatorProfileReader
  db: Db
  transact: Transact
  jobs: Jobs
  now: () => Date
  log: Log
  metrics: StripeWebhookOptions['metrics']
  baseUrl: string
  /** The Stripe client. Default: created from the settings. */
  paymentProvider?: StripeClient
}) {
  const { settings, jobs } = deps
  if (!settings) return undefined
  const stripe = deps.paymentProvider ?? createStripeClient(settings)
  const accounts = createStripeAccounts(deps)
  const stripeSync = createStripeSync(deps)
  const recipients = createRecipients({ ...deps, stripe, accounts, stripeSync })
  const transfers = createPayoutTransfers({ ...deps, stripe, stripeSync })
  const customers = createCustomers({ ...deps, stripe, accounts, stripeSync })
  const drafts = createDrafts({ ...deps, stripe, customers })
  const collections = createCollections({ ...deps, stripe, drafts, stripeSync })
  jobs.register(PAYOUTS, transfers.runJob)
  jobs.register(INVOICE_COLLECTIONS, collections.runJob)
  jobs.register(STRIPE_EVENT_CLEAN_UP, stripeSync.removeExpired)
  return {
    enqueueOpenInvoices: () => enqueueOpenInvoices(deps.transact, deps.now),
    customers,
    recipients,
    stripeSync,
    payouts: createPayouts({ ...deps, recipients, transfers }),
    webhook: createStripeWebhook({
      ...deps,
      settings,
      stripe,
      stripeSync,
      customers,
      recipients,
      transfers,
      collections,
    }),
  }
}
export type Payments = NonNullable<ReturnType<typeof createPayments>>
