import { z } from 'zod'
import { ClientProfileView } from '../../src/modules/clients/client-profile.schema.ts'
import { OperatorProfileView } from '../../src/modules/operators/operator-profile.schema.ts'
import {
  ConnectStatus,
  CustomerView,
  HostedPage,
  SetupIntentView,
} from '../../src/modules/payments/payment.schema.ts'
import { snapshotEvent, thinEvent } from '../../test/support/stripe/events.ts'
import { type Chapter, must, type PaymentScenario, sendStripeEvent } from './scenario.ts'

const ready = (is: boolean) => (is ? 'true' : 'false')

async function billingReady({ owner }: PaymentScenario): Promise<boolean> {
  const { billing_ready } = await owner.makeRequest({
    method: 'GET',
    path: '/api/client/profile',
    answer: ClientProfileView,
    summarize: (profile) => `billing_ready ${ready(profile.billing_ready)}`,
  })
  return billing_ready
}

/** Sends the card from the client's browser to Stripe; Stripe notifies the platform with an event. */
export const clientSavesAMethod: Chapter = async (scenario) => {
  const { transcript, owner, stripe } = scenario
  await transcript.step('A client saves a payment method')
  must(!(await billingReady(scenario)), 'A client who has saved nothing must not be ready')
  const { customerId } = await owner.makeRequest({
    method: 'POST',
    path: '/api/payments/customer',
    status: 200,
    answer: CustomerView,
    summarize: (answer) => `customer ${answer.customerId}`,
  })
  await owner.makeRequest({
    method: 'POST',
    path: '/api/payments/setup-intent',
    answer: SetupIntentView,
    summarize: ({ clientSecret }) => `for Stripe’s form in the browser: ${clientSecret}`,
  })
  const method = stripe.books.saveMethod(customerId)
  transcript.logCheck('STRIPE', `received the card from the browser, ${method}`)
  await sendStripeEvent(
    scenario,
    snapshotEvent('setup_intent.succeeded', { id: 'seti_demo', customer: customerId }),
  )
  must(await billingReady(scenario), 'billing_ready did not turn true')
}

async function payoutReady({ operator }: PaymentScenario): Promise<boolean> {
  const { payout_ready } = await operator.makeRequest({
    method: 'GET',
    path: '/api/operator/profile',
    answer: OperatorProfileView,
    summarize: (profile) => `payout_ready ${ready(profile.payout_ready)}`,
  })
  return payout_ready
}

/** Provides the data of an operator that Stripe collects on its own page. */
export const operatorOnboards: Chapter = async (scenario) => {
  const { transcript, operator, stripe } = scenario
  await transcript.step('An operator sets up a payout account')
  await operator.connect()
  await operator.makeRequest({
    method: 'POST',
    path: '/api/operator/profile',
    body: { country: 'DE' },
    status: 200,
    answer: z.object({ country: z.string() }),
    summarize: ({ country }) => `country ${country}`,
  })
  await operator.makeRequest({
    method: 'POST',
    path: '/api/payments/connect',
    status: 200,
    answer: HostedPage,
    summarize: ({ url }) => `continue at ${url}`,
  })
  const connect = {
    ...({ method: 'GET', path: '/api/payments/connect', answer: ConnectStatus } as const),
    summarize: ({ payoutsEnabled, requirements }: z.infer<typeof ConnectStatus>) =>
      `payoutsEnabled ${ready(payoutsEnabled)}, still required: ${requirements.join(', ') || 'nothing'}`,
  }
  const { accountId } = await operator.makeRequest(connect)
  must(!(await payoutReady(scenario)), 'An operator whom Stripe has not verified must not be ready')
  stripe.books.finishOnboarding(accountId as string)
  transcript.logCheck('STRIPE', `received all requirements of ${accountId}`)
  const type = 'v2.core.account[configuration.recipient].capability_status_updated'
  await sendStripeEvent(scenario, thinEvent(type, accountId as string))
  must(await payoutReady(scenario), 'payout_ready did not turn true')
  await operator.makeRequest(connect)
}
