import { sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import type { Caller } from '../../core/http/endpoint.ts'
import {
  can,
  inScope,
  memberCan,
  ownedBy,
  type Scope,
  scopeOf,
} from '../../core/permissions/authorization.ts'
import type { LiveRobots } from './live-robot.service.ts'
import {
  type ClientOverview,
  FAILED_EXPORT_MINUTES,
  OFFLINE_MINUTES,
  OVERVIEW_ATTENTION_MAX,
  OVERVIEW_LIVE_MAX,
  STUCK_EXPORT_MINUTES,
} from './overview.schema.ts'
import { costUntil } from './running-cost.ts'

/** Creates the service that reads what an owner needs to know now. Every list has a bound. */
export function createClientOverview(deps: { db: Db; now: () => Date; liveRobots: LiveRobots }) {
  const { db, now, liveRobots } = deps

  const onHold = (scope: Scope) =>
    db
      .selectFrom('robots')
      .select(['id', 'name'])
      .where(ownedBy(scope))
      .where('deleted_at', 'is', null)
      .where('on_hold', '=', true)
      .orderBy('name')
      .limit(OVERVIEW_ATTENTION_MAX)
      .execute()

  /** Selects the robots of an owner with what is known of their connection. */
  const presenceOf = (scope: Scope) =>
    db
      .selectFrom('robots')
      .innerJoin('robot_presence', 'robot_presence.robot_id', 'robots.id')
      .where(ownedBy(scope))
      .where('robots.deleted_at', 'is', null)

  async function lowBatteries(scope: Scope): Promise<ClientOverview['low_batteries']> {
    const rows = await presenceOf(scope)
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
  async function wentOffline(scope: Scope, at: Date): Promise<ClientOverview['went_offline']> {
    const since = new Date(at.getTime() - OFFLINE_MINUTES * 60_000)
    const rows = await presenceOf(scope)
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

  const failedInvoices = ({ organizationId }: Scope) =>
    db
      .selectFrom('invoices')
      .select(['id', 'month', 'total_cents'])
      .where('client_id', '=', organizationId)
      .where('status', '=', 'FAILED')
      .orderBy('month', 'desc')
      .limit(OVERVIEW_ATTENTION_MAX)
      .execute()

  /** Returns open sessions that should be recorded and are not. `off` is the choice of the owner. */
  async function notRecorded(scope: Scope): Promise<ClientOverview['not_recorded']> {
    const rows = await db
      .selectFrom('recordings')
      .innerJoin('sessions', 'sessions.id', 'recordings.session_id')
      .innerJoin('robots', 'robots.id', 'sessions.robot_id')
      .select(['sessions.id as session_id', 'robots.name as robot_name', 'recordings.paused_reason'])
      .where(inScope('sessions', scope))
      .where('sessions.status', 'in', ['ACTIVE', 'PAUSED'])
      .where('recordings.status', '=', 'RECORDING')
      .where('recordings.paused_reason', '<>', 'off')
      .orderBy('robots.name')
      .orderBy('sessions.id')
      .limit(OVERVIEW_ATTENTION_MAX)
      .execute()
    return rows.map(({ paused_reason, ...row }) => ({ ...row, reason: paused_reason ?? '' }))
  }

  /** Returns webhooks that fail, and those that the platform has turned off for it. */
  async function failingWebhooks({ organizationId }: Scope): Promise<ClientOverview['failing_webhooks']> {
    const rows = await db
      .selectFrom('webhooks')
      .select(['id', 'url', 'enabled', 'failing_since', 'disabled_at'])
      .where('user_id', '=', organizationId)
      .where(({ eb, or, and }) =>
        or([
          and([eb('enabled', '=', true), eb('failing_since', 'is not', null)]),
          eb('disabled_reason', 'in', ['failing', 'gone']),
        ]),
      )
      .orderBy('created_at')
      .limit(OVERVIEW_ATTENTION_MAX)
      .execute()
    return rows.map(({ failing_since, disabled_at, ...row }) => ({
      ...row,
      since: iso(disabled_at ?? failing_since),
    }))
  }

  /** Returns exports that failed within a day, and those that do not end. */
  async function stuckExports({ organizationId }: Scope, at: Date): Promise<ClientOverview['stuck_exports']> {
    const before = (minutes: number) => new Date(at.getTime() - minutes * 60_000)
    const rows = await db
      .selectFrom('dataset_exports')
      .select(['id', 'name', 'status', 'created_at'])
      .where('user_id', '=', organizationId)
      .where(({ eb, or, and }) =>
        or([
          and([eb('status', '=', 'FAILED'), eb('finished_at', '>', before(FAILED_EXPORT_MINUTES))]),
          and([
            eb('status', 'in', ['PENDING', 'RUNNING']),
            eb('created_at', '<', before(STUCK_EXPORT_MINUTES)),
          ]),
        ]),
      )
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .limit(OVERVIEW_ATTENTION_MAX)
      .execute()
    return rows.map(({ status, created_at, ...row }) => ({
      ...row,
      failed: status === 'FAILED',
      created_at: iso(created_at),
    }))
  }

  /** Sums the sessions that ended since midnight UTC, from the index of completed sessions. */
  async function ended(scope: Scope, at: Date) {
    const midnight = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()))
    const row = await db
      .selectFrom('sessions')
      .select([
        sql<string>`count(*)`.as('sessions'),
        sql<string>`coalesce(sum(billable_minutes), 0)`.as('minutes'),
        sql<string>`coalesce(sum(client_charge_cents), 0)`.as('spend_cents'),
      ])
      .where(inScope('sessions', scope))
      .where('status', '=', 'COMPLETED')
      .where('ended_at', '>=', midnight)
      .executeTakeFirstOrThrow()
    return {
      sessions: Number(row.sessions),
      minutes: Number(row.minutes),
      spend_cents: Number(row.spend_cents),
    }
  }

  /** Sums what the open sessions would cost if they ended at `at`. */
  async function running(scope: Scope, at: Date): Promise<number> {
    const { cents } = await db
      .selectFrom('sessions')
      .select(sql<string>`coalesce(sum(${costUntil(at)}), 0)`.as('cents'))
      .where(inScope('sessions', scope))
      .where('status', 'in', ['ACTIVE', 'PAUSED'])
      .executeTakeFirstOrThrow()
    return Number(cents)
  }

  async function firstSteps({ organizationId: clientId }: Scope): Promise<ClientOverview['first_steps']> {
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
    /** Returns what concerns a caller's robots; invoices, webhooks and exports only for those who may see them. */
    async of(caller: Pick<Caller, 'userId' | 'organization' | 'credential'>): Promise<ClientOverview> {
      const at = now()
      const scope = scopeOf(caller)
      const [
        robots,
        live,
        on_hold,
        low_batteries,
        went_offline,
        failed_invoices,
        not_recorded,
        failing_webhooks,
        stuck_exports,
        endedToday,
        running_cents,
        first_steps,
      ] = await Promise.all([
        liveRobots.counts(scope),
        liveRobots.list(scope, { limit: OVERVIEW_LIVE_MAX }),
        onHold(scope),
        lowBatteries(scope),
        wentOffline(scope, at),
        can(caller, 'billing.read') ? failedInvoices(scope) : [],
        notRecorded(scope),
        can(caller, 'webhooks.manage') ? failingWebhooks(scope) : [],
        can(caller, 'datasets.write') ? stuckExports(scope, at) : [],
        ended(scope, at),
        running(scope, at),
        firstSteps(scope),
      ])
      return {
        at: iso(at),
        robots,
        live: live.robots,
        on_hold,
        low_batteries,
        went_offline,
        failed_invoices,
        not_recorded,
        failing_webhooks,
        stuck_exports,
        today: memberCan(caller.organization, 'billing.read')
          ? { ...endedToday, running_cents }
          : { ...endedToday, spend_cents: null, running_cents: null },
        first_steps,
      }
    },
  }
}
export type ClientOverviews = ReturnType<typeof createClientOverview>
