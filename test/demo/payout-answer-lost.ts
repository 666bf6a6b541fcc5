import { PayoutOverview, PayoutView } from '../../src/modules/payments/payment.schema.ts'
import { type Chapter, euros, must, until } from './scene.ts'

/** Stripe makes the transfer, and nobody hears of it: not paid, not free, and never made twice. */
export const payoutAnswerIsLost: Chapter = async ({ transcript, operator, stripe, passTime }) => {
  await transcript.step('The operator is paid, although Stripe’s answer is lost')
  stripe.plan('drops after', /transfers$/, 2, 'POST') // the library's own second attempt as well
  transcript.befalls('STRIPE', 'it will make the transfer, and its answers will not arrive')
  const payout = await operator.ask({
    ...{ method: 'POST', path: '/api/payments/payout', body: {}, answer: PayoutView },
    reads: ({ amountCents, status }) => `payout of ${euros(amountCents)}: ${status}`,
  })
  must(payout.status === 'PENDING', 'A payout whose outcome is unknown must be PENDING')
  const overview = {
    ...({ method: 'GET', path: '/api/payments/payout', answer: PayoutOverview } as const),
    reads: ({ availableCents, pendingCents, payouts }: PayoutOverviewView) =>
      `${euros(availableCents)} available, ${euros(pendingCents)} pending, payout ${payouts[0]?.status}`,
  }
  must(
    (await operator.ask(overview)).pendingCents === payout.amountCents,
    'The payout is not shown as pending',
  )

  passTime(61_000)
  transcript.confirms('STRIPE', 'a minute passes; the worker asks for transfers of this payout')
  await until(transcript, 'The worker’s question', async () => stripe.asked('GET', /transfers$/)[0])
  await transcript.until('OPERATOR', 'notification payout.paid')
  const after = await operator.ask(overview)
  must(after.pendingCents === 0 && after.payouts[0]?.status === 'PAID', 'The payout did not become PAID')
  const made = stripe.books.transfers.filter(({ transfer_group }) => transfer_group === payout.id)
  must(made.length === 1, `${made.length} transfers were made`)
  transcript.confirms('STRIPE', `made one transfer of ${euros(payout.amountCents)}, ${made[0]?.id}`)
}

type PayoutOverviewView = ReturnType<typeof PayoutOverview.parse>
