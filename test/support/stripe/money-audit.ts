import { sql } from 'kysely'
import { expect } from 'vitest'
import type { Db } from '../../../src/core/database/tables.ts'
import type { StripeBooks } from './fake-stripe-store.ts'

/** An operator and a client without other business, and the operator's account at the provider. */
export interface Pair {
  readonly operatorId: string
  readonly clientId: string
  readonly accountId: string
}

/** Sums of all the money of two users, in cents; by the ledger, and by the rows that must agree with it. */
async function sums(db: Db, { operatorId, clientId }: Pair) {
  const { rows } = await sql<Record<string, number>>`
    with mine as (
      select e.* from ledger_entries e
      left join payouts p on p.id = e.payout_id left join invoices i on i.id = e.invoice_id
      where e.user_id in (${operatorId}, ${clientId}) or p.operator_id = ${operatorId} or i.client_id = ${clientId}
    ), s as (select * from sessions where client_id = ${clientId} and status = 'COMPLETED')
    select
      (select count(*) from (select from ledger_entries group by posting_id having sum(amount_cents) <> 0) x)::int as unbalanced,
      coalesce(-sum(amount_cents) filter (where account = 'operator_payable'), 0)::float8 as payable,
      coalesce(-sum(amount_cents) filter (where account = 'operator_pending'), 0)::float8 as held,
      (select coalesce(sum(operator_earnings_cents), 0) from s where earnings_held_until is not null)::float8 as held_by_sessions,
      (select coalesce(sum(operator_earnings_cents), 0) from s join invoices i on i.id = s.invoice_id
        where i.status = 'PAID' and earnings_held_until is not null)::float8 as held_though_paid,
      coalesce(-sum(amount_cents) filter (where account = 'payout_reserved'), 0)::float8 as reserved,
      coalesce(sum(amount_cents) filter (where account = 'client_receivable'), 0)::float8 as receivable,
      coalesce(sum(amount_cents) filter (where account = 'client_balance'), 0)::float8 as balance,
      coalesce(sum(amount_cents) filter (where account = 'provider_cash'), 0)::float8 as cash,
      (select coalesce(sum(operator_earnings_cents), 0) from s)::float8 as earned,
      (select coalesce(sum(client_charge_cents), 0) from s where invoice_id is null)::float8 as uninvoiced,
      (select coalesce(sum(total_cents), 0) from invoices where client_id = ${clientId} and status in ('OPEN', 'FAILED'))::float8 as owed,
      (select coalesce(sum(total_cents), 0) from invoices where client_id = ${clientId} and status = 'PAID')::float8 as settled,
      (select coalesce(sum(amount_cents), 0) from payouts where operator_id = ${operatorId} and status = 'PENDING')::float8 as pending,
      (select coalesce(sum(amount_cents), 0) from payouts where operator_id = ${operatorId} and status = 'PAID')::float8 as paid,
      (select coalesce(sum(reversed_cents), 0) from payouts where operator_id = ${operatorId})::float8 as reversed
    from mine`.execute(db)
  return rows[0] as Record<string, number>
}

/** Checks that the epochs of sessions add up to what these cost, and that the ledger gives each operator the own part. */
export async function auditIntervals(db: Db): Promise<void> {
  const { rows } = await sql`
    with parts as (
      select s.id, s.operator_id, s.client_charge_cents, s.operator_earnings_cents,
        sum(held.client_charge_cents) as charged, count(*) filter (where held.ended_at is null) as open,
        coalesce(sum(held.operator_earnings_cents) filter (where held.user_id = s.operator_id), 0) as earned
      from sessions s join control_intervals held on held.session_id = s.id where s.status = 'COMPLETED' group by s.id
    ), earned as (
      select held.session_id, held.user_id, sum(held.operator_earnings_cents) as cents
      from control_intervals held join sessions s on s.id = held.session_id where s.status = 'COMPLETED' group by 1, 2
    ), booked as (
      select session_id, user_id, -sum(amount_cents) as cents from ledger_entries
      where kind = 'session_charge' and account in ('operator_pending', 'operator_payable')
        and session_id in (select id from parts) group by 1, 2
    )
    select 'session' as what, id::text from parts
    where charged <> client_charge_cents or earned <> operator_earnings_cents or open > 0
    union all
    select 'ledger', session_id::text from (select * from earned where cents > 0) e full join booked b using (session_id, user_id)
    where e.cents is distinct from b.cents`.execute(db)
  expect(rows, 'sessions whose epochs do not add up').toEqual([])
}

