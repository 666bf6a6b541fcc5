import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { Role, SessionStatus } from '@wheelhouse/protocol'
import { referenceTo } from '../../../core/database/reference.ts'
import type { TablesOf } from '../../../core/database/tables.ts'

const windowStart = 'least("scheduled_for", "started_at")'
/**
 * The planned window of a session as SQL over its row. It begins at the scheduled time, or at the start of the session
 * if that is earlier, and lasts for the planned minutes. A late start does not shift it. The conversion to UTC makes the
 * addition immutable, as a constraint requires.
 */
export const PLANNED_WINDOW = `tstzrange(${windowStart}, (${windowStart} at time zone 'UTC' + make_interval(mins => "planned_minutes")) at time zone 'UTC')`

/** Forbids overlapping planned windows of the same robot or of the same operator. */
const exclusiveWindow = (name: string, column: string) => ({
  name,
  expression: `alter table "sessions" add constraint "${name}" exclude using gist ("${column}" with =, ${PLANNED_WINDOW} with &&) where ("status" in ('PENDING', 'ACTIVE', 'PAUSED') and "planned_minutes" is not null)`,
})

/** A session of one operator with one robot. The two unique indexes guarantee exclusivity. */
export const Session = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  indexes: [
    {
      name: 'one_open_session_per_operator',
      expression: `create unique index "one_open_session_per_operator" on "sessions" ("operator_id") where "status" in ('ACTIVE', 'PAUSED')`,
    },
    {
      name: 'one_open_session_per_robot',
      expression: `create unique index "one_open_session_per_robot" on "sessions" ("robot_id") where "status" in ('ACTIVE', 'PAUSED')`,
    },
    exclusiveWindow('sessions_robot_window', 'robot_id'),
    exclusiveWindow('sessions_operator_window', 'operator_id'),
    {
      name: 'sessions_by_operator',
      expression:
        'create index "sessions_by_operator" on "sessions" ("operator_id", "created_at" desc, "id" desc)',
    },
    {
      name: 'sessions_by_client',
      expression:
        'create index "sessions_by_client" on "sessions" ("client_id", "created_at" desc, "id" desc)',
    },
    // The two serve the counts of lists, by robot and by name too, with index-only scans.
    {
      name: 'sessions_by_operator_status',
      expression:
        'create index "sessions_by_operator_status" on "sessions" ("operator_id", "status", "created_at" desc, "id" desc) include ("robot_id", "client_id")',
    },
    {
      name: 'sessions_by_client_status',
      expression:
        'create index "sessions_by_client_status" on "sessions" ("client_id", "status", "created_at" desc, "id" desc) include ("robot_id", "operator_id")',
    },
    {
      name: 'sessions_due',
      expression: `create index "sessions_due" on "sessions" ("scheduled_for") where "status" = 'PENDING'`,
    },
    {
      name: 'sessions_open',
      expression: `create index "sessions_open" on "sessions" ("status", "robot_id") where "status" in ('ACTIVE', 'PAUSED')`,
    },
    { name: 'sessions_by_robot', properties: ['robot', 'startedAt'] },
    {
      name: 'sessions_newest',
      expression: `create index "sessions_newest" on "sessions" (("created_at" at time zone 'UTC') desc, "id" desc)`,
    },
    {
      name: 'sessions_by_status',
      expression: `create index "sessions_by_status" on "sessions" ("status", ("created_at" at time zone 'UTC') desc, "id" desc)`,
    },
    {
      name: 'sessions_by_robot_newest',
      expression:
        'create index "sessions_by_robot_newest" on "sessions" ("robot_id", "created_at" desc, "id" desc)',
    },
    // Serves the sums of the dashboards with index-only scans.
    {
      name: 'sessions_completed_by_client',
      expression: `create index "sessions_completed_by_client" on "sessions" ("client_id", "ended_at") include ("billable_minutes", "client_charge_cents", "episodes_collected", "data_collected_bytes", "rating") where "status" = 'COMPLETED'`,
    },
    {
      name: 'sessions_completed_by_operator',
      expression: `create index "sessions_completed_by_operator" on "sessions" ("operator_id", "ended_at") include ("billable_minutes", "operator_earnings_cents", "rating") where "status" = 'COMPLETED'`,
    },
    {
      name: 'sessions_by_invoice',
      expression:
        'create index "sessions_by_invoice" on "sessions" ("invoice_id", "started_at") where "invoice_id" is not null',
    },
    // Sessions without an invoice: of all clients, oldest first, and of one client.
    {
      name: 'sessions_uninvoiced',
      expression: `create index "sessions_uninvoiced" on "sessions" ("ended_at") where "status" = 'COMPLETED' and "invoice_id" is null and "client_charge_cents" is not null`,
    },
    {
      name: 'sessions_uninvoiced_by_client',
      expression: `create index "sessions_uninvoiced_by_client" on "sessions" ("client_id", "ended_at") where "status" = 'COMPLETED' and "invoice_id" is null and "client_charge_cents" is not null`,
    },
    // Earnings that are not available yet: of all operators, earliest due first, and of one operator.
    {
      name: 'sessions_earnings_due',
      expression: `create index "sessions_earnings_due" on "sessions" ("earnings_held_until") where "earnings_held_until" is not null`,
    },
    {
      name: 'sessions_earnings_held',
      expression: `create index "sessions_earnings_held" on "sessions" ("operator_id", "earnings_held_until") where "earnings_held_until" is not null`,
    },
  ],
  checks: [
    {
      name: 'sessions_times',
      expression: `"ended_at" is null or "started_at" is null or "ended_at" >= "started_at"`,
    },
    { name: 'sessions_rating', expression: '"rating" between 1 and 5' },
    {
      name: 'sessions_open_started',
      expression: `"status" not in ('ACTIVE', 'PAUSED', 'COMPLETED') or "started_at" is not null`,
    },
    {
      name: 'sessions_active_time',
      expression: `("status" = 'ACTIVE') = ("active_since" is not null and "active_until" is null)`,
    },
    {
      name: 'sessions_priced',
      expression: `"status" not in ('ACTIVE', 'PAUSED') or ("plan_id" is not null and "client_rate_cents_per_minute" is not null and "operator_share_percent" is not null)`,
    },
    { name: 'sessions_planned_minutes', expression: '"planned_minutes" > 0' },
    {
      name: 'sessions_pending_planned',
      expression: `"status" <> 'PENDING' or ("scheduled_for" is not null and "planned_minutes" is not null)`,
    },
    { name: 'sessions_outage', expression: '"outage_ms" between 0 and "active_ms"' },
    {
      name: 'sessions_charge',
      expression: '"operator_earnings_cents" between 0 and "client_charge_cents"',
    },
    {
      name: 'sessions_recorded',
      expression: `"status" not in ('COMPLETED', 'CANCELLED') or ("recorded_robot_name" is not null and "recorded_robot_type" is not null and "recorded_operator_name" is not null and "recorded_client_name" is not null)`,
    },
    { name: 'sessions_own_not_rated', expression: '"operator_id" <> "client_id" or "rating" is null' },
    {
      name: 'sessions_held',
      expression: '"earnings_held_until" is null or "operator_earnings_cents" > 0',
    },
    {
      name: 'sessions_operator_gone',
      expression: `("operator_gone_at" is null or "status" = 'PAUSED') and ("ends_at" is null or "operator_gone_at" is not null)`,
    },
    { name: 'sessions_stop_pauses', expression: `"stop_at" is null or "status" = 'PAUSED'` },
    { name: 'sessions_stop_reason', expression: '("stop_at" is null) = ("stop_reason" is null)' },
    {
      name: 'sessions_stop_authority',
      expression: `"stop_at" is not null or (not "stop_by_owner" and "stop_by_role" is null and "stop_clear_requested_at" is null)`,
    },
  ],
  properties: {
    id: p.uuid().primary(),
    robot: () => referenceTo('Robot'),
    operator: () => referenceTo('User'),
    /** The robot's owner at the time the session was created, who may watch and stop the session and pays for it. */
    client: () => referenceTo('User'),
    status: p.enum(SessionStatus.options),
    scheduledFor: p.datetime(3).nullable(),
    /** Agreed length, including extensions; null when no end is planned. */
    plannedMinutes: p.integer().nullable(),
    /** The planned end that was last announced. An extension changes the planned end, which is then announced again. */
    plannedEndAnnounced: p.datetime(3).nullable(),
    startedAt: p.datetime(3).nullable(),
    endedAt: p.datetime(3).nullable(),
    /** When the current pause began; null unless PAUSED. */
    pausedAt: p.datetime(3).nullable(),
    /** Reason of the current pause: the reason of an action, `robot_lost` or the like; null unless PAUSED. */
    pauseReason: p.text().nullable(),
    /** When a pause limit was last announced. Concerns the current pause only if it is not before `pausedAt`. */
    pauseAnnouncedAt: p.datetime(3).nullable(),
    /** When the operator's connection was found missing in the current pause; null while it is not known to be missing. */
    operatorGoneAt: p.datetime(3).nullable(),
    /** When the platform ends the session because its operator is gone; null until that is announced. */
    endsAt: p.datetime(3).nullable(),
    /** Milliseconds of all past pauses. */
    pausedMs: p.bigint('number').default(0),
    /** When the loss of the robot was recorded; null while no loss is recorded. */
    robotLostAt: p.datetime(3).nullable(),
    endReason: p.text().nullable(),
    /** Whether a control socket of the operator has connected before. From then on an ACTIVE session requires one. */
    driven: p.boolean().default(false),
    /** Start of the newest ACTIVE period; null before the session starts. */
    activeSince: p.datetime(3).nullable(),
    /** End of that period, at the robot's last sign of life if the robot was lost; null while the period lasts. */
    activeUntil: p.datetime(3).nullable(),
    /** Milliseconds of all past ACTIVE periods, including outages. */
    activeMs: p.bigint('number').default(0),
    /** Milliseconds of ACTIVE time in which a lost robot was silent; never billed. */
    outageMs: p.bigint('number').default(0),
    /** Milliseconds of pauses in which the robot was offline, until its last return. */
    offlineMs: p.bigint('number').default(0),
    /**
     * Copied from the client's plan when the session starts. No foreign key: every start would lock the row of the
     * plan that nearly all clients have.
     */
    planId: p.text().nullable(),
    clientRateCentsPerMinute: p.integer().nullable(),
    operatorSharePercent: p.integer().nullable(),
    /** Set with the two amounts when the session is COMPLETED; null before that and when CANCELLED. */
    billableMinutes: p.integer().nullable(),
    /** The remote stop. It is latched while `stopAt` is set. A session with a latched stop is PAUSED. */
    stopReason: p.text().nullable(),
    stopAt: p.datetime(3).nullable(),
    stopBy: () => referenceTo('User').nullable(),
    /** Role in which `stopBy` requested the stop. */
    stopByRole: p.enum(Role.options).nullable(),
    /** Whether the owner or an admin is among the requesters of the latched stop. Remains true until it is cleared. */
    stopByOwner: p.boolean().default(false),
    /** When the operator last asked the owner to clear the stop. */
    stopClearRequestedAt: p.datetime(3).nullable(),
    /** Number of stop requests, including repeated ones. A clear must not clear a stop that was requested after its read. */
    stopRequests: p.integer().default(0),
    clientChargeCents: p.integer().nullable(),
    operatorEarningsCents: p.integer().nullable(),
    /** Latest time until which the earnings are pending; null before the end and after the earnings are available. */
    earningsHeldUntil: p.datetime(3).nullable(),
    /** Names at the end of the session, copied by a trigger and never changed afterwards; null until the session ends. */
    recordedRobotName: p.text().nullable(),
    recordedRobotType: p.text().nullable(),
    recordedOperatorName: p.text().nullable(),
    recordedClientName: p.text().nullable(),
    /** The invoice that contains the session; null until its month is closed. */
    invoice: () => referenceTo('Invoice').nullable().deleteRule('restrict'),
    episodesCollected: p.integer().default(0),
    dataCollectedBytes: p.bigint('number').default(0),
    rating: p.smallint().nullable(),
    ratingComment: p.text().nullable(),
    /** Number of the newest entry of the session's log. The next entry increments it under the row's lock. */
    eventSeq: p.integer().default(0),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type Session = InferEntity<typeof Session>

/** One entry of a session's event log. `seq` starts at 1 and has no gaps. */
export const SessionEvent = defineEntity({
  name: 'SessionEvent',
  tableName: 'session_events',
  properties: {
    session: () => p.manyToOne(Session).mapToPk().primary(),
    seq: p.integer().primary(),
    type: p.text(),
    data: p.json<Record<string, unknown>>(),
    at: p.datetime(3).defaultRaw('now()'),
  },
})
export type SessionEvent = InferEntity<typeof SessionEvent>

/** A chat message. Its `seq` is the number of its entry in the session's log. */
export const Message = defineEntity({
  name: 'Message',
  tableName: 'messages',
  uniques: [
    { name: 'messages_seq', properties: ['session', 'seq'] },
    { name: 'messages_client_id', properties: ['session', 'sender', 'clientMessageId'] },
  ],
  properties: {
    id: p.uuid().primary(),
    session: () => p.manyToOne(Session).mapToPk(),
    seq: p.integer(),
    sender: () => referenceTo('User'),
    senderName: p.text(),
    senderRole: p.enum(Role.options),
    body: p.text(),
    clientMessageId: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type Message = InferEntity<typeof Message>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof Session | typeof SessionEvent | typeof Message> {}
}
