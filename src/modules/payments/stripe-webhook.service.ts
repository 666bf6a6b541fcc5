import { AppError, badRequest } from '../../core/errors/errors.ts'
import type { Collections } from './collection.service.ts'
import type { Customers } from './customer.service.ts'
import type { PayoutTransfers } from './payout-transfers.ts'
import type { Recipients } from './recipient.service.ts'
import type { StripeClient, StripeSettings } from './stripe-client.ts'
import type { StripeSync } from './stripe-sync.ts'

/** Maximum difference between Stripe's clock and the platform's, in either direction. */
const TOLERANCE_S = 300

/** The common properties of Stripe's v1 events and v2 thin events. */
interface SignedEvent {
  readonly id: string
  readonly object: string
  readonly type: string
  readonly livemode: boolean
  readonly data?: {
    readonly object?: Record<string, unknown>
    readonly previous_attributes?: Record<string, unknown>
  }
  readonly related_object?: { readonly id?: string } | null
}

/**
 * Creates a reader of signed Stripe events. It accepts several secrets, so that a secret can be rotated without downtime.
 * @throws 400 if the signature is not valid, too old or in the future
 */
function createStripeEventReader(deps: {
  stripe: StripeClient
  webhookSecrets: readonly string[]
  now: () => Date
}) {
  const { stripe, webhookSecrets, now } = deps
  const { signature } = stripe.webhooks

  function isSigned(raw: string, header: string, secret: string): boolean {
    try {
      return signature?.verifyHeader(raw, header, secret, TOLERANCE_S, undefined, now().getTime()) === true
    } catch {
      return false
    }
  }

  return (raw: string, header: string): SignedEvent => {
    if (!webhookSecrets.some((secret) => isSigned(raw, header, secret))) {
      throw badRequest(
        'The Stripe-Signature header is missing, too old or made with another secret.',
        'signature_invalid',
      )
    }
    // The library checks only the age, so it would accept a signature with a future time until then.
    const signedS = Number(/(?:^|,)\s*t=(\d+)/.exec(header)?.[1])
    if (signedS > now().getTime() / 1_000 + TOLERANCE_S)
      throw badRequest(
        'The Stripe-Signature header names a time in the future. Check the clocks.',
        'signature_invalid',
      )
    const event = JSON.parse(raw)
    if (typeof event?.id !== 'string' || typeof event.type !== 'string')
      throw badRequest('The body is not a Stripe event.')
    return event
  }
}

/** The outcome of an event. */
export type StripeEventOutcome = 'handled' | 'repeated' | 'ignored' | 'other_mode' | 'failed'

type Kind = 'customer' | 'recipient' | 'transfer' | 'invoice'

/** The event types that the platform handles, and the kind of object of each. */
export const eventKinds: Readonly<Record<string, Kind>> = {
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

export interface StripeWebhookOptions {
  readonly stripe: StripeClient
  readonly settings: StripeSettings & { readonly webhookSecrets: readonly string[] }
  readonly stripeSync: StripeSync
  readonly customers: Pick<Customers, 'refreshFromStripe'>
  readonly recipients: Pick<Recipients, 'refreshFromStripe'>
  readonly transfers: Pick<PayoutTransfers, 'refreshFromStripe'>
  readonly collections: Pick<Collections, 'refreshFromStripe'>
  readonly metrics: { readonly stripeEvent: (outcome: StripeEventOutcome) => void }
  readonly now: () => Date
}

/** Creates the receiver of Stripe events. An event causes a new request for the changed object. */
export function createStripeWebhook(deps: StripeWebhookOptions) {
  const { stripe, settings, stripeSync, metrics, now } = deps
  const read = createStripeEventReader({ stripe, webhookSecrets: settings.webhookSecrets, now })
  const isLive = /^.k_live_/.test(settings.secretKey)
  const refreshers: Record<
    Kind,
    { refreshFromStripe: (id: string, event: SignedEvent) => Promise<unknown> }
  > = {
    customer: deps.customers,
    recipient: deps.recipients,
    transfer: deps.transfers,
    invoice: deps.collections,
  }

  async function handle(event: SignedEvent): Promise<StripeEventOutcome> {
    if (event.livemode !== isLive) return 'other_mode' // Stripe sends test-mode events to live endpoints too
    const kind = eventKinds[event.type]
    const objectId = kind && objectOf(kind, event)
    if (!kind || !objectId) return 'ignored'
    if (await stripeSync.isKnown(event.id)) return 'repeated'
    await refreshers[kind].refreshFromStripe(objectId, event)
    return 'handled'
  }

  return {
    /**
     * Processes an event. After an error, Stripe sends the event again.
     * @throws 400 if the signature is not valid; 500 if processing fails
     */
    async receive(raw: string, signature: string): Promise<void> {
      const event = read(raw, signature)
      try {
        metrics.stripeEvent(await handle(event))
      } catch (cause) {
        metrics.stripeEvent('failed')
        throw new AppError(500, 'internal_error', 'The event could not be processed. Send it again.', {
          cause,
        })
      }
    },
  }
}
/** Returns the id of the object that an event is about. */
function objectOf(kind: Kind, { type, data, related_object }: SignedEvent): string | undefined {
  if (kind === 'recipient') return related_object?.id
  const { object = {}, previous_attributes: before = {} } = data ?? {}
  const id =
    kind === 'customer' && !type.startsWith('customer.') ? (object.customer ?? before.customer) : object.id
  return typeof id === 'string' ? id : undefined
}
