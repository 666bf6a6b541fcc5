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

/** A session of one operator with one robot. The two unique indexes guarantee exclusivity. */
export const Session = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: {
    id: p.uuid().primary(),
    robot: () => referenceTo('Robot'),
    operator: () => referenceTo('User'),
    /** The robot's owner at the time the session was created, who may watch and stop the session and pays for it. */
    client: () => referenceTo('Organization'),
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
    /** Whether the operator drives as a member of the robot's organization. Such a session costs nothing. */
    ownOperator: p.boolean().default(false),
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
