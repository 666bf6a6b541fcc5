import { sql } from 'kysely'
import type { Db } from '../../../core/database/tables.ts'
import { AppError, isDatabaseUnreachable } from '../../../core/errors/errors.ts'
import { handleEach } from '../../../core/errors/handle-each.ts'
import type { Log } from '../../../core/log.ts'
import type { SessionRecord } from '../record/session-transitions.ts'
import type { SessionLifecycle } from './session-lifecycle.ts'
import type { SessionStarts } from './session-start.ts'

const MS_PER_MINUTE = 60_000
/** How long after its time a scheduled session may still start, unless its planned length is shorter. */
const START_WINDOW_MINUTES = 15
const SESSIONS_PER_RUN = 200

type DueSession = Pick<SessionRecord, 'id' | 'robot_id' | 'operator_id' | 'scheduled_for' | 'planned_minutes'>

/**
 * Starts scheduled sessions at their time. The rows are the schedule, so a crash of the worker loses nothing. Two
 * workers cannot start a session twice, because a start is a conditional update.
 */
export function createSchedule(deps: {
  db: Db
  starts: SessionStarts
  lifecycle: SessionLifecycle
  now: () => Date
  log: Log
}) {
  const { db, starts, lifecycle, now, log } = deps

  async function attempt(session: DueSession) {
    const lateMs = now().getTime() - (session.scheduled_for?.getTime() ?? 0)
    const windowMinutes = Math.min(START_WINDOW_MINUTES, session.planned_minutes ?? START_WINDOW_MINUTES)
    if (lateMs >= windowMinutes * MS_PER_MINUTE) {
      // Also applies after an outage without any attempt: the participants no longer expect the robot to move.
      if (await lifecycle.cancelBySystem(session, 'not_started')) {
        log.info({ sessionId: session.id }, 'scheduled session cancelled: it could not start in time')
      }
      return
    }
    try {
      await starts.startScheduled(session)
    } catch (cause) {
      // An AppError (robot or operator busy, robot offline) is expected, and the next run retries.
      if (!(cause instanceof AppError) || isDatabaseUnreachable(cause)) throw cause
    }
  }

  /** Selects due sessions that can probably start, or are too late. Sessions that must wait would fill the limit. */
  const due = (): Promise<DueSession[]> => {
    const isLate = sql<boolean>`scheduled_for <= ${now()}::timestamptz
      - make_interval(mins => least(planned_minutes, ${START_WINDOW_MINUTES}::int))`
    return db
      .selectFrom('sessions')
      .innerJoin('robots', 'robots.id', 'sessions.robot_id')
      .select(['sessions.id', 'sessions.robot_id', 'sessions.operator_id'])
      .select(['sessions.scheduled_for', 'sessions.planned_minutes'])
      .where('sessions.status', '=', 'PENDING')
      .where('scheduled_for', '<=', now())
      .where((eb) => {
        const busy = eb
          .selectFrom('sessions as open')
          .select('open.id')
          .whereRef('open.operator_id', '=', 'sessions.operator_id')
          .where('open.status', 'in', ['ACTIVE', 'PAUSED'])
        const canStart = eb.and([eb('robots.status', '=', 'AVAILABLE'), eb.not(eb.exists(busy))])
        return eb.or([isLate, canStart])
      })
      .orderBy('scheduled_for', 'desc')
      .limit(SESSIONS_PER_RUN)
      .execute()
  }

  /** Selects due sessions whose operator already has an open session on the same robot, which replaces them. */
  const superseded = () =>
    db
      .selectFrom('sessions')
      .innerJoin('sessions as open', (join) =>
        join
          .onRef('open.robot_id', '=', 'sessions.robot_id')
          .onRef('open.operator_id', '=', 'sessions.operator_id')
          .on('open.status', 'in', ['ACTIVE', 'PAUSED']),
      )
      .select(['sessions.id', 'sessions.robot_id'])
      .where('sessions.status', '=', 'PENDING')
      .where('sessions.scheduled_for', '<=', now())
      .limit(SESSIONS_PER_RUN)
      .execute()

  return {
    /** Handles a bounded number of due sessions. The job runner calls it periodically. */
    async run(): Promise<void> {
      await handleEach(await superseded(), lifecycle.cancelSuperseded, {
        log,
        failure: 'replaced scheduled session not cancelled',
      })
      await handleEach(await due(), attempt, { log, failure: 'scheduled session not started or cancelled' })
    },
  }
}
