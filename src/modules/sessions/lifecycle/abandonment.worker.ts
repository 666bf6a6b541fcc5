import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../core/database/tables.ts'
import { handleEach } from '../../../core/errors/handle-each.ts'
import type { Transact } from '../../../core/events/transactor.ts'
import type { Log } from '../../../core/log.ts'
import { plannedEnd } from '../record/booking.service.ts'
import { isPauseExpired } from '../record/session-pause.ts'
import { discardActiveTime } from '../record/session-time.ts'
import {
  broadcastTransition,
  lockRobot,
  recordTransition,
  type SessionRecord,
} from '../record/session-transitions.ts'
import type { SessionLifecycle } from './session-lifecycle.ts'

const SESSIONS_PER_RUN = 200
const MINUTE_MS = 60_000
/** Maximum lead time of an announcement. */
const ANNOUNCED_AHEAD_MS = 5 * MINUTE_MS

/** Returns the lead time for announcing a pause limit: at most a third of the limit. */
const pauseLeadMs = (pauseLimitMs: number) => Math.min(ANNOUNCED_AHEAD_MS, pauseLimitMs / 3)

/** Lead time for announcing the planned end, in SQL: at most half of the planned length. */
const plannedLead = sql`least(make_interval(secs => ${ANNOUNCED_AHEAD_MS / 1_000}), make_interval(mins => planned_minutes) / 2)`

// Predicates for due sessions. A query selects candidates with them; the update that changes a session checks again.

/** Matches sessions ACTIVE since before `before` to which no control socket of the operator has ever connected. */
const isAbsentSince = (before: Date) =>
  sql<boolean>`(status = 'ACTIVE' and not driven and active_since <= ${before}::timestamptz)`

/** Matches sessions PAUSED since before `before` whose pause limit is not announced. */
const isNearPauseLimit = (
  before: Date,
) => sql<boolean>`(status = 'PAUSED' and paused_at <= ${before}::timestamptz
  and (pause_announced_at is null or pause_announced_at < paused_at))`

/** Matches PAUSED sessions whose operator is gone since before `before`, and whose end is not announced. */
const isOperatorGoneSince = (before: Date) =>
  sql<boolean>`(status = 'PAUSED' and operator_gone_at <= ${before}::timestamptz and ends_at is null)`

/** Matches PAUSED sessions whose operator is gone and whose announced end has come. */
const isAbandonedAt = (at: Date) =>
  sql<boolean>`(status = 'PAUSED' and operator_gone_at is not null and ends_at <= ${at}::timestamptz)`

/** Matches open sessions near their planned end whose planned end is not announced. */
const isNearPlannedEnd = (
  at: Date,
) => sql<boolean>`(status in ('ACTIVE', 'PAUSED') and planned_minutes is not null
  and ${plannedEnd} > ${at}::timestamptz and ${plannedEnd} - ${plannedLead} <= ${at}::timestamptz
  and planned_end_announced is distinct from ${plannedEnd})`

/**
 * Handles abandoned sessions: pauses sessions whose operator never connected, ends sessions whose pause is too long or
 * whose operator is gone, and announces these ends and planned ends. Works on the rows only, with conditional updates, so that several workers may
 * run concurrently and no gateway is required.
 */
