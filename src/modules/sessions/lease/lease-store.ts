import { randomUUID } from 'node:crypto'
import {
  type ControlHolder,
  type ControlRequest,
  FIRST_EPOCH,
  type Lease,
  type LoggedControlRequest,
  type TransferReason,
} from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { iso } from '../../../core/database/iso.ts'
import type { Db } from '../../../core/database/tables.ts'
import type { Tx } from '../../../core/events/transactor.ts'
import { planTerms } from '../../billing/index.ts'
import type { SessionRecord } from '../record/session-transitions.ts'
import type { LeasedSession, NamedCandidate } from './candidates.ts'

/** The earlier epochs that count when control goes back. */
const MAX_EARLIER = 20

/** An epoch of a session with its holder's name, the newest first. */
const selectIntervals = (db: Db, sessionId: string) =>
  db
    .selectFrom('control_intervals as held')
    .leftJoin('users', 'users.id', 'held.user_id')
    .select(['held.epoch', 'held.participant_id', 'held.user_id', 'held.kind', 'held.started_at'])
    .select('users.display_name as name')
    .where('held.session_id', '=', sessionId)
    .orderBy('held.epoch', 'desc')
    .limit(MAX_EARLIER)

type IntervalRow = Awaited<ReturnType<ReturnType<typeof selectIntervals>['execute']>>[number]

const holderOf = (row: IntervalRow): ControlHolder | null =>
  row.user_id === null || row.participant_id === null || row.kind === null
    ? null
    : {
        participant_id: row.participant_id,
        kind: row.kind,
        user_id: row.user_id,
        name: row.name ?? '',
        since: iso(row.started_at),
      }

/**
 * Returns the lease of a session, and the ids of earlier holders, the latest first. Of a session whose control never changed hands its
 * operator holds it, whose participation has the id of the session.
 */
export async function readLease(
  db: Db,
  session: LeasedSession & { readonly started_at: Date | null; readonly operator_name: string },
): Promise<Lease & { readonly earlierIds: readonly string[] }> {
  const [newest, ...older] = await selectIntervals(db, session.id).execute()
  if (!newest) {
    const { service_of_id: programOf } = await db
      .selectFrom('users')
      .select('service_of_id')
      .where('id', '=', session.operator_id)
      .executeTakeFirstOrThrow()
    return {
      epoch: FIRST_EPOCH,
      holder: {
        participant_id: session.id,
        kind: programOf === null ? 'operator' : 'policy',
        user_id: session.operator_id,
        name: session.operator_name,
        since: iso(session.started_at ?? new Date(0)),
      },
      earlierIds: [],
    }
  }
  const earlierIds = [...new Set(older.flatMap(({ user_id }) => user_id ?? []))]
  return { epoch: newest.epoch, holder: holderOf(newest), earlierIds }
}

