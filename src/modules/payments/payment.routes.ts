import { type Endpoint, type ErrorResponses, endpoint } from '../../core/http/endpoint.ts'
import { credentialOf } from '../../core/permissions/authorization.ts'
import type { Payments } from './module.ts'
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

const clients = { role: 'client', action: 'billing.write', sessionOnly: true } as const
const operators = { role: 'operator', sessionOnly: true } as const
const providerErrors = {
  502: { payment_provider_error: 'when the payment provider rejects the request' },
  503: {
    payments_not_configured: 'when payments are not set up on this platform',
    payment_provider_unavailable: 'when the payment provider does not answer',
    payment_request_running: 'when the same request is still running at the payment provider',
  },
} as const satisfies ErrorResponses

/** Creates the endpoints of payments. Browsers send card and bank data directly to Stripe, never to the platform. */
export function paymentEndpoints({ payments }: { payments: Payments | undefined }): Endpoint[] {
  /** Returns the payment services. @throws 503 if payments are not configured */
  const configured = (): Payments => {
    if (!payments) throw notConfigured()
    return payments
  }
  return [
    endpoint({
      method: 'post',
      path: '/api/payments/customer',
      summary: 'Returns your customer at the payment provider. The first request creates it',
      access: clients,
      response: [200, CustomerView],
      errors: providerErrors,
      run: async ({ caller }) => ({
        customerId: await configured().customers.ensure(caller.organization.id),
      }),
    }),
    endpoint({
      method: 'post',
      path: '/api/payments/setup-intent',
      summary: 'Starts saving a payment method',
      access: clients,
      response: [201, SetupIntentView],
      errors: providerErrors,
      run: ({ caller }) => configured().customers.setUp(caller.organization.id),
    }),
    endpoint({
      method: 'post',
      path: '/api/payments/portal',
      summary: 'Returns the payment provider’s page for your payment methods and invoices',
      access: clients,
      response: [201, HostedPage],
      errors: providerErrors,
      run: ({ caller }) => configured().customers.portal(caller.organization.id),
    }),
    endpoint({
      method: 'get',
      path: '/api/payments/connect',
      summary: 'Returns the state of your payout account',
      access: operators,
      response: [200, ConnectStatus],
      errors: providerErrors,
      run: ({ caller }) => configured().recipients.status(caller.userId),
    }),
    endpoint({
      method: 'post',
      path: '/api/payments/connect',
      summary: 'Returns the payment provider’s page on which you set up your payout account',
      access: operators,
      response: [200, HostedPage],
      errors: { ...providerErrors, 409: { country_missing: 'when your operator profile has no country' } },
      run: ({ caller }) => configured().recipients.onboard(caller.userId),
    }),
    endpoint({
      method: 'get',
      path: '/api/payments/payout',
      summary: 'Returns the amount available for payout, and your payouts',
      access: operators,
      response: [200, PayoutOverview],
      errors: { 503: providerErrors[503] },
      run: ({ caller }) => configured().payouts.overview(caller.userId),
    }),
    endpoint({
      method: 'post',
      path: '/api/payments/payout',
      summary: 'Pays out an amount of your earnings, or all of them; at least 10.00 EUR',
      access: operators,
      body: RequestPayout,
      response: [201, PayoutView],
      errors: {
        ...providerErrors,
        409: {
          payout_below_minimum: 'when the amount is below the minimum',
          insufficient_balance: 'when the amount exceeds the available earnings',
          payout_account_missing: 'when you have no payout account',
          payout_account_not_ready: 'when your payout account is not ready',
        },
      },
      run: ({ caller, body }) =>
        configured().payouts.request(caller.userId, body.amountCents, credentialOf(caller)),
    }),
    endpoint({
      method: 'post',
      path: '/api/payments/webhook',
      summary: 'Receives signed events of the payment provider',
      access: 'public',
      body: StripeEventBody,
      response: [200, EventReceived],
      errors: {
        400: { signature_invalid: 'when the signature is missing, too old or made with another secret' },
        503: { payments_not_configured: 'when payments are not set up on this platform' },
      },
      run: async ({ http }) => {
        const { rawBody = '' } = http.request // the exact bytes that Stripe signed
        await configured().webhook.receive(rawBody, http.get('Stripe-Signature'))
        return { received: true as const }
      },
    }),
  ]
}
