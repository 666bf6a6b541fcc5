import Stripe from 'stripe'

export const WEBHOOK_SECRET = 'whsec_wheelhouse'

const stripe = new Stripe('sk_test_none')
let count = 0

/** Creates an event of version 1, which contains the object as it was then. */
export const snapshotEvent = (
  type: string,
  object: Record<string, unknown>,
  more: { livemode?: boolean; previous_attributes?: Record<string, unknown> } = {},
) => ({
  id: `evt_${++count}_${Date.now()}`,
  object: 'event',
  type,
  livemode: more.livemode ?? false,
  data: { object, ...(more.previous_attributes && { previous_attributes: more.previous_attributes }) },
})

/** Creates an event of version 2, which only names its object. */
export const thinEvent = (type: string, id: string) => ({
  id: `evt_${++count}_${Date.now()}`,
  object: 'v2.core.event',
  type,
  livemode: false,
  related_object: { id, type: 'v2.core.account', url: `/v2/core/accounts/${id}` },
})

/** Returns the header with which the provider signs a payload. */
export const signatureOf = (payload: string, { secret = WEBHOOK_SECRET, atMs = Date.now() } = {}): string =>
  stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: Math.floor(atMs / 1_000) })

/** Delivers an event as the provider does; returns the status. */
export async function deliver(
  baseUrl: string,
  event: object,
  { signature, ...how }: { secret?: string; atMs?: number; signature?: string } = {},
): Promise<number> {
  const payload = JSON.stringify(event)
  const response = await fetch(`${baseUrl}/api/payments/webhook`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Stripe-Signature': signature ?? signatureOf(payload, how),
    },
    body: payload,
  })
  await response.text()
  return response.status
}
