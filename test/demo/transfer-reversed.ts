import { PayoutOverview } from '../../src/modules/payments/payment.schema.ts'
import { snapshotEvent } from '../support/stripe/events.ts'
import { type Chapter, euros, must, type Scene, stripeTells } from './scene.ts'

const TAKEN_BACK_CENTS = 500

async function available({ operator }: Scene): Promise<number> {
  const { availableCents } = await operator.ask({
    ...{ method: 'GET', path: '/api/payments/payout', answer: PayoutOverview },
    reads: (overview) => `${euros(overview.availableCents)} available`,
  })
  return availableCents
}

/** What Stripe takes back is the operator's again, once, however often it is told. */
export const transferIsReversed: Chapter = async (scene) => {
  const { transcript, stripe } = scene
  await transcript.step('Stripe takes a part back, and tells of it twice')
  const [transfer] = stripe.books.transfers
  must(transfer !== undefined, 'There is no transfer')
  const { id = '' } = transfer ?? {}
  stripe.books.reverse(id, TAKEN_BACK_CENTS)
  transcript.befalls('STRIPE', `${euros(TAKEN_BACK_CENTS)} of ${id} are taken back`)
  const event = snapshotEvent('transfer.reversed', { id })
  await stripeTells(scene, event)
  await transcript.until('OPERATOR', 'notification payout.reversed')
  must((await available(scene)) === TAKEN_BACK_CENTS, 'What was taken back is not available')
  await stripeTells(scene, event)
  must((await available(scene)) === TAKEN_BACK_CENTS, 'An event that came twice changed something')
  transcript.confirms('OPERATOR', 'the second one changed nothing')
}