/** Notes that a user takes part in who controls the robot; returns the id of the participation. That of the operator is the session's. */
export async function joinControl(
  tx: Tx,
  session: Pick<LeasedSession, 'id' | 'operator_id'>,
  { userId, asMember }: Pick<NamedCandidate, 'userId' | 'asMember'>,
  at: Date,
): Promise<string> {
  const newId = userId === session.operator_id ? session.id : randomUUID()
  const { id } = await tx.db
    .insertInto('control_participants')
    .values({ id: newId, session_id: session.id, user_id: userId, as_member: asMember, created_at: at })
    .onConflict((conflict) =>
      conflict.columns(['session_id', 'user_id']).doUpdateSet({ as_member: asMember }),
    )
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Returns the counted ACTIVE time of a session at a time, and its outages. */
function countersAt(session: SessionRecord, at: Date) {
  const { active_ms, active_since: since, active_until: until, outage_ms } = session
  const running = since !== null && until === null ? Math.max(0, at.getTime() - since.getTime()) : 0
  return { active_ms_before: active_ms + running, outage_ms_before: outage_ms }
}

const FREE = { plan_id: null, client_rate_cents_per_minute: 0, operator_share_percent: 0 }

/** Returns the price of an epoch: that of the session, or of the client's plan if the session itself costs nothing. */
function termsOf(session: SessionRecord, holder: NamedCandidate | null) {
  if (holder === null) return FREE
  // Also as the owner: control that comes back does not make the session free.
  if (holder.userId === session.operator_id) return termsOfSession(session)
  if (holder.asMember || holder.kind !== 'operator') return FREE
  if (session.own_operator) return planTerms(sql`${session.client_id}::uuid`)
  return termsOfSession(session)
}

const termsOfSession = (session: SessionRecord) => ({
  plan_id: session.plan_id,
  client_rate_cents_per_minute: session.client_rate_cents_per_minute ?? 0,
  operator_share_percent: session.operator_share_percent ?? 0,
})

/**
 * Begins the next epoch, in a transaction that has locked the session's row. The unique index on open epochs makes a second one at the
 * same time impossible.
 */
export async function beginEpoch(
  tx: Tx,
  session: SessionRecord,
  lease: Lease,
  next: { readonly holder: NamedCandidate | null; readonly reason: TransferReason; readonly at: Date },
): Promise<Lease> {
  const { holder, reason, at } = next
  if (lease.epoch === FIRST_EPOCH) {
    const asMember = session.own_operator
    const first = await joinControl(tx, session, { userId: session.operator_id, asMember }, at)
    await tx.db
      .insertInto('control_intervals')
      .values({
        session_id: session.id,
        epoch: FIRST_EPOCH,
        participant_id: first,
        user_id: session.operator_id,
        kind: lease.holder?.kind ?? 'operator',
        reason: null,
        started_at: session.started_at ?? at,
        ended_at: null,
        active_ms_before: 0,
        outage_ms_before: 0,
        ...termsOfSession(session),
      })
      .onConflict((conflict) => conflict.columns(['session_id', 'epoch']).doNothing())
      .execute()
  }
  await tx.db
    .updateTable('control_intervals')
    .set({ ended_at: at })
    .where('session_id', '=', session.id)
    .where('epoch', '=', lease.epoch)
    .where('ended_at', 'is', null)
    .execute()
  const epoch = lease.epoch + 1
  const participant = holder && (await joinControl(tx, session, holder, at))
  await tx.db
    .insertInto('control_intervals')
    .values({
      session_id: session.id,
      epoch,
      participant_id: participant,
      user_id: holder?.userId ?? null,
      kind: holder?.kind ?? null,
      reason,
      started_at: at,
      ended_at: null,
      ...countersAt(session, at),
      ...termsOf(session, holder),
    })
    .execute()
  if (holder === null || participant === null) return { epoch, holder: null }
  const { kind, userId, name } = holder
  return { epoch, holder: { participant_id: participant, kind, user_id: userId, name, since: iso(at) } }
}

/** Returns whether nobody controls the robot. */
export async function isVacant(tx: Tx, sessionId: string): Promise<boolean> {
  const open = await tx.db
    .selectFrom('control_intervals')
    .select('user_id')
    .where('session_id', '=', sessionId)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  return open?.user_id === null
}

/** Returns whether a user controls the robot of a session whose control has changed hands. */
export async function holdsControl(db: Db, sessionId: string, userId: string): Promise<boolean> {
  const held = await db
    .selectFrom('control_intervals')
    .select('epoch')
    .where('session_id', '=', sessionId)
    .where('ended_at', 'is', null)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return held !== undefined
}

/** Selects the offers and requests of a session that wait for an answer. */
export const openRequests = (db: Db, sessionId: string, at: Date) =>
  db
    .selectFrom('control_requests as asked')
    .innerJoin('users as asking', 'asking.id', 'asked.from_id')
    .selectAll('asked')
    .select('asking.display_name as from_name')
    .where('asked.session_id', '=', sessionId)
    .where('asked.closed_at', 'is', null)
    .where('asked.expires_at', '>', at)
    .orderBy('asked.created_at')
    .orderBy('asked.id')

type OpenRequest = Awaited<ReturnType<ReturnType<typeof openRequests>['execute']>>[number]

export const requestView = (row: OpenRequest): ControlRequest => ({
  ...loggedRequest(row),
  from_name: row.from_name,
})

/** What the log says of an offer or request: no name. */
export const loggedRequest = (row: Omit<OpenRequest, 'from_name'>): LoggedControlRequest => ({
  id: row.id,
  kind: row.kind,
  from: row.from_id,
  to: row.to_id,
  reason: row.reason,
  expires_at: iso(row.expires_at),
})
