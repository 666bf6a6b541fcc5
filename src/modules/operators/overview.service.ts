import { sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { guestIntervals } from '../billing/index.ts'
import type { AvailableRobots, Operator } from './available-robots.service.ts'
import { FREE_MAX, type OperatorOverview, PLANNED_MAX } from './overview.schema.ts'

const DAY_MS = 86_400_000

/** Creates the service that reads what an operator needs to know now. Every list has a bound. */
export function createOperatorOverview(deps: { db: Db; now: () => Date; availableRobots: AvailableRobots }) {
  const { db, now, availableRobots } = deps

  const ownSessions = (operatorId: string) =>
    db
      .selectFrom('sessions')
      .innerJoin('robots', 'robots.id', 'sessions.robot_id')
      .select(['sessions.id', 'sessions.robot_id', 'robots.name as robot_name', 'robots.robot_type'])
      .where('sessions.operator_id', '=', operatorId)

  async function openSession(operatorId: string): Promise<OperatorOverview['open_session']> {
    const row = await ownSessions(operatorId)
      .innerJoin('robot_presence', 'robot_presence.robot_id', 'sessions.robot_id')
      .select(['sessions.status', 'sessions.started_at', 'sessions.stop_at'])
      .select('robot_presence.connected as robot_connected')
      .where('sessions.status', 'in', ['ACTIVE', 'PAUSED'])
      .executeTakeFirst()
    if (!row?.started_at) return null
    const { stop_at, started_at, ...session } = row
    return { ...session, started_at: iso(started_at), stopped: stop_at !== null }
  }

  async function planned(operatorId: string): Promise<OperatorOverview['planned']> {
    const rows = await ownSessions(operatorId)
      .select(['sessions.scheduled_for', 'sessions.planned_minutes'])
      .where('sessions.status', '=', 'PENDING')
      .orderBy('sessions.scheduled_for')
      .orderBy('sessions.id')
      .limit(PLANNED_MAX)
      .execute()
    return rows.map(({ scheduled_for, planned_minutes, ...session }) => ({
      ...session,
      scheduled_for: iso(scheduled_for as Date), // a PENDING session has both: sessions_pending_planned
      planned_minutes: planned_minutes as number,
    }))
  }

  /** Sums the sessions that ended on each day of this week, from the index of completed sessions. */
  async function week(operatorId: string): Promise<OperatorOverview['week']> {
    const at = now()
    // 1 January 1970 was a Thursday.
    const today = Math.floor(at.getTime() / DAY_MS)
    const monday = today - ((today + 3) % 7)
    const own = db
      .selectFrom('sessions')
      .select(['ended_at', 'operator_earnings_cents as cents', sql<number | null>`active_ms`.as('ms')])
      .where('operator_id', '=', operatorId)
      .where('status', '=', 'COMPLETED')
      .where('ended_at', '>=', new Date(monday * DAY_MS))
    const asGuest = guestIntervals(db)
      .select(['sessions.ended_at', 'held.operator_earnings_cents as cents', 'held.driven_ms as ms'])
      .where('held.user_id', '=', operatorId)
      .where('sessions.status', '=', 'COMPLETED')
      .where('sessions.ended_at', '>=', new Date(monday * DAY_MS))
    const day = sql<string>`to_char(ended_at at time zone 'UTC', 'YYYY-MM-DD')`
    const rows = await db
      .selectFrom(own.unionAll(asGuest).as('driven'))
      .select([
        day.as('day'),
        sql<string>`coalesce(sum(cents), 0)`.as('earnings_cents'),
        sql<string>`coalesce(sum(ms), 0) / 1000`.as('driven_seconds'),
      ])
      .groupBy(day)
      .execute()
    return Array.from({ length: 7 }, (_, index) => {
      const name = iso(new Date((monday + index) * DAY_MS)).slice(0, 10)
      const row = rows.find(({ day }) => day === name)
      return {
        day: name,
        earnings_cents: Number(row?.earnings_cents ?? 0),
        driven_seconds: Math.floor(Number(row?.driven_seconds ?? 0)),
      }
    })
  }

  return {
    async of(caller: Operator): Promise<OperatorOverview> {
      const operatorId = caller.userId
      const [open_session, next, free, days] = await Promise.all([
        openSession(operatorId),
        planned(operatorId),
        availableRobots.best(caller, FREE_MAX),
        week(operatorId),
      ])
      return { open_session, planned: next, free, week: days }
    },
  }
}
export type OperatorOverviews = ReturnType<typeof createOperatorOverview>
