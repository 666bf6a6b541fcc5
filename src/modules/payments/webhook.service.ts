import { AppError } from '../../core/errors/errors.ts'
import type { Collections } from './collection.service.ts'
import type { Customers } from './customer.service.ts'
import type { PayoutTransfers } from './payout-transfers.ts'
import type { Provider, ProviderSettings } from './provider.ts'
import type { ProviderFacts } from './provider-facts.ts'
import type { Recipients } from './recipient.service.ts'
import { createEventReader, type SignedEvent } from './webhook-signature.ts'

/** What becomes of an event. */
export type EventOutcome = 'handled' | 'repeated' | 'ignored' | 'other_mode' | 'failed'

type Kind = 'customer' | 'recipient' | 'transfer' | 'invoice'

/** Events that concern us, and what of ours each is about. */
const kinds: Readonly<Record<string, Kind>> = {
  'setup_intent.succeeded': 'customer',
  'payment_method.attached': 'customer',
  'payment_method.detached': 'customer',
  'payment_method.updated': 'customer',
  'customer.updated': 'customer',
  'customer.deleted': 'customer',
  'transfer.created': 'transfer',
  'transfer.updated': 'transfer',
  'transfer.reversed': 'transfer',
  'invoice.finalized': 'invoice',
  'invoice.updated': 'invoice',
  'invoice.paid': 'invoice',
  'invoice.payment_failed': 'invoice',
  'invoice.payment_action_required': 'invoice',
  'invoice.marked_uncollectible': 'invoice',
  'invoice.voided': 'invoice',
  'v2.core.account.updated': 'recipient',
  'v2.core.account.closed': 'recipient',
  'v2.core.account[requirements].updated': 'recipient',
  'v2.core.account[configuration.recipient].updated': 'recipient',
  'v2.core.account[configuration.recipient].capability_status_updated': 'recipient',
}
/** Which events to subscribe to at the provider. */
export const eventTypes: readonly string[] = Object.keys(kinds)

export interface WebhookParts {
  readonly provider: Provider
  readonly settings: ProviderSettings & { readonly webhookSecrets: readonly string[] }
  readonly facts: ProviderFacts
  readonly customers: Pick<Customers, 'learn'>
  readonly recipients: Pick<Recipients, 'learn'>
  readonly transfers: Pick<PayoutTransfers, 'learn'>
  readonly invoices: Pick<Collections, 'learn'>
  readonly metrics: { readonly providerEvent: (outcome: EventOutcome) => void }
  readonly now: () => Date
}

/** Takes in what the provider tells. An event only says that something changed; what, is asked for anew. */
export function createWebhook(parts: WebhookParts) {
  const { provider, settings, facts, metrics, now } = parts
  const read = createEventReader({ provider, webhookSecrets: settings.webhookSecrets, now })
  const isLive = /^.k_live_/.test(settings.secretKey)
  const learners: Record<Kind, { learn: (id: string, event: SignedEvent) => Promise<unknown> }> = {
    customer: parts.customers,
    recipient: parts.recipients,
    transfer: parts.transfers,
    invoice: parts.invoices,
  }

  async function handle(event: SignedEvent): Promise<EventOutcome> {
    if (event.livemode !== isLive) return 'other_mode' // a platform's endpoints get those of its test mode as well
    const kind = kinds[event.type]
    const objectId = kind && objectOf(kind, event)
    if (!kind || !objectId) return 'ignored'
    if (await facts.isKnown(event.id)) return 'repeated'
    await learners[kind].learn(objectId, event)
    return 'handled'
  }

  return {
    /**
     * Carries out one event. Whatever fails is told to the provider, who comes again.
     * @throws 400 not signed by the provider; 500
     */
    async receive(raw: string, signature: string): Promise<void> {
      const event = read(raw, signature)
      try {
        metrics.providerEvent(await handle(event))
      } catch (cause) {
        metrics.providerEvent('failed')
        throw new AppError(500, 'The event could not be processed. Send it again.', { cause })
      }
    },
  }
}
export type Webhook = ReturnType<typeof createWebhook>

/** The id of what an event is about. */
function objectOf(kind: Kind, { type, data, related_object }: SignedEvent): string | undefined {
  if (kind === 'recipient') return related_object?.id
  const { object = {}, previous_attributes: before = {} } = data ?? {}
  const id =
    kind === 'customer' && !type.startsWith('customer.') ? (object.customer ?? before.customer) : object.id
  return typeof id === 'string' ? id : undefined
}
