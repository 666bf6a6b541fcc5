import { type Endpoint, endpoint, type Refusals } from '../../core/http/endpoint.ts'
import {
  AskForPayout,
  ConnectStatus,
  CustomerView,
  EventReceived,
  HostedPage,
  PayoutOverview,
  PayoutView,
  ProviderEventBody,
  SetupIntentView,
} from './payment.schema.ts'
import type { Payments } from './payments.ts'
import { notConfigured } from './provider.ts'

const clients = { role: 'client', sessionOnly: true } as const
const operators = { role: 'operator', sessionOnly: true } as const
const refusals: Refusals = {
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
      answer: [200, CustomerView],
      refusals,
      run: async ({ caller }) => ({ customerId: await configured().customers.ensure(caller.userId) }),
    }),
    endpoint({
      method: 'post',
      path: '/api/payments/setup-intent',
      summary: 'Begins to save a payment method',
      access: clients,
      answer: [201, SetupIntentView],
      refusals,
      run: ({ caller }) => configured().customers.setUp(caller.userId),
    }),
    endpoint({
      method: 'post',
      path: '/api/payments/portal',
      summary: 'Opens the provider’s page for your payment methods and invoices',
      access: clients,
      answer: [201, HostedPage],
      refusals,
      run: ({ caller }) => configured().customers.portal(caller.userId),
    }),
    endpoint({
      method: 'get',
      path: '/api/payments/connect',
      summary: 'Returns how your payout account stands',
      access: operators,
      answer: [200, ConnectStatus],
      refusals,
      run: ({ caller }) => configured().recipients.status(caller.userId),
    }),
    endpoint({
      method: 'post',
      path: '/api/payments/connect',
      summary: 'Opens the provider’s page on which you set up your payout account',
      access: operators,
      answer: [200, HostedPage],
      refusals: { ...refusals, 409: 'when your operator profile has no country' },
      run: ({ caller }) => configured().recipients.onboard(caller.userId),
    }),
    endpoint({
      method: 'get',
      path: '/api/payments/payout',
      summary: 'Returns what you can be paid, and your payouts',
      access: operators,
      answer: [200, PayoutOverview],
      refusals: { 503: refusals[503] as string },
      run: ({ caller }) => configured().payouts.overview(caller.userId),
    }),
    endpoint({
      method: 'post',
      path: '/api/payments/payout',
      summary: 'Pays out your earnings, all of them or an amount; at least 10.00 EUR',
      access: operators,
      body: AskForPayout,
      answer: [201, PayoutView],
      refusals: {
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
      body: ProviderEventBody,
      answer: [200, EventReceived],
      refusals: { 503: 'when payments are not set up here' },
      run: async ({ http }) => {
        const { rawBody = '' } = http.request // as it was signed, byte for byte
        await configured().webhook.receive(rawBody, http.get('Stripe-Signature'))
        return { received: true as const }
      },
    }),
  ]
}
