import { badRequest } from '../../core/errors/errors.ts'
import type { StripeClient } from './stripe-client.ts'

/** Maximum difference between Stripe's clock and the platform's, in either direction. */
const TOLERANCE_S = 300

/** The common properties of Stripe's v1 events and v2 thin events. */
export interface SignedEvent {
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
export function createStripeEventReader(deps: {
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
