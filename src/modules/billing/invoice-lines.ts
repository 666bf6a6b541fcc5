import type { ControlKind } from '@wheelhouse/protocol'
import { type NotNull, sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import { MAX_LISTED_INTERVALS } from './settle.ts'

/** One epoch of a session in which somebody drove. */
export interface DrivenInterval {
  readonly name: string
  readonly kind: ControlKind
  readonly started_at: string
  readonly ended_at: string
  readonly driven_ms: number
  readonly rate: number
  readonly cents: number
}

/** The epochs of a session in which somebody drove, the first ones; empty if its control never changed hands. */
const drivenIntervals = sql<DrivenInterval[]>`(
  select coalesce(jsonb_agg(to_jsonb(part) - 'epoch' order by part.epoch), '[]')
  from (
    select held.epoch, users.display_name as name, held.kind, held.started_at, held.ended_at, held.driven_ms,
      held.client_rate_cents_per_minute as rate, held.client_charge_cents as cents
    from control_intervals as held join users on users.id = held.user_id
    where held.session_id = sessions.id and held.driven_ms > 0
    order by held.epoch limit ${sql.lit(MAX_LISTED_INTERVALS)}
  ) as part)`

/** One session on an invoice. */
export type SessionLine = Awaited<ReturnType<typeof sessionLines>>[number]

/** Returns the sessions on an invoice, oldest first, with the names copied when they ended. */
export const sessionLines = (db: Db, invoiceId: string, page: { limit: number; offset: number }) =>
  db
    .selectFrom('sessions')
    .select(['id', 'recorded_robot_name as robot_name', 'recorded_robot_type as robot_type'])
    .select('recorded_operator_name as operator_name')
    .select(['started_at', 'ended_at', 'billable_minutes', 'client_rate_cents_per_minute'])
    .select(['client_charge_cents', 'active_ms', 'paused_ms', 'outage_ms'])
    .select(drivenIntervals.as('driven'))
    .where('invoice_id', '=', invoiceId)
    .orderBy('started_at')
    .orderBy('id')
    .limit(page.limit)
    .offset(page.offset)
    // A session on an invoice has ended and was charged.
    .$narrowType<{ started_at: NotNull; ended_at: NotNull; billable_minutes: NotNull }>()
    .$narrowType<{ robot_name: NotNull; robot_type: NotNull; operator_name: NotNull }>()
    .$narrowType<{ client_charge_cents: NotNull; client_rate_cents_per_minute: NotNull }>()
    .execute()

/** All sessions of a day (UTC) on an invoice. */
export type DayLine = Awaited<ReturnType<typeof dayLines>>[number]

/** Returns the sums of the sessions on an invoice by the UTC day on which they ended, oldest first. */
export const dayLines = (db: Db, invoiceId: string) =>
  db
    .selectFrom('sessions')
    .select([
      sql<string>`to_char(ended_at at time zone 'UTC', 'YYYY-MM-DD')`.as('day'),
      sql<number>`count(*)`.as('session_count'),
      sql<number>`sum(billable_minutes)::bigint`.as('minutes'),
      sql<number>`sum(client_charge_cents)::bigint`.as('cents'),
      sql<Date>`min(started_at)`.as('first_at'),
      sql<Date>`max(ended_at)`.as('last_at'),
    ])
    .where('invoice_id', '=', invoiceId)
    .groupBy('day')
    .orderBy('day')
    .execute()
