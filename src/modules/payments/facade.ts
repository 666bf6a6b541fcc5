import type { Db } from '../../core/database/tables.ts'
import type { Transact } from '../../core/events/transactor.ts'
import type { Log } from '../../core/log.ts'
import type { Users } from '../identity/index.ts'
import { createCollections } from './collection.service.ts'
import { createDrafts } from './collection-draft.ts'
import { type ClientProfileReader, createCustomers } from './customer.service.ts'
import { createPayouts } from './payout.service.ts'
import { createPayoutTransfers } from './payout-transfers.ts'
import { createRecipients, type OperatorProfileReader } from './recipient.service.ts'
import { createStripeAccounts } from './stripe-accounts.ts'
import { createStripeClient, type StripeClient } from './stripe-client.ts'
import { createStripeSync } from './stripe-sync.ts'
import { createStripeWebhook, type StripeWebhookOptions } from './stripe-webhook.service.ts'

/** Creates the payment services. Returns undefined if no Stripe key is configured; the rest of the platform works without. */
export function createPayments(deps: {
  settings: StripeWebhookOptions['settings'] | undefined
  users: Users
  clientProfiles: ClientProfileReader
  operatorProfiles: OperatorProfileReader
  db: Db
  transact: Transact
  now: () => Date
  log: Log
  metrics: StripeWebhookOptions['metrics']
  baseUrl: string
  /** The Stripe client. Default: created from the settings. */
  paymentProvider?: StripeClient
}) {
  const { settings } = deps
  if (!settings) return undefined
  const stripe = deps.paymentProvider ?? createStripeClient(settings)
  const accounts = createStripeAccounts(deps)
  const stripeSync = createStripeSync(deps)
  const recipients = createRecipients({ ...deps, stripe, accounts, stripeSync })
  const transfers = createPayoutTransfers({ ...deps, stripe, stripeSync })
  const customers = createCustomers({ ...deps, stripe, accounts, stripeSync })
  const drafts = createDrafts({ ...deps, stripe, customers })
  const collections = createCollections({ ...deps, stripe, drafts, stripeSync })
  return {
    customers,
    recipients,
    stripeSync,
    payoutTransfers: transfers,
    collections,
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
