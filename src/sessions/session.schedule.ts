import type { Db } from '../db/orm.ts'
import { AppError, isDatabaseAway } from '../http/errors.ts'
import type { Log } from '../log.ts'
import type { SessionRecord } from './session.changes.ts'
import type { SessionLifecycle } from './session.lifecycle.ts'
import type { SessionStarts } from './session.start.ts'

/** How long after its time a scheduled session may still start. */
const START_WINDOW_MS = 15 * 60_000
const SESSIONS_PER_RUN = 200

/**
 * Starts scheduled sessions when their time comes. The rows are the schedule, so a worker that dies loses
 * nothing, and two workers start nothing twice: the start itself is a conditional update.
 */
export function createSchedule(parts: {
  db: Db
  starts: SessionStarts
  lifecycle: SessionLifecycle
  now: () => Date
  log: Log
}) {
  const { db, starts, lifecycle, now, log } = parts

  async function attempt(session: Pick<SessionRecord, 'id' | 'robot_id' | 'operator_id' | 'scheduled_for'>) {
    const lateMs = now().getTime() - (session.scheduled_for?.getTime() ?? 0)
    if (lateMs >= START_WINDOW_MS) {
      // Also when nobody tried before, as after an outage: nobody expects the robot to move by now.
      if (await lifecycle.cancelBySystem(session, 'not_started')) {
        log.info({ sessionId: session.id }, 'scheduled session not started in time')
      }
      return
    }
    try {
      await starts.startScheduled(session)
    } catch (cause) {
      // Not possible yet (robot or operator busy, robot offline) is no error; it is tried again.
      if (isDatabaseAway(cause)) throw cause
      // One session that cannot be started for a reason of its own must not hold up the others.
      if (!(cause instanceof AppError)) log.error({ err: cause, sessionId: session.id }, 'start failed')
    }
  }

  /** What can start now, as far as one can see, or is over time: what has to wait must not stand in the way. */
  const due = () => {
    const windowStart = new Date(now().getTime() - START_WINDOW_MS)
    return db
      .selectFrom('sessions')
      .innerJoin('robots', 'robots.id', 'sessions.robot_id')
      .select(['sessions.id', 'sessions.robot_id', 'sessions.operator_id', 'sessions.scheduled_for'])
      .where('sessions.status', '=', 'PENDING')
      .where('scheduled_for', '<=', now())
      .where((eb) => {
        const busy = eb
          .selectFrom('sessions as open')
          .select('open.id')
          .whereRef('open.operator_id', '=', 'sessions.operator_id')
          .where('open.status', 'in', ['ACTIVE', 'PAUSED'])
        const canStart = eb.and([eb('robots.status', '=', 'AVAILABLE'), eb.not(eb.exists(busy))])
        return eb.or([eb('scheduled_for', '<=', windowStart), canStart])
      })
      .orderBy('scheduled_for', 'desc')
      .limit(SESSIONS_PER_RUN)
      .execute()
  }

  return {
    /** Handles what is due now, within bounds; call it again and again. */
    async run(): Promise<void> {
      for (const session of await due()) await attempt(session)
    },
  }
}
export type Schedule = ReturnType<typeof createSchedule>
