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
const refusals: ErrorResponses = {
  502: 'when the payment provider refuses what it is asked',
  503: 'when payments are not set up here, or the payment provider does not answer',
}

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
      errors: { ...refusals, 409: 'when your operator profile has no country' },
      run: ({ caller }) => configured().recipients.onboard(caller.userId),
    }),
    endpoint({
      method: 'get',
      path: '/api/payments/payout',
      summary: 'Returns what you can be paid, and your payouts',
      access: operators,
      response: [200, PayoutOverview],
      errors: { 503: refusals[503] as string },
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
        409: 'when it is below the minimum, above what is available, or while your payout account is not ready',
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
      errors: { 503: 'when payments are not set up here' },
      run: async ({ http }) => {
        const { rawBody = '' } = http.request // as it was signed, byte for byte
        await configured().webhook.receive(rawBody, http.get('Stripe-Signature'))
        return { received: true as const }
      },
    }),
  ]
}
