import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { ControlKind, TransferReason } from '@wheelhouse/protocol'
import { referenceTo } from '../../../core/database/reference.ts'
import type { TablesOf } from '../../../core/database/tables.ts'
import { Session } from '../record/session.entity.ts'

/** A user who held control in a session, was offered it, or asked for it. */
export const ControlParticipant = defineEntity({
  name: 'ControlParticipant',
  tableName: 'control_participants',
  properties: {
    id: p.uuid().primary(),
    session: () => p.manyToOne(Session).mapToPk(),
    user: () => referenceTo('User'),
    /** Whether as a member of the robot's organization. Others see the session because of this row. */
    asMember: p.boolean(),
    createdAt: p.datetime(3),
  },
})
export type ControlParticipant = InferEntity<typeof ControlParticipant>

/**
 * One epoch of a session: who held control in it. A session whose control never changed hands has none. The one without an end says who
 * holds control; an index allows one.
 */
export const ControlInterval = defineEntity({
  name: 'ControlInterval',
  tableName: 'control_intervals',
  properties: {
    session: () => p.manyToOne(Session).mapToPk().primary(),
    epoch: p.integer().primary(),
    /** Null while nobody holds control. */
    participant: () => p.manyToOne(ControlParticipant).mapToPk().nullable().deleteRule('restrict'),
    user: () => referenceTo('User').nullable().deleteRule('restrict'),
    kind: p.enum(ControlKind.options).nullable(),
    /** Why it began; null for the first. */
    reason: p.enum(TransferReason.options).nullable(),
    startedAt: p.datetime(3),
    endedAt: p.datetime(3).nullable(),
    /** Counters of the session when it began. */
    activeMsBefore: p.bigint('number'),
    outageMsBefore: p.bigint('number'),
    /** The price, fixed when it began; zero for those who cost nothing. */
    planId: p.text().nullable(),
    clientRateCentsPerMinute: p.integer(),
    operatorSharePercent: p.integer(),
    /** How long it was driven, ACTIVE time without outages, and what that cost and earned, once the session is over. */
    drivenMs: p.bigint('number').nullable(),
    clientChargeCents: p.integer().nullable(),
    operatorEarningsCents: p.integer().nullable(),
  },
})
export type ControlInterval = InferEntity<typeof ControlInterval>

/** An offer of control, or a request for it. Nobody has more than one open in a session. */
export const ControlRequestRow = defineEntity({
  name: 'ControlRequest',
  tableName: 'control_requests',
  properties: {
    id: p.uuid().primary(),
    session: () => p.manyToOne(Session).mapToPk(),
    kind: p.enum(['offer', 'request']),
    from: () => referenceTo('User'),
    /** To whom control is offered; null for any supervisor, and for requests. */
    to: () => referenceTo('User').nullable().deleteRule('restrict'),
    reason: p.text().nullable(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3),
    closedAt: p.datetime(3).nullable(),
  },
})
export type ControlRequestRow = InferEntity<typeof ControlRequestRow>

declare module '../../../core/database/tables.ts' {
  interface Tables
    extends TablesOf<typeof ControlParticipant | typeof ControlInterval | typeof ControlRequestRow> {}
}