export function createAbandonmentWorker(deps: {
  db: Db
  transact: Transact
  lifecycle: SessionLifecycle
  now: () => Date
  log: Log
  /** How long an ACTIVE session waits for the first control socket of its operator; 0: without limit. */
  operatorJoinMs: number
  /** Maximum length of a pause; 0: without limit. */
  pauseLimitMs: number
  /** How long the operator of a paused session may be gone before its end is announced; 0: without limit. */
  operatorGoneMs: number
}) {
  const { db, transact, lifecycle, now, log, operatorJoinMs, pauseLimitMs, operatorGoneMs } = deps
  const leadMs = pauseLeadMs(pauseLimitMs)
  const countdownMs = Math.min(ANNOUNCED_AHEAD_MS, operatorGoneMs)
  const timeBefore = (ms: number) => new Date(now().getTime() - ms)

  /** Selects due sessions. Restricts them to open sessions, so that the index on open sessions is used. */
  const findDue = (isDue: RawBuilder<boolean>) =>
    db
      .selectFrom('sessions')
      .select(['id', 'robot_id'])
      .where('status', 'in', ['ACTIVE', 'PAUSED'])
      .where(isDue)
      .limit(SESSIONS_PER_RUN)
      .execute()

  const each = <S extends { id: string }>(sessions: S[], handle: (session: S) => Promise<unknown>) =>
    handleEach(sessions, handle, { log, failure: 'handling of an abandoned session failed' })

  /** Pauses a session whose operator is absent. Its ACTIVE time is not billed. */
  const pauseAbsent = (session: Pick<SessionRecord, 'id' | 'robot_id'>) =>
    transact(async (tx) => {
      const robot = await lockRobot(tx, session.robot_id)
      const at = now()
      const reason = 'operator_absent'
      // An operator who connects concurrently either locks the row first or finds the session PAUSED.
      const paused = await tx.db
        .updateTable('sessions')
        .set((eb) => ({
          ...discardActiveTime,
          status: 'PAUSED' as const,
          paused_at: at,
          pause_reason: reason,
          operator_gone_at: at,
          event_seq: eb('event_seq', '+', 1),
        }))
        .where('id', '=', session.id)
        .where(isAbsentSince(timeBefore(operatorJoinMs)))
        .returningAll()
        .executeTakeFirst()
      if (!paused) return
      await broadcastTransition(tx, paused, robot, {
        type: 'session.paused',
        at,
        reason,
        notifyUserIds: participantIds(paused),
      })
    })

  /** Announces that the session will end because of its pause limit, once per pause. */
  const announcePauseLimit = ({ id }: { id: string }) =>
    transact(async (tx) => {
      const at = now()
      const near = await tx.db
        .updateTable('sessions')
        .set((eb) => ({ pause_announced_at: at, event_seq: eb('event_seq', '+', 1) }))
        .where('id', '=', id)
        .where(isNearPauseLimit(timeBefore(pauseLimitMs - leadMs)))
        .returningAll()
        .executeTakeFirst()
      if (!near) return
      const limitMs = (near.paused_at ?? at).getTime() + pauseLimitMs
      // After an outage of the worker the announcement is late. Client and operator still get the full lead time.
      const endsAt = new Date(Math.max(limitMs, at.getTime() + leadMs))
      await recordTransition(tx, near, await robotName(tx.db, near), {
        type: 'session.pause_limit_soon',
        at,
        notifyUserIds: participantIds(near),
        details: { ends_at: endsAt.toISOString() },
      })
    })

  /** Announces that the session will end because its operator is gone, once until the operator returns. */
  const announceAbandonment = ({ id }: { id: string }) =>
    transact(async (tx) => {
      const at = now()
      const endsAt = new Date(at.getTime() + countdownMs)
      const abandoned = await tx.db
        .updateTable('sessions')
        .set((eb) => ({ ends_at: endsAt, event_seq: eb('event_seq', '+', 1) }))
        .where('id', '=', id)
        .where(isOperatorGoneSince(timeBefore(operatorGoneMs)))
        .returningAll()
        .executeTakeFirst()
      if (!abandoned) return
      await recordTransition(tx, abandoned, await robotName(tx.db, abandoned), {
        type: 'session.pause_limit_soon',
        at,
        notifyUserIds: participantIds(abandoned),
        details: { ends_at: endsAt.toISOString() },
      })
    })

  /** Announces that the planned end of a session is near. Announces again after an extension has changed it. */
  const announcePlannedEnd = ({ id }: { id: string }) =>
    transact(async (tx) => {
      const at = now()
      const near = await tx.db
        .updateTable('sessions')
        .set((eb) => ({ planned_end_announced: plannedEnd, event_seq: eb('event_seq', '+', 1) }))
        .where('id', '=', id)
        .where(isNearPlannedEnd(at))
        .returningAll()
        .executeTakeFirst()
      if (!near) return
      await recordTransition(tx, near, await robotName(tx.db, near), {
        type: 'session.planned_end_soon',
        at,
        notifyUserIds: participantIds(near),
        details: {
          planned_minutes: near.planned_minutes,
          planned_end: near.planned_end_announced?.toISOString(),
        },
      })
    })

  async function limitPauses(): Promise<void> {
    await each(await findDue(isNearPauseLimit(timeBefore(pauseLimitMs - leadMs))), announcePauseLimit)
    const limits = { pausedBefore: timeBefore(pauseLimitMs), announcedBefore: timeBefore(leadMs) }
    await each(await findDue(isPauseExpired(limits)), (session) =>
      lifecycle.endPause(session, isPauseExpired(limits), 'pause_limit'),
    )
  }

  async function endAbandoned(): Promise<void> {
    await each(await findDue(isOperatorGoneSince(timeBefore(operatorGoneMs))), announceAbandonment)
    // One time for all: a session that is due for the query is due for its end.
    const isDue = isAbandonedAt(now())
    await each(await findDue(isDue), (session) => lifecycle.endPause(session, isDue, 'abandoned'))
  }

  return {
    /** Handles a bounded number of due sessions. The job runner calls it periodically. */
    async run(): Promise<void> {
      if (operatorJoinMs > 0) {
        await each(await findDue(isAbsentSince(timeBefore(operatorJoinMs))), pauseAbsent)
      }
      if (operatorGoneMs > 0) await endAbandoned()
      if (pauseLimitMs > 0) await limitPauses()
      await each(await findDue(isNearPlannedEnd(now())), announcePlannedEnd)
    },
  }
}

const participantIds = (session: SessionRecord) => [session.client_id, session.operator_id]

async function robotName(db: Db, session: SessionRecord): Promise<string> {
  const robot = await db
    .selectFrom('robots')
    .select('name')
    .where('id', '=', session.robot_id)
    .executeTakeFirstOrThrow()
  return robot.name
}
