import { PayoutOverview, PayoutView } from '../../src/modules/payments/payment.schema.ts'
import { type Chapter, euros, must, until } from './scenario.ts'

/** Loses Stripe's answer to a transfer that it makes: the payout stays PENDING, and is never made twice. */
export const payoutResponseIsLost: Chapter = async ({ transcript, operator, stripe, passTime }) => {
  await transcript.step('The operator is paid, although Stripe’s answer is lost')
  stripe.plan('drops after', /transfers$/, 2, 'POST') // also drops the answer to the library's retry
  transcript.logFault('STRIPE', 'it makes the transfer, and its answers are lost')
  const payout = await operator.makeRequest({
    method: 'POST',
    path: '/api/payments/payout',
    body: {},
    answer: PayoutView,
    summarize: ({ amountCents, status }) => `payout of ${euros(amountCents)}: ${status}`,
  })
  must(payout.status === 'PENDING', 'A payout whose outcome is unknown must be PENDING')
  const overview = {
    ...({ method: 'GET', path: '/api/payments/payout', answer: PayoutOverview } as const),
    summarize: ({ availableCents, pendingCents, payouts }: PayoutOverviewView) =>
      `${euros(availableCents)} available, ${euros(pendingCents)} pending, payout ${payouts[0]?.status}`,
  }
  must(
    (await operator.makeRequest(overview)).pendingCents === payout.amountCents,
    'The payout is not shown as pending',
  )

  passTime(61_000)
  transcript.logCheck('STRIPE', 'a minute passes; the worker queries the transfers of this payout')
  await until(transcript, 'The worker’s query', async () => stripe.requestsTo('GET', /transfers$/)[0])
  await transcript.waitFor('OPERATOR', 'notification payout.paid')
  const after = await operator.makeRequest(overview)
  must(after.pendingCents === 0 && after.payouts[0]?.status === 'PAID', 'The payout did not become PAID')
  const made = stripe.books.transfers.filter(({ transfer_group }) => transfer_group === payout.id)
  must(made.length === 1, `${made.length} transfers were made`)
  transcript.logCheck('STRIPE', `made one transfer of ${euros(payout.amountCents)}, ${made[0]?.id}`)
}

type PayoutOverviewView = ReturnType<typeof PayoutOverview.parse>
