import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import { monthOf, startOf } from '../../core/time/month.ts'
import { availableForPayout, balance, guestIntervals } from '../billing/index.ts'
import { averageRating, ratingCount, sessionsByStatus } from '../sessions/index.ts'
import type { OperatorStats } from './stats.schema.ts'

const MINUTES_PER_HOUR = 60

/** Creates the service of operator statistics. They are computed at each request. */
export function createOperatorStats({ db, now }: { db: Db; now: () => Date }) {
  /** Sums over completed sessions. One covering index contains every column it reads. */
  const totals = (operatorId: string) =>
    db
      .selectFrom('sessions')
      .select([
        sql<number>`coalesce(sum(billable_minutes), 0)::bigint`.as('minutes'),
        sql<number>`coalesce(sum(operator_earnings_cents) filter (where ended_at >= ${startOf(monthOf(now()))}), 0)::bigint`.as(
          'earnings_this_month_cents',
        ),
        sql<number>`coalesce(sum(operator_earnings_cents), 0)::bigint`.as('earnings_total_cents'),
        averageRating.as('rating_average'),
        ratingCount.as('rating_count'),
      ])
      .where('operator_id', '=', operatorId)
      .where('status', '=', 'COMPLETED')
      .executeTakeFirstOrThrow()

  /** Sums what the operator earned in sessions of others. */
  const totalsAsGuest = (operatorId: string) =>
    guestIntervals(db)
      .select([
        sql<number>`coalesce(sum(held.operator_earnings_cents) filter (where sessions.ended_at >= ${startOf(monthOf(now()))}), 0)::bigint`.as(
          'this_month_cents',
        ),
        sql<number>`coalesce(sum(held.operator_earnings_cents), 0)::bigint`.as('total_cents'),
      ])
      .where('held.user_id', '=', operatorId)
      .executeTakeFirstOrThrow()

  /** Sums the outages of the current month, each rounded up to a second. */
  async function outageSeconds(operatorId: string): Promise<number> {
    const { ms } = await db
      .selectFrom('sessions')
      .select(sql<number>`coalesce(sum(outage_ms), 0)::bigint`.as('ms'))
      .where('operator_id', '=', operatorId)
      .where('status', '=', 'COMPLETED')
      .where('ended_at', '>=', startOf(monthOf(now())))
      .executeTakeFirstOrThrow()
    return Math.ceil(ms / 1_000)
  }

  return {
    async forOperator(operatorId: string): Promise<OperatorStats> {
      const { minutes, ...sums } = await totals(operatorId)
      const asGuest = await totalsAsGuest(operatorId)
      return {
        sessions_by_status: await sessionsByStatus(
          db,
          sql<boolean>`(operator_id = ${operatorId} and not own_operator)`,
        ),
        hours: Math.round((minutes / MINUTES_PER_HOUR) * 100) / 100,
        ...sums,
        earnings_this_month_cents: sums.earnings_this_month_cents + asGuest.this_month_cents,
        earnings_total_cents: sums.earnings_total_cents + asGuest.total_cents,
        available_for_payout_cents: await availableForPayout(db, operatorId),
        outage_seconds_this_month: await outageSeconds(operatorId),
        pending_earnings_cents: 0 - (await balance(db, 'operator_pending', operatorId)),
      }
    },
  }
}
export type OperatorStatistics = ReturnType<typeof createOperatorStats>
