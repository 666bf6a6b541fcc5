import { PayoutOverview } from '../../../src/modules/payments/payment.schema.ts'
import { snapshotEvent } from '../../../test/support/stripe/events.ts'
import { type Chapter, euros, must, type PaymentScenario, sendStripeEvent } from './scenario.ts'

const TAKEN_BACK_CENTS = 500

async function available({ operator }: PaymentScenario): Promise<number> {
  const { availableCents } = await operator.makeRequest({
    method: 'GET',
    path: '/api/payments/payout',
    answer: PayoutOverview,
    summarize: (overview) => `${euros(overview.availableCents)} available`,
  })
  return availableCents
}

/** What Stripe takes back is the operator's again, once, however often it is told. */
export const transferIsReversed: Chapter = async (scenario) => {
  const { transcript, stripe } = scenario
  await transcript.step('Stripe takes a part back, and tells of it twice')
  const [transfer] = stripe.books.transfers
  must(transfer !== undefined, 'There is no transfer')
  const { id = '' } = transfer ?? {}
  stripe.books.reverse(id, TAKEN_BACK_CENTS)
  transcript.logFault('STRIPE', `${euros(TAKEN_BACK_CENTS)} of ${id} are taken back`)
  const event = snapshotEvent('transfer.reversed', { id })
  await sendStripeEvent(scenario, event)
  await transcript.waitFor('OPERATOR', 'notification payout.reversed')
  must((await available(scenario)) === TAKEN_BACK_CENTS, 'What was taken back is not available')
  await sendStripeEvent(scenario, event)
  must((await available(scenario)) === TAKEN_BACK_CENTS, 'An event that came twice changed something')
  transcript.logCheck('OPERATOR', 'the second one changed nothing')
}
