import { audit } from '../admin/audit.ts'
import type { Tx } from '../events/transactor.ts'
import type { SessionRecord } from '../sessions/session.changes.ts'
import { charge } from './charge.ts'
import { post } from './ledger.ts'

/**
 * Fixes what a session costs and earns, and posts it, in the transaction that has just made it COMPLETED. The
 * posting is unique per session, so nothing can charge it twice.
 */
export async function settle(
  tx: Tx,
  ended: SessionRecord,
  act: { readonly at: Date; readonly actorId?: string },
): Promise<void> {
  const { client_rate_cents_per_minute: rateCentsPerMinute, operator_share_percent: sharePercent } = ended
  if (rateCentsPerMinute === null || sharePercent === null) {
    throw new Error(`session ${ended.id} was started without a price`) // the database refuses such a start
  }
  const due = charge({
    activeMs: ended.active_ms,
    outageMs: ended.outage_ms,
    rateCentsPerMinute,
    sharePercent,
  })
  await tx.db
    .updateTable('sessions')
    .set({
      billable_minutes: due.billableMinutes,
      client_charge_cents: due.clientChargeCents,
      operator_earnings_cents: due.operatorEarningsCents,
    })
    .where('id', '=', ended.id)
    .execute()
  const { clientChargeCents, operatorEarningsCents } = due
  await post(tx, {
    kind: 'session_charge',
    at: act.at,
    sessionId: ended.id,
    lines: [
      { account: 'client_receivable', userId: ended.client_id, amountCents: clientChargeCents },
      { account: 'operator_payable', userId: ended.operator_id, amountCents: -operatorEarningsCents },
      { account: 'platform_revenue', amountCents: operatorEarningsCents - clientChargeCents },
    ],
  })
  await audit(tx, {
    at: act.at,
    actorId: act.actorId,
    action: 'session.charged',
    subject: ['session', ended.id],
    data: {
      plan: ended.plan_id,
      rate_cents_per_minute: rateCentsPerMinute,
      share_percent: sharePercent,
      active_ms: ended.active_ms,
      outage_ms: ended.outage_ms,
      billable_minutes: due.billableMinutes,
      client_charge_cents: clientChargeCents,
      operator_earnings_cents: operatorEarningsCents,
    },
  })
}
