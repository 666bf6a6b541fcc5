import { Account } from '../../src/modules/billing/ledger.entity.ts'
import type { OwnStage } from '../../tools/demo/play-stage.ts'
import { type Chapter, must } from './scene.ts'

const amount = (cents: number): string => (cents === 0 ? '' : (cents / 100).toFixed(2))
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

interface Line {
  readonly posting_id: string
  readonly kind: string
  readonly account: string
  readonly amount_cents: number
}

async function ledgerOf({ running }: OwnStage): Promise<Line[]> {
  return await running.platform.db
    .selectFrom('ledger_entries')
    .select(['posting_id', 'kind', 'account', 'amount_cents'])
    .orderBy('id')
    .execute()
}

/** A row for each posting, a column for each account; every row and the last column add up to zero. */
function tableOf(lines: readonly Line[]): string[][] {
  const accounts = Account.options
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

/** The ledger and Stripe's own books, which must tell the same. */
export const booksAreCompared: Chapter = async ({ transcript, stage, stripe }) => {
  await transcript.step('The ledger, and Stripe’s own books next to it')
  const lines = await ledgerOf(stage)
  transcript.say('\n  Ledger, EUR; debits positive')
  transcript.table(tableOf(lines))
  must(lines.length > 0 && sum(lines.map((line) => line.amount_cents)) === 0, 'The ledger is not balanced')

  const { customers, methods, recipients, transfers } = stripe.books
  const invoices = [...stripe.books.invoices.all.values()]
  transcript.say('\n  Stripe')
  transcript.table([
    ['object', 'amount', 'taken back', 'whose'],
    ...[...customers.values()].map(({ id, name }) => [id, '', '', name ?? '']),
    ...[...methods].map(([id, owner]) => [id, '', '', owner]),
    ...[...recipients.values()].map(({ id, params }) => [id, '', '', String(params.display_name)]),
    ...transfers.map((one) => [
      one.id,
      amount(one.amount),
      amount(one.amount_reversed),
      String(one.destination),
    ]),
    ...invoices.map(({ id, amount_paid, customer }) => [id, amount(amount_paid), '', customer]),
  ])
  const came = sum(invoices.map((one) => one.amount_paid))
  const left = sum(transfers.map((one) => one.amount - one.amount_reversed))
  const booked = lines.filter((line) => line.account === 'provider_cash')
  const cash = sum(booked.map((line) => line.amount_cents))
  must(cash === came - left, `The ledger’s cash is ${amount(cash)}, Stripe’s ${amount(came - left)}`)
  transcript.confirms(
    'STRIPE',
    `${amount(came)} EUR came from clients, ${amount(left)} left for operators, in both books`,
  )
}
