import { PayoutOverview } from '../../src/modules/payments/payment.schema.ts'
import { snapshotEvent } from '../../test/support/stripe/events.ts'
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

/** Shows that the operator gets a reversed amount back once, however often Stripe reports the reversal. */
export const transferIsReversed: Chapter = async (scenario) => {
  const { transcript, stripe } = scenario
  await transcript.step('Stripe reverses a part, and reports it twice')
  const [transfer] = stripe.books.transfers
  must(transfer !== undefined, 'There is no transfer')
  const { id = '' } = transfer ?? {}
  stripe.books.reverse(id, TAKEN_BACK_CENTS)
  transcript.logFault('STRIPE', `${euros(TAKEN_BACK_CENTS)} of ${id} are reversed`)
  const event = snapshotEvent('transfer.reversed', { id })
  await sendStripeEvent(scenario, event)
  await transcript.waitFor('OPERATOR', 'notification payout.reversed')
  must((await available(scenario)) === TAKEN_BACK_CENTS, 'The reversed amount is not available')
  await sendStripeEvent(scenario, event)
  must((await available(scenario)) === TAKEN_BACK_CENTS, 'A repeated event changed the balance')
  transcript.logCheck('OPERATOR', 'the repeated event changed nothing')
}
