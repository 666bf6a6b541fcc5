import type { Db } from '../../core/database/tables.ts'
import type { Transact } from '../../core/events/transactor.ts'
import type { Log } from '../../core/log.ts'
import type { ClientProfiles } from '../clients/client-profile.service.ts'
import type { Users } from '../identity/user.service.ts'
import type { OperatorProfiles } from '../operators/operator-profile.service.ts'
import { createCollections } from './collection.service.ts'
import { createDrafts } from './collection-draft.ts'
import { createCustomers } from './customer.service.ts'
import { createPayouts } from './payout.service.ts'
import { createPayoutTransfers } from './payout-transfers.ts'
import { createProvider, type Provider } from './provider.ts'
import { createProviderAccounts } from './provider-accounts.ts'
import { createProviderFacts } from './provider-facts.ts'
import { createRecipients } from './recipient.service.ts'
import { createWebhook, type WebhookParts } from './webhook.service.ts'

/** Who pays and who is paid. Undefined on a platform without a key of the payment provider: nothing else minds. */
export function createPayments(parts: {
  settings: WebhookParts['settings'] | undefined
  users: Users
  clientProfiles: ClientProfiles
  operatorProfiles: OperatorProfiles
  db: Db
  transact: Transact
  now: () => Date
  log: Log
  metrics: WebhookParts['metrics']
  baseUrl: string
  /** The provider's library; made from the settings unless given. */
  paymentProvider?: Provider
}) {
  const { settings } = parts
  if (!settings) return undefined
  const provider = parts.paymentProvider ?? createProvider(settings)
  const accounts = createProviderAccounts(parts)
  const facts = createProviderFacts(parts)
  const recipients = createRecipients({ ...parts, provider, accounts, facts })
  const transfers = createPayoutTransfers({ ...parts, provider, facts })
  const customers = createCustomers({ ...parts, provider, accounts, facts })
  const drafts = createDrafts({ ...parts, provider, customers })
  const invoices = createCollections({ ...parts, provider, drafts, facts })
  return {
    ...{ customers, recipients, facts, payoutTransfers: transfers, collections: invoices },
    payouts: createPayouts({ ...parts, recipients, transfers }),
    webhook: createWebhook({
      ...parts,
      settings,
      provider,
      facts,
      customers,
      recipients,
      transfers,
      invoices,
    }),
  }
}
export type Payments = NonNullable<ReturnType<typeof createPayments>>