const payoutsOf = (db: Db, { operatorId }: Pair) =>
  db.selectFrom('payouts').select(['id', 'status']).where('operator_id', '=', operatorId).execute()

/** Checks invariants that hold at every moment, also during an operation. */
export async function auditMoney(db: Db, books: StripeBooks, pair: Pair): Promise<void> {
  await auditIntervals(db)
  const is = await sums(db, pair)
  const { payable = 0, held = 0, reserved = 0, paid = 0, reversed = 0 } = is
  expect(is.unbalanced, 'postings that do not add up').toBe(0)
  expect(payable, 'never overdrawn').toBeGreaterThanOrEqual(0)
  expect(reserved, 'the reserved amount equals the pending payouts').toBe(is.pending)
  expect(held, 'the pending earnings equal those that sessions hold').toBe(is.held_by_sessions)
  expect(is.held_though_paid, 'earnings of paid sessions are not held').toBe(0)
  expect(held + payable + reserved + paid - reversed, 'all earnings are accounted for').toBe(is.earned)
  expect(is.receivable, 'the receivable is on an open invoice, or will be').toBe(
    (is.uninvoiced ?? 0) + (is.owed ?? 0),
  )
  expect((is.cash ?? 0) + (is.balance ?? 0), 'cash').toBe((is.settled ?? 0) - paid + reversed)

  const transfers = books.transfers.filter(({ destination }) => destination === pair.accountId)
  const groups = transfers.map(({ transfer_group }) => transfer_group)
  expect(new Set(groups).size, 'no duplicate transfer').toBe(groups.length)
  const failed = (await payoutsOf(db, pair)).filter(({ status }) => status === 'FAILED')
  for (const { id } of failed) expect(groups, 'a transferred payout has not failed').not.toContain(id)
  const issued = [...books.invoices.all.values()].filter(({ status }) => status !== 'draft')
  const ours = issued.map(({ metadata }) => metadata.invoice_id)
  expect(new Set(ours).size, 'no invoice collected twice').toBe(ours.length)
}

/** Checks the final state, after all work is done and without faults of the provider. */
export async function auditSettledMoney(db: Db, books: StripeBooks, pair: Pair): Promise<void> {
  await auditMoney(db, books, pair)
  const payouts = await payoutsOf(db, pair)
  expect(payouts.filter(({ status }) => status === 'PENDING')).toEqual([])
  const transfers = books.transfers.filter(({ destination }) => destination === pair.accountId)
  const paidIds = payouts.filter(({ status }) => status === 'PAID').map(({ id }) => id)
  expect(transfers.map(({ transfer_group }) => transfer_group).sort()).toEqual(paidIds.sort())

  const invoices = await db
    .selectFrom('invoices')
    .leftJoin('invoice_collections', 'invoice_id', 'invoices.id')
    .select(['invoices.id', 'status', 'total_cents', 'stripe_id', 'failure'])
    .where('client_id', '=', pair.clientId)
    .where('total_cents', '>', 0)
    .execute()
  let received = 0
  for (const { id, status, total_cents, stripe_id, failure } of invoices) {
    const stripeInvoice = books.invoices.all.get(stripe_id ?? '')
    expect(stripeInvoice?.metadata.invoice_id, `the provider has the invoice (${failure})`).toBe(id)
    expect(
      stripeInvoice?.lines.reduce((sum, { amount }) => sum + amount, 0),
      `${failure}`,
    ).toBe(total_cents)
    const expected = { draft: 'none', open: 'OPEN', paid: 'PAID', void: 'VOID', uncollectible: 'FAILED' }
    const refused =
      stripeInvoice?.status === 'open' && stripeInvoice.intent?.status === 'requires_payment_method'
    expect(status).toBe(refused ? 'FAILED' : expected[stripeInvoice?.status ?? 'draft'])
    received += (stripeInvoice?.amount_paid ?? 0) - (stripeInvoice?.amount_paid_off_stripe ?? 0)
  }
  const transferred = transfers.reduce(
    (sum, { amount, amount_reversed }) => sum + amount - amount_reversed,
    0,
  )
  expect((await sums(db, pair)).cash, 'the ledger agrees with the provider').toBe(received - transferred)
}
