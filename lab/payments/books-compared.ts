import { LedgerAccount } from '../../src/modules/billing/billing.entity.ts'
import type { LocalEnvironment } from '../../tools/demo/environment.ts'
import { type Chapter, must } from './scenario.ts'

const amount = (cents: number): string => (cents === 0 ? '' : (cents / 100).toFixed(2))
const sum = (numbers: readonly number[]): number => numbers.reduce((total, item) => total + item, 0)

interface Line {
  readonly posting_id: string
  readonly kind: string
  readonly account: string
  readonly amount_cents: number
}

async function ledgerOf({ running }: LocalEnvironment): Promise<Line[]> {
  return await running.platform.core.db
    .selectFrom('ledger_entries')
    .select(['posting_id', 'kind', 'account', 'amount_cents'])
    .orderBy('id')
    .execute()
}

/** Creates a row for each posting, a column for each account; every row and the last column add up to zero. */
function tableOf(lines: readonly Line[]): string[][] {
  const accounts = LedgerAccount.options
  const row = (title: string, of: readonly Line[]) => [
    title,
    ...accounts.map((account) =>
      amount(sum(of.filter((line) => line.account === account).map((line) => line.amount_cents))),
    ),
    (sum(of.map((line) => line.amount_cents)) / 100).toFixed(2),
  ]
  const postings = Map.groupBy(lines, (line) => line.posting_id)
  return [
    ['posting', ...accounts, 'sum'],
    ...[...postings.values()].map((of) => row(of[0]?.kind ?? '', of)),
    row('balance', lines),
  ]
}

/** Compares the ledger with Stripe's own records, which must agree. */
export const booksAreCompared: Chapter = async ({ transcript, environment, stripe }) => {
  await transcript.step('The ledger, next to Stripe’s own records')
  const lines = await ledgerOf(environment)
  transcript.print('\n  Ledger, EUR; debits positive')
  transcript.table(tableOf(lines))
  must(lines.length > 0 && sum(lines.map((line) => line.amount_cents)) === 0, 'The ledger is not balanced')

  const { customers, methods, recipients, transfers } = stripe.books
  const invoices = [...stripe.books.invoices.all.values()]
  transcript.print('\n  Stripe')
  transcript.table([
    ['object', 'amount', 'reversed', 'account'],
    ...[...customers.values()].map(({ id, name }) => [id, '', '', name ?? '']),
    ...[...methods].map(([id, owner]) => [id, '', '', owner]),
    ...[...recipients.values()].map(({ id, params }) => [id, '', '', String(params.display_name)]),
    ...transfers.map((item) => [
      item.id,
      amount(item.amount),
      amount(item.amount_reversed),
      String(item.destination),
    ]),
    ...invoices.map(({ id, amount_paid, customer }) => [id, amount(amount_paid), '', customer]),
  ])
  const received = sum(invoices.map((item) => item.amount_paid))
  const left = sum(transfers.map((item) => item.amount - item.amount_reversed))
  const booked = lines.filter((line) => line.account === 'provider_cash')
  const cash = sum(booked.map((line) => line.amount_cents))
  must(cash === received - left, `The ledger’s cash is ${amount(cash)}, Stripe’s ${amount(received - left)}`)
  transcript.logCheck(
    'STRIPE',
    `both show ${amount(received)} EUR from clients and ${amount(left)} EUR to operators`,
  )
}
