import type { z } from 'zod'
import { InvoiceDetail, InvoiceList } from '../../src/modules/billing/invoice.schema.ts'
import { PayoutOverview } from '../../src/modules/payments/payment.schema.ts'
import { snapshotEvent } from '../support/stripe/events.ts'
import { type Chapter, euros, must, type Scene, stripeTells, until } from './scene.ts'

type InvoiceShown = z.infer<typeof InvoiceList>['invoices'][number]

/** The worker looks for months that are over every ten seconds, and for invoices to collect every five. */
const WORKER_LIMIT_MS = 40_000

/** Milliseconds until the present month (UTC) is over. */
function restOfMonth(nowMs: number): number {
  const at = new Date(nowMs)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1) - nowMs
}

const newest = async ({ owner }: Scene): Promise<InvoiceShown> => {
  const { invoices } = await owner.ask({
    ...{ method: 'GET', path: '/api/client/invoices', answer: InvoiceList },
    reads: ({ invoices: [one] }) =>
      `invoice of ${one?.month}: ${euros(one?.total_cents ?? 0)}, ${one?.status}`,
  })
  const [invoice] = invoices
  if (!invoice) throw new Error('There is no invoice')
  return invoice
}

/** The month is over: one invoice, a line for each session, charged by Stripe, PAID when Stripe says so. */
export const invoiceIsCollected: Chapter = async (scene) => {
  const { transcript, owner, stripe, nowMs, passTime } = scene
  await transcript.step('The month is over, and the client is charged')
  passTime(restOfMonth(nowMs()))
  transcript.confirms('STRIPE', 'the month passes; the worker makes its invoice, and has Stripe collect it')
  const theirs = await until(
    { ...transcript, patienceMs: WORKER_LIMIT_MS },
    'The invoice at Stripe',
    async () => [...stripe.books.invoices.all.values()].find(({ status }) => status === 'open'),
  )
  transcript.confirms(
    'STRIPE',
    `invoice ${theirs.id} over ${euros(theirs.amount_due)}, ${theirs.collection_method}`,
  )
  const { id } = await newest(scene)
  const { lines } = await owner.ask({
    ...{ method: 'GET', path: `/api/client/invoices/${id}`, answer: InvoiceDetail },
    reads: ({ lines: [line] }) =>
      `${line?.robot_name}: ${line?.minutes} min, ${euros(line?.amount_cents ?? 0)}`,
  })
  must(lines.length === theirs.lines.length, 'There must be a line for each session')

  stripe.books.invoices.pay(theirs.id)
  transcript.befalls('STRIPE', `the client’s bank pays ${euros(theirs.amount_due)}`)
  await stripeTells(scene, snapshotEvent('invoice.paid', { id: theirs.id }))
  must((await newest(scene)).status === 'PAID', 'The invoice did not become PAID')
  const { availableCents, pendingEarningsCents } = await scene.operator.ask({
    ...{ method: 'GET', path: '/api/payments/payout', answer: PayoutOverview },
    reads: (overview) =>
      `${euros(overview.pendingEarningsCents)} pending, ${euros(overview.availableCents)} available for a payout`,
  })
  must(pendingEarningsCents === 0 && availableCents > 0, 'The earnings did not become available')
}
