import { z } from 'zod'
import { ClientProfileView } from '../../src/modules/clients/client-profile.schema.ts'
import { OperatorProfileView } from '../../src/modules/operators/operator-profile.schema.ts'
import {
  ConnectStatus,
  CustomerView,
  HostedPage,
  SetupIntentView,
} from '../../src/modules/payments/payment.schema.ts'
import { snapshotEvent, thinEvent } from '../support/stripe/events.ts'
import { type Chapter, must, type Scene, stripeTells } from './scene.ts'

const ready = (is: boolean) => (is ? 'true' : 'false')

async function billingReady({ owner }: Scene): Promise<boolean> {
  const { billing_ready } = await owner.ask({
    ...{ method: 'GET', path: '/api/client/profile', answer: ClientProfileView },
    reads: (profile) => `billing_ready ${ready(profile.billing_ready)}`,
  })
  return billing_ready
}

/** The card goes from the client's browser to Stripe; the platform hears of it in an event. */
export const clientSavesAMethod: Chapter = async (scene) => {
  const { transcript, owner, stripe } = scene
  await transcript.step('A client saves a payment method')
  must(!(await billingReady(scene)), 'A client who has saved nothing must not be ready')
  const { customerId } = await owner.ask({
    ...{ method: 'POST', path: '/api/payments/customer', status: 200, answer: CustomerView },
    reads: (answer) => `customer ${answer.customerId}`,
  })
  await owner.ask({
    ...{ method: 'POST', path: '/api/payments/setup-intent', answer: SetupIntentView },
    reads: ({ clientSecret }) => `for Stripe’s form in the browser: ${clientSecret}`,
  })
  const method = stripe.books.saveMethod(customerId)
  transcript.confirms('STRIPE', `got the card from the browser, ${method}`)
  await stripeTells(scene, snapshotEvent('setup_intent.succeeded', { id: 'seti_demo', customer: customerId }))
  must(await billingReady(scene), 'billing_ready did not turn true')
}

async function payoutReady({ operator }: Scene): Promise<boolean> {
  const { payout_ready } = await operator.ask({
    ...{ method: 'GET', path: '/api/operator/profile', answer: OperatorProfileView },
    reads: (profile) => `payout_ready ${ready(profile.payout_ready)}`,
  })
  return payout_ready
}

/** What Stripe has to know of an operator it asks on its own page. */
export const operatorOnboards: Chapter = async (scene) => {
  const { transcript, operator, stripe } = scene
  await transcript.step('An operator sets up a payout account')
  await operator.connect()
  await operator.ask({
    ...{ method: 'POST', path: '/api/operator/profile', body: { country: 'DE' }, status: 200 },
    answer: z.object({ country: z.string() }),
    reads: ({ country }) => `country ${country}`,
  })
  await operator.ask({
    ...{ method: 'POST', path: '/api/payments/connect', status: 200, answer: HostedPage },
    reads: ({ url }) => `go on at ${url}`,
  })
  const connect = {
    ...({ method: 'GET', path: '/api/payments/connect', answer: ConnectStatus } as const),
    reads: ({ payoutsEnabled, requirements }: z.infer<typeof ConnectStatus>) =>
      `payoutsEnabled ${ready(payoutsEnabled)}, still wanted: ${requirements.join(', ') || 'nothing'}`,
  }
  const { accountId } = await operator.ask(connect)
  must(!(await payoutReady(scene)), 'An operator of whom Stripe knows nothing must not be ready')
  stripe.books.finishOnboarding(accountId as string)
  transcript.confirms('STRIPE', `was told all it has to know of ${accountId}`)
  const type = 'v2.core.account[configuration.recipient].capability_status_updated'
  await stripeTells(scene, thinEvent(type, accountId as string))
  must(await payoutReady(scene), 'payout_ready did not turn true')
  await operator.ask(connect)
}
