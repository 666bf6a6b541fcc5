import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../core/database/tables.ts'
import { isDatabaseUnreachable } from '../../../core/errors/errors.ts'
import type { Transact } from '../../../core/events/transactor.ts'
import type { Log } from '../../../core/log.ts'
import { plannedEnd } from '../record/booking.service.ts'
import { discardActiveTime } from '../record/session-time.ts'
import {
  broadcastTransition,
  lockRobot,
  recordTransition,
  type SessionRecord,
} from '../record/session-transitions.ts'
import type { SessionLifecycle } from './session-lifecycle.ts'
import { isPauseExpired } from './session-pause.ts'

const SESSIONS_PER_RUN = 200
const MINUTE_MS = 60_000
/** How long before its time a limit is announced at the most. */
const ANNOUNCED_AHEAD_MS = 5 * MINUTE_MS

/** How long before its end the limit of a pause is announced: a third of a short one. */
const pauseLeadMs = (pauseLimitMs: number) => Math.min(ANNOUNCED_AHEAD_MS, pauseLimitMs / 3)

/** How long before it the planned end is announced, in SQL: half of a short session. */
const plannedLead = sql`least(make_interval(secs => ${ANNOUNCED_AHEAD_MS / 1_000}), make_interval(mins => planned_minutes) / 2)`

// What is due. Each predicate finds sessions, and claims one of them in the update that changes it.

/** ACTIVE since before `before` without an operator at the robot: no control socket has ever connected. */
const isAbsentSince = (before: Date) =>
  sql<boolean>`(status = 'ACTIVE' and not driven and active_since <= ${before}::timestamptz)`

/** PAUSED since before `before`, and the limit of this pause has not been announced. */
const isNearPauseLimit = (
  before: Date,
) => sql<boolean>`(status = 'PAUSED' and paused_at <= ${before}::timestamptz
  and (pause_announced_at is null or pause_announced_at < paused_at))`

/** Open, near its planned end, and this end has not been announced. */
const isNearPlannedEnd = (
  at: Date,
) => sql<boolean>`(status in ('ACTIVE', 'PAUSED') and planned_minutes is not null
  and ${plannedEnd} > ${at}::timestamptz and ${plannedEnd} - ${plannedLead} <= ${at}::timestamptz
  and planned_end_announced is distinct from ${plannedEnd})`

/**
 * Looks after sessions that nobody looks after: pauses those whose operator never came, ends pauses that last too
 * long, and announces ends that are near. The rows alone say what is due and every change is a conditional update, so
 * several workers may run side by side, and no gateway is needed.
 */
export function createAbandonmentWorker(deps: {
  db: Db
  transact: Transact
  lifecycle: SessionLifecycle
  now: () => Date
  log: Log
  /** How long an ACTIVE session waits for the first control socket of its operator; 0: for ever. */
  operatorJoinMs: number
  /** How long a pause may last; 0: for ever. */
  pauseLimitMs: number
}) {
  const { db, transact, lifecycle, now, log, operatorJoinMs, pauseLimitMs } = deps
  const leadMs = pauseLeadMs(pauseLimitMs)
  const timeBefore = (ms: number) => new Date(now().getTime() - ms)

  /** Open sessions alone, so that the index of these is enough. */
  const findDue = (isDue: RawBuilder<boolean>) =>
    db
      .selectFrom('sessions')
      .select(['id', 'robot_id'])
      .where('status', 'in', ['ACTIVE', 'PAUSED'])
      .where(isDue)
      .limit(SESSIONS_PER_RUN)
      .execute()

  /** Handles each session; the trouble of one must not keep the others waiting. */
  async function each<S extends { id: string }>(sessions: S[], handle: (session: S) => Promise<unknown>) {
    for (const session of sessions) {
      try {
        await handle(session)
      } catch (cause) {
        if (isDatabaseUnreachable(cause)) throw cause
        log.error({ err: cause, sessionId: session.id }, 'abandoned session not handled')
      }
    }
  }

  /** Pauses a session without its operator. None of that time is billed. */
  const pauseAbsent = (session: Pick<SessionRecord, 'id' | 'robot_id'>) =>
    transact(async (tx) => {
      const robot = await lockRobot(tx, session.robot_id)
      const at = now()
      const reason = 'operator_absent'
      // An operator who connects at the same moment takes the row first, or finds the session PAUSED.
      const paused = await tx.db
        .updateTable('sessions')
        .set((eb) => ({
          ...discardActiveTime,
          status: 'PAUSED' as const,
          paused_at: at,
          pause_reason: reason,
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

  /** Announces that the pause of a session is about to end it; once for each pause. */
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
      // A worker that was away announces late; both sides still get their time.
      const endsAt = new Date(Math.max(limitMs, at.getTime() + leadMs))
      await recordTransition(tx, near, await robotName(tx.db, near), {
        type: 'session.pause_limit_soon',
        at,
        notifyUserIds: participantIds(near),
        details: { ends_at: endsAt.toISOString() },
      })
    })

  /** Announces that the planned end of a session is near; again when an extension has planned another one. */
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
    await each(await findDue(isPauseExpired(limits)), (session) => lifecycle.endPause(session, limits))
  }

  return {
    /** Handles what is due now, within bounds; call it again and again. */
    async run(): Promise<void> {
      if (operatorJoinMs > 0) {
        await each(await findDue(isAbsentSince(timeBefore(operatorJoinMs))), pauseAbsent)
      }
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
