import { sql } from 'kysely'
import { audit } from '../../core/audit/audit.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { charge, earnedShare } from './charge.ts'
import { post } from './ledger.ts'

/** The columns that a session's price and earnings depend on. */
export interface ChargeableSession {
  readonly id: string
  readonly client_id: string
  readonly operator_id: string
  readonly client_rate_cents_per_minute: number | null
  readonly operator_share_percent: number | null
  readonly active_ms: number
  readonly outage_ms: number
  readonly plan_id: string | null
}

/**
 * Creates the function that charges a session and posts the earnings, in the transaction that sets it to COMPLETED. The
 * posting is unique per session, so a session cannot be charged twice. The earnings stay pending for at most
 * `earningsHoldMs` after the session's end; zero makes them available immediately.
 */
export const createSettle =
  ({ earningsHoldMs }: { earningsHoldMs: number }) =>
  async (tx: Tx, ended: ChargeableSession, context: { readonly at: Date; readonly actorId?: string }) => {
    const { client_rate_cents_per_minute: rateCentsPerMinute } = ended
    const sharePercent = earnedShare(ended)
    if (rateCentsPerMinute === null || sharePercent === null) {
      throw new Error(`session ${ended.id} was started without a price`) // the database rejects such a start
    }
    const due = charge({
      activeMs: ended.active_ms,
      outageMs: ended.outage_ms,
      rateCentsPerMinute,
      sharePercent,
    })
    const { billableMinutes, clientChargeCents, operatorEarningsCents } = due
    const isHeld = earningsHoldMs > 0 && operatorEarningsCents > 0
    await tx.db
      .updateTable('sessions')
      .set({
        billable_minutes: billableMinutes,
        client_charge_cents: clientChargeCents,
        operator_earnings_cents: operatorEarningsCents,
        ...(isHeld && {
          earnings_held_until: sql<Date>`ended_at + ${earningsHoldMs} * interval '1 millisecond'`,
        }),
      })
      .where('id', '=', ended.id)
      .execute()
    await post(tx, {
      kind: 'session_charge',
      at: context.at,
      sessionId: ended.id,
      lines: [
        { account: 'client_receivable', userId: ended.client_id, amountCents: clientChargeCents },
        {
          account: isHeld ? 'operator_pending' : 'operator_payable',
          userId: ended.operator_id,
          amountCents: -operatorEarningsCents,
        },
        { account: 'platform_revenue', amountCents: operatorEarningsCents - clientChargeCents },
      ],
    })
    // No entry of the client's organization: the earnings of the operator are no business of the client.
    await audit(tx, {
      at: context.at,
      actorId: context.actorId,
      action: 'session.charged',
      subject: ['session', ended.id],
      data: {
        plan: ended.plan_id,
        rate_cents_per_minute: rateCentsPerMinute,
        share_percent: sharePercent,
        active_ms: ended.active_ms,
        outage_ms: ended.outage_ms,
        billable_minutes: billableMinutes,
        client_charge_cents: clientChargeCents,
        operator_earnings_cents: operatorEarningsCents,
      },
    })
  }
export type Settle = ReturnType<typeof createSettle>
