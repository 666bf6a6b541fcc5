import { type Endpoint, type ErrorResponses, endpoint } from '../../core/http/endpoint.ts'
import type { Payments } from './facade.ts'
import {
  ConnectStatus,
  CustomerView,
  EventReceived,
  HostedPage,
  PayoutOverview,
  PayoutView,
  RequestPayout,
  SetupIntentView,
  StripeEventBody,
} from './payment.schema.ts'
import { notConfigured } from './stripe-client.ts'

const clients = { role: 'client', sessionOnly: true } as const
const operators = { role: 'operator', sessionOnly: true } as const
const refusals = {
  502: { payment_provider_error: 'when the payment provider rejects the request' },
  503: {
    payments_not_configured: 'when payments are not set up here',
    payment_provider_unavailable: 'when the payment provider does not answer',
    payment_request_running: 'when the same request is still running at the payment provider',
  },
} as const satisfies ErrorResponses

/** Who pays and who is paid. Card and bank data go from the browser to the provider, and never through here. */
export function paymentEndpoints({ payments }: { payments: Payments | undefined }): Endpoint[] {
  /** @throws 503 on a platform without payments */
  const configured = (): Payments => {
    if (!payments) throw notConfigured()
    return payments
  }
  return [
    endpoint({
      method: 'post',
      path: '/api/payments/customer',
      summary: 'Returns your customer at the payment provider, made at first',
      access: clients,
      response: [200, CustomerView],
      errors: refusals,
      run: async ({ caller }) => ({ customerId: await configured().customers.ensure(caller.userId) }),
    }),
    endpoint({
      method: 'post',
      path: '/api/payments/setup-intent',
      summary: 'Begins to save a payment method',
      access: clients,
      response: [201, SetupIntentView],
      errors: refusals,
      run: ({ caller }) => configured().customers.setUp(caller.userId),
    }),
    endpoint({
      method: 'post',
      path: '/api/payments/portal',
      summary: 'Opens the provider’s page for your payment methods and invoices',
      access: clients,
      response: [201, HostedPage],
      errors: refusals,
      run: ({ caller }) => configured().customers.portal(caller.userId),
    }),
    endpoint({
      method: 'get',
      path: '/api/payments/connect',
      summary: 'Returns how your payout account stands',
      access: operators,
      response: [200, ConnectStatus],
      errors: refusals,
      run: ({ caller }) => configured().recipients.status(caller.userId),
    }),
    endpoint({
      method: 'post',
      path: '/api/payments/connect',
      summary: 'Opens the provider’s page on which you set up your payout account',
      access: operators,
      response: [200, HostedPage],
      errors: { ...refusals, 409: { country_missing: 'when your operator profile has no country' } },
      run: ({ caller }) => configured().recipients.onboard(caller.userId),
    }),
    endpoint({
      method: 'get',
      path: '/api/payments/payout',
      summary: 'Returns what you can be paid, and your payouts',
      access: operators,
      response: [200, PayoutOverview],
      errors: { 503: refusals[503] },
      run: ({ caller }) => configured().payouts.overview(caller.userId),
    }),
    endpoint({
      method: 'post',
      path: '/api/payments/payout',
      summary: 'Pays out your earnings, all of them or an amount; at least 10.00 EUR',
      access: operators,
      body: RequestPayout,
      response: [201, PayoutView],
      errors: {
        ...refusals,
        409: {
          payout_below_minimum: 'when the amount is below the minimum',
          insufficient_balance: 'when the amount is above what is available',
          payout_account_missing: 'when you have no payout account',
          payout_account_not_ready: 'when your payout account is not ready',
        },
      },
      run: ({ caller, body }) => configured().payouts.request(caller.userId, body.amountCents),
    }),
    endpoint({
      method: 'post',
      path: '/api/payments/webhook',
      summary: 'Receives the events of the payment provider, which signs them',
      access: 'public',
      body: StripeEventBody,
      response: [200, EventReceived],
      errors: {
        400: { signature_invalid: 'when the signature is missing, too old or made with another secret' },
        503: { payments_not_configured: 'when payments are not set up here' },
      },
      run: async ({ http }) => {
        const { rawBody = '' } = http.request // as it was signed, byte for byte
        await configured().webhook.receive(rawBody, http.get('Stripe-Signature'))
        return { received: true as const }
      },
    }),
  ]
}
