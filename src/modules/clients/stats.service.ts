import { RobotStatus } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { countsOf } from '../../core/database/counts.ts'
import type { Db } from '../../core/database/tables.ts'
import { inScope, memberCan, ownedBy, type Scope, scopeOf } from '../../core/permissions/authorization.ts'
import type { Caller } from '../../core/permissions/caller.ts'
import { addMonths, monthOf, startOf } from '../../core/time/month.ts'
import { BYTES_PER_MB } from '../../core/units.ts'
import { averageRating, sessionsByStatus } from '../sessions/index.ts'
import { type ClientMonth, type ClientStats, STATS_MONTHS } from './stats.schema.ts'

/** Creates the service of client statistics. They are computed at each request. */
export function createClientStats({ db, now }: { db: Db; now: () => Date }) {
  async function robotsByStatus(scope: Scope) {
    const rows = await db
      .selectFrom('robots')
      .select(['status', sql<number>`count(*)`.as('count')])
      .where(ownedBy(scope))
      .where('deleted_at', 'is', null)
      .groupBy('status')
      .execute()
    return countsOf(RobotStatus.options, rows)
  }

  /** Sums over completed sessions. One covering index contains every column it reads. */
  const totals = (scope: Scope) =>
    db
      .selectFrom('sessions')
      .select([
        sql<number>`coalesce(sum(billable_minutes), 0)::bigint`.as('minutes'),
        sql<number>`coalesce(sum(client_charge_cents) filter (where ended_at >= ${startOf(monthOf(now()))}), 0)::bigint`.as(
          'spend_this_month_cents',
        ),
        sql<number>`coalesce(sum(client_charge_cents), 0)::bigint`.as('spend_total_cents'),
        sql<number>`coalesce(sum(episodes_collected), 0)::bigint`.as('episodes_collected'),
        sql<number>`coalesce(sum(data_collected_bytes), 0)::bigint`.as('bytes'),
        averageRating.as('average_rating'),
      ])
      .where(inScope('sessions', scope))
      .where('status', '=', 'COMPLETED')
      .executeTakeFirstOrThrow()

  /** Returns the months up to the current one, oldest first, from a range of the same index. */
  async function months(scope: Scope): Promise<ClientMonth[]> {
    const first = addMonths(monthOf(now()), 1 - STATS_MONTHS)
    const month = sql<string>`to_char(ended_at at time zone 'UTC', 'YYYY-MM')`
    const rows = await db
      .selectFrom('sessions')
      .select([
        month.as('month'),
        sql<number>`count(*)`.as('sessions'),
        sql<number>`coalesce(sum(billable_minutes), 0)::bigint`.as('minutes'),
        sql<number>`coalesce(sum(client_charge_cents), 0)::bigint`.as('spend_cents'),
      ])
      .where(inScope('sessions', scope))
      .where('status', '=', 'COMPLETED')
      .where('ended_at', '>=', startOf(first))
      .groupBy(month)
      .execute()
    const byMonth = new Map(rows.map((row) => [row.month, row]))
    return Array.from({ length: STATS_MONTHS }, (_, index) => {
      const name = addMonths(first, index)
      return byMonth.get(name) ?? { month: name, sessions: 0, minutes: 0, spend_cents: 0 }
    })
  }

  return {
    /** Returns the statistics of a caller's robots, without costs for members who may not see them. */
    async forClient(caller: Pick<Caller, 'userId' | 'organization' | 'credential'>): Promise<ClientStats> {
      const scope = scopeOf(caller)
      const { bytes, ...sums } = await totals(scope)
      const byMonth = await months(scope)
      const seesCosts = memberCan(caller.organization, 'billing.read')
      return {
        robots_by_status: await robotsByStatus(scope),
        sessions_by_status: await sessionsByStatus(db, inScope('sessions', scope)),
        ...sums,
        ...(!seesCosts && { spend_this_month_cents: null, spend_total_cents: null }),
        data_collected_mb: bytes / BYTES_PER_MB,
        months: seesCosts ? byMonth : byMonth.map((month) => ({ ...month, spend_cents: null })),
      }
    },
  }
}
export type ClientStatistics = ReturnType<typeof createClientStats>
