import { sql } from 'kysely'
import { audit } from '../../core/audit/audit.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { charge, earnedShare } from './charge.ts'
import { post } from './ledger.ts'
import { type IntervalCharge, splitCharge } from './split-charge.ts'

/** The epochs of a session that its audit entry and its invoice list. All are charged. */
export const MAX_LISTED_INTERVALS = 100

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
  readonly ended_at: Date | null
}

/**
 * Creates the function that charges a session and posts the earnings, in the transaction that sets it to COMPLETED. The
 * posting is unique per session, so a session cannot be charged twice. The earnings stay pending for at most
 * `earningsHoldMs` after the session's end; zero makes them available immediately. If control changed hands, each epoch gets its part of
 * the charge; the session's own earnings are those of its operator.
 */
export const createSettle =
  ({ earningsHoldMs }: { earningsHoldMs: number }) =>
  async (tx: Tx, ended: ChargeableSession, context: { readonly at: Date; readonly actorId?: string }) => {
    const { client_rate_cents_per_minute: rateCentsPerMinute } = ended
    const sharePercent = earnedShare(ended)
    if (rateCentsPerMinute === null || sharePercent === null) {
      throw new Error(`session ${ended.id} was started without a price`) // the database rejects such a start
    }
    const intervals = await intervalsOf(tx, ended.id)
    const time = { activeMs: ended.active_ms, outageMs: ended.outage_ms }
    const split =
      intervals.length === 0 ? undefined : splitCharge({ clientId: ended.client_id, ...time }, intervals)
    const due = split ?? charge({ ...time, rateCentsPerMinute, sharePercent })
    const { billableMinutes, clientChargeCents, operatorEarningsCents } = due
    const earned = new Map([[ended.operator_id, split ? 0 : operatorEarningsCents]])
    for (const { user_id: userId, operatorEarningsCents: cents } of split?.intervals ?? [])
      if (userId !== null) earned.set(userId, (earned.get(userId) ?? 0) + cents)
    const isHeld = earningsHoldMs > 0 && operatorEarningsCents > 0
    await tx.db
      .updateTable('sessions')
      .set({
        billable_minutes: billableMinutes,
        client_charge_cents: clientChargeCents,
        operator_earnings_cents: earned.get(ended.operator_id) ?? 0,
        ...(isHeld && {
          earnings_held_until: sql<Date>`ended_at + ${earningsHoldMs} * interval '1 millisecond'`,
        }),
      })
      .where('id', '=', ended.id)
      .execute()
    if (split) await closeIntervals(tx, ended, split.intervals)
    await post(tx, {
      kind: 'session_charge',
      at: context.at,
      sessionId: ended.id,
      lines: [
        { account: 'client_receivable', userId: ended.client_id, amountCents: clientChargeCents },
        ...[...earned].map(([userId, cents]) => ({
          account: isHeld ? ('operator_pending' as const) : ('operator_payable' as const),
          userId,
          amountCents: -cents,
        })),
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
        ...(split && { intervals: split.intervals.slice(0, MAX_LISTED_INTERVALS).map(auditedInterval) }),
      },
    })
  }
export type Settle = ReturnType<typeof createSettle>

/** Returns the epochs of a session; none if its control never changed hands. */
const intervalsOf = (tx: Tx, sessionId: string) =>
  tx.db
    .selectFrom('control_intervals')
    .select(['epoch', 'user_id', 'kind', 'active_ms_before', 'outage_ms_before', 'plan_id'])
    .select(['client_rate_cents_per_minute', 'operator_share_percent'])
    .where('session_id', '=', sessionId)
    .orderBy('epoch')
    .execute()

type ChargedInterval = Awaited<ReturnType<typeof intervalsOf>>[number] & IntervalCharge

/** Ends the epoch that is open, and stores what each one cost and earned. */
async function closeIntervals(
  tx: Tx,
  { id, ended_at }: ChargeableSession,
  parts: readonly ChargedInterval[],
): Promise<void> {
  const column = (of: (part: ChargedInterval) => number) => parts.map(of)
  await sql`
    update control_intervals as held
    set ended_at = coalesce(held.ended_at, greatest(held.started_at, ${ended_at}::timestamptz)),
      driven_ms = part.driven_ms, client_charge_cents = part.charge, operator_earnings_cents = part.earnings
    from unnest(
      ${column((part) => part.epoch)}::int[], ${column((part) => part.drivenMs)}::bigint[],
      ${column((part) => part.clientChargeCents)}::int[], ${column((part) => part.operatorEarningsCents)}::int[]
    ) as part (epoch, driven_ms, charge, earnings)
    where held.session_id = ${id} and held.epoch = part.epoch`.execute(tx.db)
}

const auditedInterval = (part: ChargedInterval) => ({
  epoch: part.epoch,
  user_id: part.user_id,
  kind: part.kind,
  plan: part.plan_id,
  rate_cents_per_minute: part.client_rate_cents_per_minute,
  share_percent: part.operator_share_percent,
  driven_ms: part.drivenMs,
  client_charge_cents: part.clientChargeCents,
  operator_earnings_cents: part.operatorEarningsCents,
})
