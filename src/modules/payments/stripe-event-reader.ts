import { badRequest } from '../../core/errors/errors.ts'
import type { StripeClient } from './stripe-client.ts'

/** How far the provider's clock may be from ours, either way. */
const TOLERANCE_S = 300

/** What every event of the provider has, the short ones of its second interface and the long ones of its first. */
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
 * Reads events that the provider has signed. Any of several secrets is good, so that one can be replaced without a gap.
 * @throws 400 when it is not the provider's, or was signed too long ago, or in the future
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
    // The library looks at the age alone, so what was signed for the future would stay good until then.
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
