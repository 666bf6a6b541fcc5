import type { z } from 'zod'
import { InvoiceDetail, InvoiceList } from '../../src/modules/billing/invoice.schema.ts'
import { PayoutOverview } from '../../src/modules/payments/payment.schema.ts'
import { snapshotEvent } from '../../test/support/stripe/events.ts'
import { type Chapter, euros, must, type PaymentScenario, sendStripeEvent, until } from './scenario.ts'

type InvoiceShown = z.infer<typeof InvoiceList>['invoices'][number]

/** The worker checks for completed months and open invoices once a minute. */
const WORKER_LIMIT_MS = 180_000

/** Returns the milliseconds until the current month (UTC) is over. */
function restOfMonth(nowMs: number): number {
  const at = new Date(nowMs)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1) - nowMs
}

const newest = async ({ owner }: PaymentScenario): Promise<InvoiceShown> => {
  const { invoices } = await owner.makeRequest({
    method: 'GET',
    path: '/api/client/invoices',
    answer: InvoiceList,
    summarize: ({ invoices: [item] }) =>
      `invoice of ${item?.month}: ${euros(item?.total_cents ?? 0)}, ${item?.status}`,
  })
  const [invoice] = invoices
  if (!invoice) throw new Error('There is no invoice')
  return invoice
}

/** Ends the month: the client gets an invoice with a line for each session; Stripe charges it and reports PAID. */
export const invoiceIsCollected: Chapter = async (scenario) => {
  const { transcript, owner, stripe, nowMs, passTime } = scenario
  await transcript.step('The month is over, and the client is charged')
  passTime(restOfMonth(nowMs()))
  transcript.logCheck('STRIPE', 'the month passes; the worker creates its invoice, and Stripe collects it')
  const stripeInvoice = await until(
    { ...transcript, expectationTimeoutMs: WORKER_LIMIT_MS },
    'The invoice at Stripe',
    async () => [...stripe.books.invoices.all.values()].find(({ status }) => status === 'open'),
  )
  transcript.logCheck(
    'STRIPE',
    `invoice ${stripeInvoice.id} over ${euros(stripeInvoice.amount_due)}, ${stripeInvoice.collection_method}`,
  )
  const { id } = await newest(scenario)
  const { lines } = await owner.makeRequest({
    method: 'GET',
    path: `/api/client/invoices/${id}`,
    answer: InvoiceDetail,
    summarize: ({ lines: [line] }) =>
      `${line?.robot_name}: ${line?.minutes} min, ${euros(line?.amount_cents ?? 0)}`,
  })
  must(lines.length === stripeInvoice.lines.length, 'There must be a line for each session')

  stripe.books.invoices.pay(stripeInvoice.id)
  transcript.logFault('STRIPE', `the client’s bank pays ${euros(stripeInvoice.amount_due)}`)
  await sendStripeEvent(scenario, snapshotEvent('invoice.paid', { id: stripeInvoice.id }))
  must((await newest(scenario)).status === 'PAID', 'The invoice did not become PAID')
  const { availableCents, pendingEarningsCents } = await scenario.operator.makeRequest({
    method: 'GET',
    path: '/api/payments/payout',
    answer: PayoutOverview,
    summarize: (overview) =>
      `${euros(overview.pendingEarningsCents)} pending, ${euros(overview.availableCents)} available for a payout`,
  })
  must(pendingEarningsCents === 0 && availableCents > 0, 'The earnings did not become available')
}
