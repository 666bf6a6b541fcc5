import type { StopReason } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { audit } from '../../../core/audit/audit.ts'
import { conflict } from '../../../core/errors/errors.ts'
import type { Tx } from '../../../core/events/transactor.ts'
import {
  type ActionContext,
  broadcastTransition,
  type RobotRecord,
  type SessionRecord,
  type TransitionHandler,
  transition,
} from '../record/session-transitions.ts'
import { requesterColumns } from '../record/stop-authority.ts'

/**
 * The columns of a session without a latched stop. While `stop_at` is set, the stop is latched, and the session is PAUSED
 * and cannot resume. The stop belongs to its session and ends with it: the next session must not start with the stop of
 * another one. A latched stop complements the robot's own emergency stop device and never replaces it.
 */
export const clearedStopColumns = {
  stop_reason: null,
  stop_at: null,
  stop_by_id: null,
  stop_by_role: null,
  stop_by_owner: false,
  stop_clear_requested_at: null,
}

const DEFAULT_REASON = 'emergency_stop' satisfies StopReason

/** Returns the reason of a stop: the given reason, or the default if it is blank. */
export const stopReasonOf = (rawReason: string | undefined): string => rawReason?.trim() || DEFAULT_REASON

/** Returns whether a stop is latched. */
export async function isStopped(tx: Tx, sessionId: string): Promise<boolean> {
  return (await findActiveStop(tx, sessionId)) !== undefined
}

/** Returns the latched stop; undefined when no stop is latched. */
export async function findActiveStop(tx: Tx, sessionId: string) {
  return await tx.db
    .selectFrom('sessions')
    .select(['stop_reason', 'stop_at', 'stop_by_id', 'stop_by_role', 'stop_by_owner', 'stop_requests'])
    .where('id', '=', sessionId)
    .where('stop_at', 'is not', null)
    .executeTakeFirst()
}

/**
 * Records a stop request for a session with a latched stop, so that a concurrent clear fails. The first request of the
 * owner or an admin revokes the operator's right to clear the stop, so it is also logged.
 */
async function recordRepeatedStop(
  tx: Tx,
  sessionId: string,
  robot: RobotRecord,
  context: ActionContext,
  reason: string,
) {
  const { stop_by_owner: byOwner } = requesterColumns(context.actorId)
  const escalated = await tx.db
    .updateTable('sessions')
    .set((eb) => ({
      stop_requests: eb('stop_requests', '+', 1),
      event_seq: eb('event_seq', '+', 1),
      stop_by_owner: true,
    }))
    .where('id', '=', sessionId)
    .where('stop_at', 'is not', null)
    .where('stop_by_owner', '=', false)
    .where(byOwner)
    .returningAll()
    .executeTakeFirst()
  if (escalated) {
    await recordLatchedStop(tx, escalated, robot, context, reason)
    return escalated
  }
  return await tx.db
    .updateTable('sessions')
    .set((eb) => ({ stop_requests: eb('stop_requests', '+', 1) }))
    .where('id', '=', sessionId)
    .where('stop_at', 'is not', null)
    .returningAll()
    .executeTakeFirst()
}

/** Stops the robot until the stop is cleared. Never fails while the session is open. */
export const emergencyStop: TransitionHandler = async (tx, session, robot, context) => {
  if ((await latchStop(tx, session.id, robot, context)) === undefined) {
    throw conflict(
      'session_not_open',
      'Only an active or paused session can be stopped. This one is not open.',
    )
  }
}

/**
 * Latches a stop in a transaction that has locked the robot. Returns the number of a log entry at which the stop is
 * latched; undefined when the session is not open. A repeated stop does not change the reason of the first one, but is
 * sent to the gateway again, because the user who repeats it may see a moving robot.
 */
export async function latchStop(
  tx: Tx,
  sessionId: string,
  robot: RobotRecord,
  context: ActionContext,
): Promise<number | undefined> {
  const reason = stopReasonOf(context.reason)
  const change = {
    status: 'PAUSED',
    stop_reason: reason,
    stop_at: context.at,
    stop_by_id: context.actorId ?? null,
    ...requesterColumns(context.actorId),
    stop_requests: sql<number>`stop_requests + 1`,
    paused_at: sql<Date>`coalesce(paused_at, ${context.at}::timestamptz)`,
    pause_reason: sql<string>`coalesce(pause_reason, ${DEFAULT_REASON})`,
  } as const
  const stopped = await transition(tx, sessionId, ['ACTIVE', 'PAUSED'], context.at, change, {
    unlessStopped: true,
  })
  if (stopped) await recordLatchedStop(tx, stopped, robot, context, reason)
  const activeStop = stopped ?? (await recordRepeatedStop(tx, sessionId, robot, context, reason))
  if (!activeStop) return undefined
  tx.stopRobot({
    sessionId,
    reason: activeStop.stop_reason ?? reason,
    eventSeq: activeStop.event_seq,
    userId: activeStop.stop_by_id,
    byRole: activeStop.stop_by_role,
    byOwner: activeStop.stop_by_owner,
  })
  return activeStop.event_seq
}

/** Logs a stop, notifies client and operator, and audits it, whoever requested it. */
async function recordLatchedStop(
  tx: Tx,
  stopped: SessionRecord,
  robot: RobotRecord,
  context: ActionContext,
  reason: string,
) {
  const parties = [stopped.client_id, stopped.operator_id]
  await broadcastTransition(tx, stopped, robot, {
    ...context,
    details: { reason },
    type: 'session.stopped',
    notifyUserIds: parties,
  })
  await audit(tx, {
    at: context.at,
    organizationId: stopped.client_id,
    actorId: context.actorId,
    credential: context.credential,
    action: 'session.stopped',
    subject: ['session', stopped.id],
    data: { reason },
  })
}
