import { sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import type { LiveRobots } from './live-robot.service.ts'
import {
  type ClientOverview,
  OFFLINE_MINUTES,
  OVERVIEW_ATTENTION_MAX,
  OVERVIEW_LIVE_MAX,
} from './overview.schema.ts'

/** Creates the service that reads what an owner needs to know now. Every list has a bound. */
export function createClientOverview(deps: { db: Db; now: () => Date; liveRobots: LiveRobots }) {
  const { db, now, liveRobots } = deps

  const onHold = (ownerId: string) =>
    db
      .selectFrom('robots')
      .select(['id', 'name'])
      .where('owner_id', '=', ownerId)
      .where('deleted_at', 'is', null)
      .where('on_hold', '=', true)
      .orderBy('name')
      .limit(OVERVIEW_ATTENTION_MAX)
      .execute()

  /** Selects the robots of an owner with what is known of their connection. */
  const presenceOf = (ownerId: string) =>
    db
      .selectFrom('robots')
      .innerJoin('robot_presence', 'robot_presence.robot_id', 'robots.id')
      .where('robots.owner_id', '=', ownerId)
      .where('robots.deleted_at', 'is', null)

  async function lowBatteries(ownerId: string): Promise<ClientOverview['low_batteries']> {
    const rows = await presenceOf(ownerId)
      .select(['robots.id', 'robots.name', 'robot_presence.battery'])
      .where('robot_presence.battery_low', '=', true)
      .where('robot_presence.connected', '=', true)
      .orderBy('robot_presence.battery')
      .orderBy('robots.id')
      .limit(OVERVIEW_ATTENTION_MAX)
      .execute()
    return rows.map((row) => ({ ...row, battery: row.battery ?? 0 }))
  }

  /** Returns robots that went offline lately. Those in a session are among the live robots, as lost ones. */
  async function wentOffline(ownerId: string, at: Date): Promise<ClientOverview['went_offline']> {
    const since = new Date(at.getTime() - OFFLINE_MINUTES * 60_000)
    const rows = await presenceOf(ownerId)
      .select(['robots.id', 'robots.name', 'robot_presence.last_online'])
      .select(sql<string>`count(*) over ()`.as('count'))
      .where('robots.status', '=', 'OFFLINE')
      .where('robot_presence.connected', '=', false)
      .where('robot_presence.last_online', '>', since)
      .orderBy('robot_presence.last_online', 'desc')
      .orderBy('robots.id')
      .limit(OVERVIEW_ATTENTION_MAX)
      .execute()
    return {
      count: Number(rows[0]?.count ?? 0),
      last_at: iso(rows[0]?.last_online ?? null),
      robots: rows.map(({ id, name }) => ({ id, name })),
    }
  }

  const failedInvoices = (clientId: string) =>
    db
      .selectFrom('invoices')
      .select(['id', 'month', 'total_cents'])
      .where('client_id', '=', clientId)
      .where('status', '=', 'FAILED')
      .orderBy('month', 'desc')
      .limit(OVERVIEW_ATTENTION_MAX)
      .execute()

  /** Sums the sessions that ended since midnight UTC, from the index of completed sessions. */
  async function ended(clientId: string, at: Date) {
    const midnight = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()))
    const row = await db
      .selectFrom('sessions')
      .select([
        sql<string>`count(*)`.as('sessions'),
        sql<string>`coalesce(sum(billable_minutes), 0)`.as('minutes'),
        sql<string>`coalesce(sum(client_charge_cents), 0)`.as('spend_cents'),
      ])
      .where('client_id', '=', clientId)
      .where('status', '=', 'COMPLETED')
      .where('ended_at', '>=', midnight)
      .executeTakeFirstOrThrow()
    return {
      sessions: Number(row.sessions),
      minutes: Number(row.minutes),
      spend_cents: Number(row.spend_cents),
    }
  }

  /** Sums what the open sessions would cost if they ended at `at`: started minutes times the rate. */
  async function running(clientId: string, at: Date): Promise<number> {
    const { cents } = await db
      .selectFrom('sessions')
      .select(
        sql<string>`coalesce(sum(ceil(greatest(0, active_ms - outage_ms + case
          when active_until is null then greatest(0, extract(epoch from ${at}::timestamptz - active_since) * 1000)
          else 0 end) / 60000.0) * client_rate_cents_per_minute), 0)`.as('cents'),
      )
      .where('client_id', '=', clientId)
      .where('status', 'in', ['ACTIVE', 'PAUSED'])
      .executeTakeFirstOrThrow()
    return Number(cents)
  }

  async function firstSteps(clientId: string): Promise<ClientOverview['first_steps']> {
    const { rows } = await sql<ClientOverview['first_steps']>`
      select
        exists (select from robots where owner_id = ${clientId}::uuid and deleted_at is null) as registered,
        exists (
          select from robots r join robot_presence p on p.robot_id = r.id
          where r.owner_id = ${clientId}::uuid and r.deleted_at is null and p.last_online is not null
        ) as connected,
        exists (
          select from sessions where client_id = ${clientId}::uuid and started_at is not null
        ) as driven,
        exists (
          select from sessions
          where client_id = ${clientId}::uuid and started_at is not null and operator_id <> client_id
        ) as driven_by_others`.execute(db)
    const [row] = rows
    if (!row) throw new Error('first steps without a row')
    return row
  }

  return {
    async of(clientId: string): Promise<ClientOverview> {
      const at = now()
      const [
        robots,
        live,
        on_hold,
        low_batteries,
        went_offline,
        failed_invoices,
        endedToday,
        running_cents,
        first_steps,
      ] = await Promise.all([
        liveRobots.counts(clientId),
        liveRobots.list(clientId, { limit: OVERVIEW_LIVE_MAX }),
        onHold(clientId),
        lowBatteries(clientId),
        wentOffline(clientId, at),
        failedInvoices(clientId),
        ended(clientId, at),
        running(clientId, at),
        firstSteps(clientId),
      ])
      return {
        at: iso(at),
        robots,
        live: live.robots,
        on_hold,
        low_batteries,
        went_offline,
        failed_invoices,
        today: { ...endedToday, running_cents },
        first_steps,
      }
    },
  }
}
export type ClientOverviews = ReturnType<typeof createClientOverview>
