import { charge, earnedShare } from '../../../src/modules/billing/charge.ts'
import { type Check, offending } from './check.ts'

interface Priced {
  id: string
  status: string
  operator_id: string
  client_id: string
  active_ms: string
  outage_ms: string
  client_rate_cents_per_minute: number | null
  operator_share_percent: number | null
  client_charge_cents: number | null
  operator_earnings_cents: number | null
  postings: string
  receivable: string
  payable: string
  revenue: string
}

const perSession = `
  select s.id, s.status, s.operator_id, s.client_id, s.active_ms, s.outage_ms, s.client_rate_cents_per_minute, s.operator_share_percent,
    s.client_charge_cents, s.operator_earnings_cents,
    count(distinct l.posting_id) as postings,
    coalesce(sum(l.amount_cents) filter (where l.account = 'client_receivable' and l.user_id = s.client_id), 0) as receivable,
    coalesce(sum(l.amount_cents) filter (where l.account in ('operator_pending', 'operator_payable') and l.user_id = s.operator_id), 0) as payable,
    coalesce(sum(l.amount_cents) filter (where l.account = 'platform_revenue'), 0) as revenue
  from sessions s left join ledger_entries l on l.session_id = s.id and l.kind = 'session_charge'
  group by s.id`

/** The ledger is balanced, and agrees once with every completed session. */
export const ledgerTrue: Check = {
  name: 'the ledger is balanced and equal to the sessions',
  async run({ db }) {
    const { rows } = await db.query<Priced>(perSession)
    return [
      ...(await offending(
        db,
        `select posting_id, sum(amount_cents) as cents from ledger_entries group by posting_id
         having sum(amount_cents) <> 0 or count(*) < 2`,
        (row) => `posting ${row.posting_id} adds up to ${row.cents} cents, or is one line`,
      )),
      ...rows.flatMap(wrongWith),
    ]
  },
}

function wrongWith(row: Priced): string[] {
  const postings = Number(row.postings)
  if (row.status !== 'COMPLETED')
    return postings === 0 ? [] : [`session ${row.id} is ${row.status} and has ${postings} postings`]
  const due = charge({
    activeMs: Number(row.active_ms),
    outageMs: Number(row.outage_ms),
    rateCentsPerMinute: row.client_rate_cents_per_minute ?? Number.NaN,
    sharePercent: earnedShare(row) ?? Number.NaN,
  })
  const { clientChargeCents: cents, operatorEarningsCents: earned } = due
  const wrong: string[] = []
  if (row.client_charge_cents !== cents || row.operator_earnings_cents !== earned)
    wrong.push(
      `session ${row.id} costs ${row.client_charge_cents} and earns ${row.operator_earnings_cents} cents, ` +
        `by its time ${cents} and ${earned}`,
    )
  const posted = [row.receivable, row.payable, row.revenue].map(Number)
  const expected = [cents, -earned, earned - cents]
  if (posted.some((amount, index) => amount !== expected[index]) || postings !== (cents > 0 ? 1 : 0))
    wrong.push(
      `session ${row.id} over ${cents} cents has ${postings} postings, of ${posted.join(', ')} cents`,
    )
  return wrong
}
