import { audit } from '../../../core/audit/audit.ts'
import { conflict, forbidden } from '../../../core/errors/errors.ts'
import type { Tx } from '../../../core/events/transactor.ts'
import {
  type ActionContext,
  broadcastTransition,
  type RobotRecord,
  recordTransition,
  type TransitionHandler,
} from '../record/session-transitions.ts'
import { clearableBy } from '../record/stop-authority.ts'
import { clearedStopColumns, findActiveStop } from './session-stop.ts'

/** Minimum time between two requests of the operator to clear a stop. An earlier request has no effect. */
const CLEAR_REQUEST_INTERVAL_MS = 60_000

/**
 * Clears the latched stop. The session remains PAUSED: resuming it is a second, separate action. The update does not
 * clear a stop that was requested again after `session` was read. It does not clear a stop of the owner or an admin
 * either, unless the actor is one of them or the robot's setting allows anyone to clear it.
 */
export const clearStop: TransitionHandler = async (tx, session, robot, context) => {
  const activeStop = await findActiveStop(tx, session.id)
  const cleared = await tx.db
    .updateTable('sessions')
    .set((eb) => ({ ...clearedStopColumns, event_seq: eb('event_seq', '+', 1) }))
    .where('id', '=', session.id)
    .where('stop_at', 'is not', null)
    .where('stop_requests', '=', session.stop_requests)
    .$if(!context.asAdmin && !context.asClient, (query) =>
      query.where((eb) =>
        eb.or([
          eb('stop_by_owner', '=', false),
          eb.exists(
            eb
              .selectFrom('robots')
              .select('robots.id')
              .whereRef('robots.id', '=', 'sessions.robot_id')
              .where('robots.stop_clear', '=', 'anyone'),
          ),
        ]),
      ),
    )
    .returningAll()
    .executeTakeFirst()
  if (!activeStop)
    throw conflict('no_stop_in_force', 'The session has no latched stop. Resume the session if it is paused.')
  if (!cleared && activeStop.stop_requests !== session.stop_requests) {
    throw conflict(
      'stop_repeated',
      'The robot was stopped again a moment ago. Check the robot, then clear the stop.',
    )
  }
  if (!cleared) {
    throw forbidden(
      'stop_clear_not_allowed',
      'Only the owner or an admin can clear this stop. Ask them to clear it.',
    )
  }
  await broadcastTransition(tx, cleared, robot, {
    ...context,
    type: 'session.stop_cleared',
    notifyUserIds: [cleared.client_id, cleared.operator_id],
  })
  const { stop_reason, stop_at, stop_by_id, stop_by_role } = activeStop
  await audit(tx, {
    at: context.at,
    organizationId: cleared.client_id,
    actorId: context.actorId,
    credential: context.credential,
    action: 'session.stop_cleared',
    subject: ['session', session.id],
    data: {
      stop_reason,
      stop_at,
      stop_by_id,
      stop_by_role,
      ...(context.reason !== undefined && { reason: context.reason }),
    },
  })
}

/**
 * Asks the owner, and an admin who requested the stop, to clear it, with a log entry and a notification, at most once a
 * minute. An earlier request succeeds without effect.
 */
export const requestClearStop: TransitionHandler = async (tx, session, robot, context) => {
  const activeStop = await findActiveStop(tx, session.id)
  if (!activeStop)
    throw conflict('no_stop_in_force', 'The session has no latched stop. Resume the session if it is paused.')
  const mayClear = context.asAdmin || context.asClient
  if (mayClear || clearableBy(activeStop.stop_by_owner, robot.stop_clear) === 'anyone') {
    throw conflict('stop_clearable', 'You may clear this stop yourself.')
  }
  const requested = await tx.db
    .updateTable('sessions')
    .set((eb) => ({ stop_clear_requested_at: context.at, event_seq: eb('event_seq', '+', 1) }))
    .where('id', '=', session.id)
    .where('stop_at', 'is not', null)
    .where((eb) =>
      eb.or([
        eb('stop_clear_requested_at', 'is', null),
        eb('stop_clear_requested_at', '<=', new Date(context.at.getTime() - CLEAR_REQUEST_INTERVAL_MS)),
      ]),
    )
    .returningAll()
    .executeTakeFirst()
  if (!requested) return
  await recordTransition(tx, requested, robot.name, {
    ...context,
    type: 'session.stop_clear_requested',
    notifyUserIds: [
      requested.client_id,
      ...(requested.stop_by_role === 'admin' && requested.stop_by_id ? [requested.stop_by_id] : []),
    ],
  })
}

/**
 * Returns whether ending the session would clear a stop that only the owner or an admin may clear. The robot is then put
 * on hold: otherwise an operator could bypass the stop by ending the session and starting another one. The caller has
 * locked the robot, so that no stop can be requested between this check and the end.
 */
export async function requiresHoldAfterEnd(
  tx: Tx,
  sessionId: string,
  robot: RobotRecord,
  context: ActionContext,
): Promise<boolean> {
  if (context.asAdmin || context.asClient) return false
  const stop = await findActiveStop(tx, sessionId)
  return stop !== undefined && clearableBy(stop.stop_by_owner, robot.stop_clear) === 'owner'
}
